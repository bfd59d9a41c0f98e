package sinkcore

import "path/filepath"

// Committable is a closed part that waits to be published.
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

// InProgress is a part that was open at a snapshot.
type InProgress struct {
	Name         string // visible name it will have
	Temp         string // name until then
	Size         int64  // bytes synced at the snapshot; what follows them is cut off at a restore
	Checksum     uint32 // CRC-32C (Castagnoli) of them
	Records      int64
	CreationTime int64 // of its first record, milliseconds since 1970
}

// BucketState is one bucket of a writer at a snapshot.
type BucketState struct {
	Bucket     string      // the bucket's id
	InProgress *InProgress // nil if no part was open; the bucket is named all the same (FileWriterBucket:217-229)
}

// WriterState is what a [Writer] is restored from. Pending parts are never in it: they
// have gone to the committer by then. Its elements, the buckets, may be spread over
// other writers.
type WriterState struct {
	Buckets []BucketState // in order of their ids
}

// Batch is what one checkpoint handed over.
type Batch struct {
	Checkpoint   int64
	Committables []Committable
}

// CommitterState is what a [Committer] is restored from.
type CommitterState struct {
	Batches []Batch // in ascending order of their checkpoints
}

// Checkpoint is what a [Job] is restored from: the states of its subtasks, of which
// there are as many as it had. Store it with the position of the source, by
// [Checkpoint.MarshalBinary] or otherwise.
type Checkpoint struct {
	ID         int64
	Writers    []WriterState
	Committers []CommitterState
}

// Parallelism is the number of subtasks that made the checkpoint.
func (c Checkpoint) Parallelism() int { return len(c.Writers) }

// InProgressFiles lists the files that the checkpoint needs under their hidden names,
// relative to the sink's directory: those that were open, and those closed and not yet
// published when it was taken. A file may be published since.
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
