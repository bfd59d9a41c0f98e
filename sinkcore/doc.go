// Package sinkcore is an exactly-once rolling file sink: records go in, files come
// out, and a reader of the output directory sees every record once, whatever
// crashes. It answers exactly as the FileSink of Apache Flink 2.3.0 does, in row
// format on a local file system, and is safe where that one is not (see
// "Differences from Flink").
//
// The package has no clock, no goroutine, no global state and no random source. The
// time comes in as an argument, random bytes come from a reader that is an argument,
// and files go through an [afero.Fs]. So a run is a pure function of its calls: the
// same calls give the same files, byte for byte.
//
// # Life of a part file
//
// A record belongs to a bucket, which is a directory. Within a bucket each subtask
// writes one part file at a time:
//
//	in-progress  .part-<uid>-<n>.inprogress.<uuid>   open, hidden from readers
//	pending      the same name                       closed, synced, waits for its checkpoint
//	committed    part-<uid>-<n>                      visible, never touched again
//
// A rolling policy decides when an in-progress part is closed: before a record
// ([RollingPolicy.RollOnEvent]), at a checkpoint ([RollingPolicy.RollOnCheckpoint]),
// or when the check timer finds it old enough ([RollingPolicy.RollAt]). A checkpoint
// commits only what is closed by then. That is why a job with a checkpoint every 2 s
// can show nothing for 120 s: with [Default] a check every 60 s looks for parts that
// are 60 s old, so a part that is 59.95 s old waits for the next check.
//
// # Using a sink
//
// Most callers want a [Job]: n subtasks, each a [Writer] and a [Committer].
//
//  1. Start: [NewJob], or [RestoreJob] from the newest completed [Checkpoint].
//  2. For each record call [Job.Write] with the time it is now.
//  3. When [Job.NextTick] is reached call [Job.Tick]; this is the check timer.
//  4. Now and then call [Job.Checkpoint] with an id larger than any before, and store
//     what it returns together with the position of the source. Everything that the
//     returned value names is on disk when the call returns.
//  5. Only when that is stored call [Job.Complete] with the same id. This publishes.
//     If storing failed call [Job.Abort]; nothing is deleted, the next checkpoint
//     that completes publishes the files too.
//  6. At the end of the input call [Job.EndInput], then do 4 and 5 once more. To stop
//     in order to go on later call [Job.StopWithSavepoint].
//  7. After any error but a refusal of one record (see "Errors") close the job and go
//     on from 1, with the source set back to the position stored at 4.
//
// # What is synced, and before what
//
//  1. A part's bytes are flushed and fsynced when it is closed, and at every snapshot.
//  2. Before a snapshot returns, each directory in which a part was made since the
//     last one is fsynced, ancestors first, so that a power cut loses no file that
//     the state names.
//  3. Then the caller makes the state durable.
//  4. Then the part is renamed to its visible name, its directory is fsynced, and so
//     is each directory above it that this process has not yet seen to be durable,
//     ancestors first.
//  5. Only then does the committer forget the part.
//
// A failed fsync is never tried again: the kernel may have marked the lost pages
// clean, and a second fsync would report success for bytes that are gone
// ("Can Applications Recover from fsync Failures?", USENIX ATC 2020).
//
// # Errors
//
// Every error is an [*Error] that names the operation, the bucket, the file and the
// checkpoint where there is one, and says what to do. errors.Is finds the sentinels
// of this package and the file system's own errors below them.
//
// Refusals of a single record ([ErrBucketID], [ErrEncode], [ErrAssign],
// [ErrEndOfInput]) leave the sink as it was; the caller may go on with the next
// record. Any error of the file system stops the writer or committer that met it:
// from then on it returns [ErrFailed] and the first error until the job is restored.
//
// # Differences from Flink
//
// Where Flink 2.3.0 is unsafe this package is not. Flink's classes are named with the
// lines of its 2.3.0 sources.
//
//	what happens                             Flink 2.3.0                                      sinkcore
//	rename of a part                         no fsync of the directory                        directory fsynced, and each directory made
//	                                         (LocalRecoverableFsDataOutputStream:175-203)     for it, ancestors first; then forgotten
//	part made, then snapshot                 no fsync of the directory                        directories fsynced before the snapshot
//	                                         (LocalRecoverableWriter:50-70)                   returns
//	commit, target exists                    silently replaced (same, :175-203)               same length and checksum: success;
//	                                                                                          else ErrTargetExists, nothing touched
//	commit, neither file exists              success, so silent loss (same, :175-203)         ErrLost
//	restore of a file committed since        FileNotFoundException after committables         ErrInProgressMissing, with the name;
//	                                         may have been published (:65-81)                 nothing published, nothing deleted
//	restore, bytes differ from the state     not noticed                                      ErrContent
//	bucket id with .., empty segment, NUL    can escape the base directory or share another   ErrBucketID, the record is refused
//	                                         bucket's (Path:120-148, 174-266)
//	bucket id or prefix with leading . or _  published where readers do not look              ErrBucketID; the prefix is refused at start
//	bucket id with a segment over 255 bytes  IOException, at each attempt anew                ErrBucketID, the record is refused
//	bucket id with :                         crash or escape (Path:120-148)                   works
//	write after an I/O error                 goes on if the caller does                       ErrFailed until restored
//	one state element restored twice         the same file is pending and open                ErrRestoredTwice
//	                                         (FileWriterBucket:102-150)
//	encoder fails in mid-record              partial bytes stay in the file                   the record leaves no byte
//	                                         (RowWisePartWriter:50-54)
//	a date pattern or zone that is wrong     fails at the first record                        refused at start
//	in-progress files nobody owns            stay for ever                                    Orphans lists them, RemoveOrphans removes them
//
// Nothing else differs. In particular a part that was resumed counts as last updated
// when it was made (FileWriterBucket:102-150), ids of a bucket's files start anew with
// every bucket object (FileWriterBucket:97-98), and a timer that fires late still
// shows the policy the instant at which it was due (StreamTask:1905-1918).
package sinkcore
