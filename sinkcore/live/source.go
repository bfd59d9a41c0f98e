package live

import "context"

// Source gives the records of a job, in order. One goroutine uses it: Seek once, then
// Read until it returns an error.
type Source[T any] interface {
	// Seek sets the source to a position that a [Batch] of it had, perhaps in an
	// earlier process; the next record is the one after that batch. nil is the
	// beginning. It must return an error if it cannot go on there, because the input
	// has changed: records would be lost or written twice unnoticed.
	Seek(position []byte) error

	// Read waits until there are records, and returns some. The error is io.EOF at the
	// end of the input, and that of ctx soon after ctx is done. With an error there are
	// no records.
	Read(ctx context.Context) (Batch[T], error)
}

// Batch is some records and where the source stands after the last of them. The source
// does not touch it any more. A checkpoint is only ever taken between two batches, so a
// large one delays it.
type Batch[T any] struct {
	Records  []T
	Position []byte
}
