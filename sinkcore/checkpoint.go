package sinkcore

import "path/filepath"

// Committable is a closed part that waits to be published. Its names, length and checksum
// are fixed when the part is closed and travel in the state unchanged, so that any later
// process, of whatever run and parallelism, can tell whether the part has been published
// (compare apache/iceberg#16008, where the identity changed with the restart). All bytes
// are on disk already, and after the checkpoint that hands it over the hidden name is too.
type Committable struct {
	Bucket       string // the bucket's id
	Name         string // visible name in the bucket's directory
	Temp         string // name until then
	Size         int64  // bytes
	Checksum     uint32 // CRC-32C (Castagnoli) of them
	Records      int64
	CreationTime int64  // of its first record, milliseconds since 1970
	Reason       Reason // why it was closed
}

// InProgress is a part that was open at a snapshot. It has all that a policy looks at, so
// that a restored part is closed when it would have been, but for idleness: when it was
// last written to is not in it (FileWriterBucket:102-150).
type InProgress struct {
	Name         string // visible name it will have
	Temp         string // name until then
	Size         int64  // bytes synced at the snapshot; what follows them is cut off at a restore
	Checksum     uint32 // CRC-32C (Castagnoli) of them
	Records      int64
	CreationTime int64 // of its first record, milliseconds since 1970
}

// BucketState is one bucket of a writer at a snapshot: one element of its state, which a
// restore with another number of subtasks gives to one of them as a whole.
type BucketState struct {
	Bucket     string      // the bucket's id
	InProgress *InProgress // nil if no part was open; the bucket is named all the same (FileWriterBucket:217-229)
}

// WriterState is what a [Writer] is restored from. Pending parts are never in it: they
// have gone to the committer by then. Its elements, the buckets, may be spread over
// other writers. The zero value is that of a writer to which nothing was written.
//
// A state that comes from UnmarshalBinary has names that stay in the directory; one that
// is put together by hand is believed.
type WriterState struct {
	Buckets []BucketState // in order of their ids
}

// Batch is what one checkpoint handed over, or the end of the input under the id of the
// checkpoint to come.
type Batch struct {
	Checkpoint   int64
	Committables []Committable // in closing order within a bucket
}

// CommitterState is what a [Committer] is restored from. It names what had been handed
// over and was not published yet at the snapshot, the checkpoint's own parts among them.
// The zero value is that of a committer with nothing to do.
type CommitterState struct {
	Batches []Batch // in ascending order of their checkpoints
}

// Checkpoint is what a [Job] is restored from: the states of its subtasks, of which
// there are as many as it had. Store it with the position of the source, by
// [Checkpoint.MarshalBinary] or otherwise, in one step: a position that is stored and a
// checkpoint that is not lose or double records (vectordotdev/vector#4601).
//
// Only the newest completed checkpoint is sure to be restorable. After a newer one has
// completed, a part that an older one would go on writing may be visible under its last
// name, and [RestoreJob] refuses ([ErrInProgressMissing]).
type Checkpoint struct {
	ID         int64
	Writers    []WriterState
	Committers []CommitterState
}

// Parallelism is the number of subtasks that made the checkpoint.
func (c Checkpoint) Parallelism() int { return len(c.Writers) }

// InProgressFiles lists the files that the checkpoint needs under their hidden names,
// relative to the sink's directory: those that were open, and those closed and not yet
// published when it was taken. A file may be published since. It looks at the value only,
// not at the disk. A backup of the directory that is to go with the checkpoint needs
// these files besides the visible ones.
func (c Checkpoint) InProgressFiles() []string {
	var files []string
	for i := range c.Writers {
		for _, b := range c.Writers[i].Buckets {
			if b.InProgress != nil {
				files = append(files, filepath.Join(bucketDir("", b.Bucket), b.InProgress.Temp))
			}
		}
	}
	for i := range c.Committers {
		for _, batch := range c.Committers[i].Batches {
			for _, p := range batch.Committables {
				files = append(files, filepath.Join(bucketDir("", p.Bucket), p.Temp))
			}
		}
	}
	return files
}
