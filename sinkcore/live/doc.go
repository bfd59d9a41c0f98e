// Package live runs a [sinkcore.Job] for real: on the computer's clock and disk, from
// lines of files or of standard input, with a checkpoint every few seconds, over any
// number of crashes and restarts. From a source that can be set back every record is
// visible exactly once in the end.
//
// # Running a job
//
//  1. Fill in [Options]: the sink's configuration and the interval of the checkpoints.
//  2. [Open] it. If the directory has a checkpoint the job goes on from it.
//  3. Make a [Source]: [NewFiles], [NewStream], or one of your own.
//  4. Call [Run]. It sets the source to where the job stands and returns when the source
//     ends, the context is done, or something fails.
//  5. Call [Engine.Close]. After an error, mend what it names and go on from 2.
//
// Meanwhile [Engine.Stats] may be read from any goroutine.
//
// A program with a loop of its own calls [Engine.Write] and, when [Engine.Due] is
// reached, [Engine.Advance] instead of Run. The engine has no clock and no goroutine: the
// time is an argument, so a test needs no sleep.
//
// # What is where
//
//	DIR/part-…, DIR/BUCKET/part-…                 visible, never touched again
//	DIR/.part-….inprogress.…                      not yet visible
//	DIR/.checkpoints/checkpoint-<id>-<published>  a checkpoint: state of the sink, position of the source
//	DIR/.checkpoints/checkpoint.new               one that is being written
//	DIR/.checkpoints/lock                         locked while a job runs
//
// The directory belongs to one job. It can be moved or copied while no job runs.
// [List] and [Load] read the checkpoints, also while a job runs; [Newest] may find then
// that its file has just been pruned (fs.ErrNotExist) and wants to be called again.
//
// # What is durable, and before what
//
//  1. A checkpoint syncs all parts that it names, see sinkcore.
//  2. It is written, with the source's position after the last record in it, under
//     another name, fsynced, renamed, and the directory is fsynced.
//  3. Only then is it completed: its parts are renamed to their visible names.
//  4. Then the oldest checkpoint files are removed. The newest never is.
//
// So a checkpoint file that is there is whole, and completing it may have begun; the next
// start completes it for certain. It first writes the file anew, because the process that
// wrote it may have died before its name was durable (see fsync(2)): otherwise a power
// cut could take back a checkpoint whose parts are visible.
//
// # What a consumer may do
//
// Read visible files at any time. Moving one away is safe as soon as a checkpoint is
// stored that does not name it, that is after the next one, or after a clean stop; the
// start after a crash looks for the files of the newest checkpoint and refuses
// ([sinkcore.ErrLost]) if one is gone.
//
// # What is promised
//
//   - [Files]: each line is visible exactly once, whatever crashes and however often.
//   - [Stream]: no line twice, and none lost at the end of the input. A crash loses the
//     lines after the newest checkpoint, and a stop those that were sent and not counted;
//     [StreamPosition] has the count. Send again what comes after it.
//   - A source of your own: as Files, if Seek really goes back and the same records come.
//
// For all of them: nothing is visible before its checkpoint is stored, no visible file
// changes, and a record is visible as soon as [sinkcore.WorstLatency] says, plus the time
// that the disk takes and that the job was down.
package live
