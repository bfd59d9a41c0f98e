// Command mutants tests the tests: it breaks the sink in many small ways and shows that
// package props notices each.
//
//	mutants [-programs N] [-parallel N] [NAME…]
//
// # Mutants
//
// A mutant is a file in the directory data, named after the bug:
//
//	the commit ends at the first destination that exists
//	origin: a commit loop of Arroyo's local sink returns where it should go on, https://…
//	rules: NoLoss EndOfInput
//	file: sinkcore/committer.go
//	--- old
//			for _, c := range batch {
//	--- new
//			for _, c := range batch[:1] {
//	--- end
//
// The first line says in words what is broken. Origin is the public report where it is a
// real bug, or the step of the protocol of which it is a variant. Rules are those of
// which one must be the first to be broken. Then come one or more changes of the
// source: the old text, whole lines, must be in the file exactly once.
//
// The source is not touched: the changed files are laid over it with the -overlay flag of
// the go command, so the sink needs no hook. For each mutant the command check is built
// and plays programs until a rule is broken.
//
// # Output
//
// The matrix: a line for each mutant with the rule that caught it, the judge that
// noticed (see the documentation of check), the programs played until then, and the
// number of operations of the shrunk program; with names given, the programs too. On a
// terminal the progress is shown. The exit status is 1 unless every mutant is caught by
// one of its rules.
//
// Command auto beside this one makes mutants without looking for bugs that people make,
// and runs the unit tests of a package on them; SURVIVORS.md has its score.
package main
