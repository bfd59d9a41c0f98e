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
// It publishes by renaming, so it needs a file system on which a rename within a
// directory is atomic and a directory can be fsynced, such as ext4, xfs, btrfs or tmpfs
// on Linux; see "Limits". The caller brings the rest of exactly-once: a source that can
// be set back, and a place where checkpoints are durable. Package sinkcore/live has both
// for lines of files.
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
// Most callers want a [Job]: n subtasks, each a [Writer] and a [Committer]. Fill in a
// [Config]: the directory, an [Encoder] ([Line], [JSON], [CSV]), a [BucketAssigner]
// ([BasePath], [Prefix], [DateTime]) and a [RollingPolicy] ([Default], [OnCheckpoint],
// [AnyOf], and [Deadline], which keeps a promise with the fewest files). [WorstLatency] tells
// beforehand how long a record can wait under a policy.
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
//  8. While no job runs, [RemoveOrphans] removes what crashes have left behind.
//
// In short, with clock, source and store as the caller has them:
//
//	job, err := sinkcore.NewJob(afero.NewOsFs(), rand.Reader, config, 1, clock())
//	// or RestoreJob(…, newest), and then source.Seek to the position stored with it
//	for record := range source.Records() {
//		now := clock() // milliseconds since 1970
//		if now >= job.NextTick() {
//			_, err = job.Tick(now)
//		}
//		err = job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, now)
//		if now >= nextCheckpoint {
//			id++
//			checkpoint, err := job.Checkpoint(id, now)
//			err = store(checkpoint, source.Position()) // durable when it returns
//			_, err = job.Complete(id)                  // only now is anything visible
//			nextCheckpoint += interval
//		}
//	}
//
// Each err is looked at, of course; the package's example is the same in full. A loop
// that also sleeps must wake up at NextTick and at nextCheckpoint when no record comes,
// or the last records of a quiet stream stay invisible
// (confluentinc/kafka-connect-storage-cloud#144).
//
// A program may drive one subtask itself, as an engine does that spreads them over
// machines: [Writer.PrepareCommit], [Committer.Add], [Writer.Snapshot] and
// [Committer.Snapshot], in this order, then store, then [Committer.Complete].
//
// # What it costs
//
//	NewJob       no look at the disk; the directory is made with the first part
//	Write        a map look-up if the bucket is not that of the record before, and the
//	             encoding; a write(2) for every BufferSize bytes of a part. The first
//	             record of a part makes its file; a record that closes a part waits for
//	             an fsync
//	Tick         not due: nothing. Due: the parts that are due, however many are open,
//	             and an fsync for each one that it closes
//	Checkpoint   an fsync for each part that is closed or that was written to, and one
//	             for each directory in which a part was made; a look at each bucket
//	Complete     two lstat(2) and a rename for each part, an fsync for each directory
//	RestoreJob   reads every part that the checkpoint names up to its recorded length,
//	             and those that are visible already twice; then Complete. It lists no
//	             directory, so it does not depend on how much was written before
//	Orphans      lists the whole tree
//
// A bucket with an open part holds one file descriptor and a buffer that grows to
// BufferSize; Config.MaxOpenParts limits them, and otherwise nothing does but the policy that
// closes parts. The state of a checkpoint grows with the buckets and the pending parts and not
// with the number of checkpoints (compare FLINK-10963).
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
// In an error of a job, a writer or a committer errors.As finds an [*Error], which names
// the operation, the bucket, the file and the checkpoint where there is one, and says
// what to do where that is not plain. errors.Is finds the sentinels of this package and
// the file system's own errors below them. There are three kinds:
//
//   - Refusals of a single record ([ErrBucketID], [ErrEncode], [ErrAssign],
//     [ErrEndOfInput]) or call ([ErrConfig], [ErrSubtask], [ErrClosed]) leave the sink as
//     it was. Drop the record, or mend it, and go on.
//   - What a commit finds on disk ([ErrTargetExists], [ErrLost], [ErrShort]) stops
//     nothing either: mend it and complete the checkpoint again, or restore.
//   - Any other error, above all one of the file system, stops the writer or committer
//     that met it, and its job. From then on every call returns [ErrFailed] and the first
//     error. Close the job and restore it.
//
// # Limits
//
//   - A directory or file whose fsync has failed cannot be made durable by another fsync.
//     The sink stops, but after a restore it has to sync the same directories anew, and
//     the kernel may answer that all is well. Mount the file system anew, or start the
//     machine anew, before the restore: then it sees what the disk holds, and refuses if
//     anything is missing. A restore that reads from the page cache cannot know.
//   - A file system whose rename is not atomic is noticed, not healed: after a crash in
//     the middle a part may be under neither name, and the restore says [ErrLost]. Under
//     both names is no harm.
//   - A file system that cannot fsync directories is of no use here: the first
//     checkpoint returns its error.
//   - Dir may be a link to a directory that exists. What is synced are the directories
//     on the way to the link as it is written; those on the way to where it points were
//     not made by the sink, and are not its to sync. A link among the buckets works in
//     the same way, but Orphans does not look behind it.
//   - On ext4 an open part of more than 256 KiB has disk space reserved beyond its end, at
//     most as much as it has, 8 MiB, and a small share of what the disk has free, so it takes
//     more of the disk than its length says. Closing the part gives it back, and so does
//     the restore or [RemoveOrphans] after a crash.
//   - Nothing keeps a process that was believed dead from going on. The caller sees to it
//     that there is one at most, for example by a lock on a file. Two that go on from
//     one checkpoint write into the same parts, and length and checksum tell it only
//     afterwards ([ErrTargetExists], [ErrContent]). Jobs that do not share a checkpoint
//     may share a directory, since no two draw the same names (compare FLINK-18130).
//   - A consumer may read visible files at any time. Moving one away is safe when a
//     checkpoint has completed whose state does not name it any more, as a rule the next
//     one; before that a restore would look for it and say ErrLost.
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
//	                                         may have been published and other in-progress    nothing published, nothing cut, nothing
//	                                         files cut, which the newest needs (:65-81)       deleted
//	restore, bytes differ from the state     not noticed                                      ErrContent
//	bucket id with .., empty segment, NUL    can escape the base directory or share another   ErrBucketID, the record is refused
//	                                         bucket's (Path:120-148, 174-266)
//	bucket id or prefix with leading . or _  published where readers do not look              ErrBucketID; the prefix is refused at start
//	bucket id with a segment over 255 bytes  IOException, at each attempt anew                ErrBucketID, the record is refused
//	bucket id with :                         crash or escape (Path:120-148)                   works
//	write after an I/O error                 goes on if the caller does                       ErrFailed until restored
//	checkpoint ids that do not ascend        published late, and again after a restore        ErrCheckpointID
//	                                         (its coordinator counts up by itself)
//	one state element restored twice         the same file is pending and open                ErrRestoredTwice
//	                                         (FileWriterBucket:102-150)
//	encoder fails in mid-record              partial bytes stay in the file                   the record leaves no byte
//	                                         (RowWisePartWriter:50-54)
//	a date pattern or zone that is wrong     fails at the first record                        refused at start
//	in-progress files nobody owns            stay for ever                                    Orphans lists them, RemoveOrphans removes them
//
// Nothing else differs in what is visible when. Left out are bulk formats, compaction
// and file systems that cannot resume a file; the encoding of states is the package's
// own, and Flink's savepoints cannot be read. In particular a part that was resumed counts as last updated
// when it was made (FileWriterBucket:102-150), ids of a bucket's files start anew with
// every bucket object (FileWriterBucket:97-98), and a timer that fires late still
// shows the policy the instant at which it was due (StreamTask:1905-1918).
package sinkcore
