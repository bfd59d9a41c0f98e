// Package sim plays programs on a sink under virtual time and tells what became visible
// when. An hour of a job takes milliseconds, and the same program gives the same
// history, byte for byte.
//
// There are two ways to drive a sink:
//
//   - A [Scenario] is a list of operations with a text form, for tests and for
//     questions of the kind "what happens if". Read some with [Parse], play them with a
//     [Runner], look at the [History] or print them with their answers by
//     [Scenario.AppendText].
//   - A [Workload] is so many records a second for so long, with checkpoints, for
//     measuring. [Workload.Run] needs no text and gives latencies and file counts.
//
// Both read the directory as a consumer would and do not take the sink's word for what is
// visible: a Runner lists it after every operation, a Workload reads each file that is
// said to be published, and lists all of them at the end. A Runner drives any [Sink] by
// way of a [Factory]; [Core] makes those of package sinkcore, and is the default. Random
// bytes for names come from a reader that the caller gives, so a seeded one makes the same
// names again.
//
// # Playing a trace
//
//	scenarios, err := sim.Parse(file, sim.Operations())
//	runner, err := sim.NewRunner(sim.Options{Fs: afero.NewMemMapFs(), Random: rand.NewChaCha8(seed)})
//	for _, scenario := range scenarios {
//		history, played, err := runner.Play(scenario)
//		text, _ := played.AppendText(nil) // the operations with the answers of this run
//	}
//
// To compare with answers that were recorded, compare the text with the one that was
// read, or answer by answer: Play does not look at those of the scenario.
//
// # Traces
//
// A trace is a text with one operation a line. A line that begins with # names a
// scenario, and more of them before its first operation are notes; lines that begin with
// + and ! are answers, made by the operation before them. Spaces separate words, and lines are trimmed.
//
//	# two records and a checkpoint
//	open policy=oncheckpoint
//	write a/r0
//	write r1
//	checkpoint 1
//	complete 1
//	+ part-u0-0: r1
//	+ a/part-u1-0: a/r0
//
// The operations are:
//
//	open KEY=VALUE…           a new empty directory and a new sink, see below
//	write RECORD [SUBTASK]    a record of one word, to subtask 0 unless given
//	advance MS                the clock moves on, in steps of tick; after each step the timers that are due fire
//	checkpoint ID             every subtask takes a checkpoint; nothing is published
//	complete ID [SUBTASK]     its completion reaches every subtask, or only one
//	abort ID                  its abortion does
//	restore ID [PARALLELISM]  the job dies and starts again from checkpoint ID
//	end [SUBTASK]             the input of every subtask ends, or of one only
//
// and the keys of open:
//
//	policy=default            or rolling with size=, rollover=, inactivity=, or oncheckpoint, or deadline with
//	                          within=, checkpoint=, duration=, target=; see sinkcore.ParsePolicy
//	check=60000               bucket check interval, ms
//	parallelism=1             number of subtasks
//	open-parts=               of a subtask at most, see sinkcore.Config.MaxOpenParts
//	prefix=part suffix=       of part files
//	assigner=prefix           the bucket is the record's text before its last /; or datetime
//	format= zone=             of datetime, see sinkcore.DateTimeOptions
//	now=0                     the clock at the start, ms since 1970
//	tick=100                  step of advance, ms
//
// After each operation the directory is listed at every depth. Each regular file whose
// name does not begin with "." and that was not there before gives an answer:
//
//	OPERATION
//	+ BUCKET/NAME: RECORD RECORD …
//
// They are sorted by bucket, then by content. The UUID in NAME is replaced by u0, u1, … in the
// order of these lines. A visible file that changed or vanished gives "! changed" or
// "! vanished", a restore that would need a file since committed gives
// "! in-progress file missing", any other error "! " and its text; after an error the
// rest of the scenario is skipped. The recorded answers of the real FileSink in
// testdata/flink have this form, and Flink's own answers can be compared line by line.
//
// An operation that makes no sense at its place, such as a restore of a checkpoint that
// was not taken, is no answer of the sink; it ends the run with a [*ProgramError]. A line
// that is no operation, or a policy that is none, is a [*SyntaxError] before anything is
// played.
//
// Other packages add operations by giving [Parse] a larger set than [Operations].
package sim
