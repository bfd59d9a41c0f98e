// Package sinktest tests whether your sink writes files exactly once.
//
// It plays a thousand programs on it, in memory and in virtual time: records, checkpoints
// that complete, get lost or are aborted, crashes between any two operations of the file
// system, power cuts that take what was not synced, errors of the disk, restores. After each
// operation it looks at the directory as a reader would and holds it against the rules of
// package props. For each rule that is broken it gives the shortest program it can find.
//
// # Testing a sink
//
// Implement [Sink] for one subtask of your sink, say in a [Kind] how it starts and how it is
// restored, and run:
//
//	func TestMySink(t *testing.T) {
//		sinktest.Run(t, sinktest.Kind{
//			Name: "mine",
//			New: func(s sinktest.Setup) (sinktest.Sink, error) {
//				return mine.New(s.Fs, s.Dir)
//			},
//			Restore: func(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
//				return mine.Restore(s.Fs, s.Dir, checkpoint, state)
//			},
//		})
//	}
//
// The sink has to do all that it does with files through the afero.Fs that it is given. What
// the methods have to keep is said at [Sink]. Package examples beside this one has
// four sinks to begin from. A sink in another language, or one that will not do that, is tested
// in a process of its own by package wire.
//
// [Run] has a subtest for each rule. [Verdicts] gives the same as a [Table], to be printed,
// recorded, or inspected with errors.As.
//
// # Reading a verdict
//
// A rule holds, is broken, is waived, or is untried because no program could have broken it.
// "Holds" means that so many programs have tried and failed; it is no proof.
//
//	NoLoss: broken
//	    When the input has ended and the last checkpoint has completed, every record is visible.
//	    Seen when the input ended and the last checkpoint completed: after the end these records are not visible: r1
//	        open tick=1
//	        write a/r0
//	        write r1
//	        checkpoint 1
//	        crash 3 after
//	        complete 1
//	        ! crashed
//	        + a/00000-000.json: a/r0
//
// Under the sentence of the rule stands what was seen, and under that the program: an
// operation a line, see props.Operations, and after it with + what a reader saw then, and
// with ! what failed. At the end of every program, faults end, a sink that is down is
// restored, the source sends again what came after the checkpoint, the input ends, and
// a last checkpoint completes; here the restored sink did not show r1 even then.
//
// A rule that is broken "after" others was seen to break only in programs in which those
// broke first. It may break by itself or follow from them: mend them and look again.
//
// To look closer give the program to [Play], as it is printed: it plays the same every time.
// With [AsFactory] the sink runs under sim.Runner and props.Play directly.
//
// # What a sink does not promise
//
// Few sinks promise everything. A rule that yours does not promise goes to Kind.Waived with the
// reason, so that the table says so; what it must never meet, such as a clock that
// jumps, goes to Kind.Lacks. What it promises beyond the default, a latency, a number of files, a
// sweep of what crashes leave behind, is tested if the function for it is set.
//
// A sink of several subtasks, which can become more or fewer at a restore, is tested as a
// sim.Factory, in Kind.Factory.
//
// # How far to trust it
//
// The programs depend on the fields of the Kind and nothing else, so a verdict can be recorded
// and compared. Kind.Programs makes the net finer. The kit itself is tested: sinkcore gets no false
// alarm in 5,000 programs, and for each rule a sink that breaks it is caught by a short program
// and accused of nothing that does not follow from it.
package sinktest
