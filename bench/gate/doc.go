// Package gate judges a run of the benchmarks by an earlier one. It is for the place where
// a person does not look: benchstat shows a regression, a benchmark that is missing and a
// file that is not there alike with status 0.
//
//	base, err := gate.Read(file, "testdata/bench/baseline.txt")
//	run, err := gate.Read(other, "out/bench.txt")
//	report, err := gate.Compare(base, run, gate.Options{})
//	if !report.OK() {
//		err = report.WriteText(os.Stdout)
//	}
//
// The command is "sinklab gate"; "sinklab baseline" writes the file to judge by
// (Run.WriteBaseline, CompareBaselines).
//
// # What is judged, and how
//
// A run is a file in Go's benchmark format (https://golang.org/design/14313-benchmark-format).
// Its Unit lines say what each unit is:
//
//	Unit p50-visible-ms better=lower assume=exact
//	Unit x-bufio better=lower least=10%
//	Unit ns/record better=lower
//
// Exact metrics have assume=exact. They are what a deterministic program computed, so they
// are equal to the baseline's in every bit, or something changed; better or worse, it
// fails, and the baseline is to be written anew by whoever meant it.
//
// Ratios have a unit that begins with x-. They are quotients of two times that were
// measured side by side, because only that holds from machine to machine. A ratio fails
// if both is true:
//
//   - its median is worse by more than the least effect, in the direction that better=
//     tells: Options.Least, or else least= of its Unit line, or else DefaultLeast;
//   - chance does not explain it. The samples are compared by the Mann-Whitney test, which
//     supposes nothing about their distribution, as benchstat does. With fifty ratios
//     in a run one in a hundred would be called different every other time, so the
//     p-values are corrected for their number (Holm, 1979): Options.Alpha is how
//     often a run of unchanged code fails because of one ratio or another.
//
// A ratio that is better in both ways is told and does not fail.
//
// Everything else, such as ns/record, depends on the machine. Its values are counted, not
// judged; the baseline has one of each, so that a run that has not measured it is found out.
//
// GOMAXPROCS at the end of a name, and the lines goos, goarch and cpu, may differ between
// the sides.
//
// # What cannot pass in silence
//
// These are findings, which fail:
//
//   - a benchmark or unit of the baseline that the run lacks, or the other way round, also if
//     it depends on the machine;
//   - a unit that the two describe in different ways.
//
// With Options.RatiosOnly they are told and do not fail, nor do exact metrics: between the two
// sides of a pull request they may change, and the committed baseline judges them.
//
// These are errors, by which nothing is judged:
//
//   - a side without an exact metric or ratio (ErrEmpty);
//   - a failed test or benchmark, a panic, a signal or an exit status in the file (ErrFailed);
//   - a line that is cut off or cannot be read, or a benchmark that was begun and has no
//     result (ErrSyntax);
//   - a unit without Unit line, but for those of package testing; a ratio of which it is
//     not said which way is better; a misspelt key or value in a Unit line (ErrUnit);
//   - two packages, numbers of processors or other configurations in one row, or two
//     machines in one side (ErrMixed);
//   - samples of an exact metric that differ within a side, ratios that are no numbers
//     above 0, and a unit twice in one line (ErrValue);
//   - so few samples that even sides that do not overlap would be put down to chance
//     (ErrSamples).
//
// Those of single lines are found by CheckLines too, for programs that read the same files
// for another end.
//
// # How many rounds, and what they find
//
// More samples find smaller slowdowns, and a baseline is measured only now and then, so it
// can have more of them than a run:
//
//	make bench ROUNDS=24
//	make baseline
//
// The tables count in how many of 200 comparisons something was found, at Alpha 0.01.
// Runs were drawn from recorded noise: 800 processes, one after another, on a machine that
// others used at the same time, each of which measured three ratios. Two are quiet (the
// middle half of the samples spans 1.9 % and 2.3 % of the median, the middle 90 % span 4.9 %
// and 6.2 %). The third is not, and has least=10% (3.4 % and 7.9 %, and its noise has
// memory: the correlation of neighbours is 0.37); without that it gave false alarms. A
// slowdown was put into one quiet ratio of the second run.
//
//	ratios  baseline  run  least   false alarms   found: 3 %  5 %  10 %
//	    15         8    8    3 %              0           43  143   195
//	    15        12   12    3 %              0           88  194   200
//	    15        24    6    3 %              0           66  176   200
//	    15        24    8    3 %              0           75  185   200
//	    15        24    8    5 %              0            2   90   200
//	    15        24   10    3 %              0           91  198   200
//	    45         8    8    3 %              0           25  122   195
//	    45        12   12    3 %              0           61  178   200
//	    45        24    6    3 %              0           55  165   199
//	    45        24    8    3 %              0           73  180   200
//	    45        24   10    3 %              0           79  192   200
//
// So a baseline of 24 rounds and runs of 8 to 10 find a slowdown of 5 % in nine of ten. A
// slowdown as large as the least effect is found in fewer than half, whatever the
// number of samples: half of the time the medians differ by less. A ratio that is twice as
// noisy finds only what is twice as large, and it needs least= in its Unit line, or
// what drifts on the machine between two runs becomes a false alarm that no test of the
// samples can tell from a slowdown.
//
// Beyond 25 samples a side the test is an approximation that is slower to be sure, so 24
// find more than 30.
//
// TestFalseAlarms and TestSlowdownIsFound hold two rows of this table, TestPowerTable prints
// all of it, and TestRecordNoise measures the noise anew.
package gate
