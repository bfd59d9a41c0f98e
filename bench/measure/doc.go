// Package measure runs the benchmarks of one or two versions of this module and keeps
// what they print, so that a comparison is one of the code and not of two moments of a
// machine.
//
//	err := measure.Run(ctx, []measure.Side{
//		{Dir: "/src/base", Out: "out/base.txt"},
//		{Dir: ".", Out: "out/bench.txt"},
//	}, measure.Options{})
//
// Each version is compiled once. The exact benchmarks, whose figures come from virtual
// time, run once for each side. The others run in rounds, one process a round, and with two
// sides the rounds take turns: A B A B. A machine that gets slower for a minute, because
// somebody else works on it or because it is hot, then slows both, and benchstat sees
// samples of the same minutes. Separate processes matter too: where the heap lies and
// what the caches hold differs from one to the next, and samples of one process alone
// look more alike than they are.
//
// Out is in Go's benchmark format, for benchstat and for "sinklab gate". It is replaced when all
// has been measured and not before, so a run that is broken off leaves the one before it.
//
// [OnProcessor] is how the benchmarks time what waits for nothing.
package measure
