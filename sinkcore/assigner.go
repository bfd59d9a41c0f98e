package sinkcore

import "math"

// NoTime stands for the event time of a record that has none, and for the watermark
// before the first one. Flink uses the same value (SinkWriterOperator:102, 297-303).
const NoTime int64 = math.MinInt64

// Context is what an assigner may know besides the record. Instants are milliseconds
// since 1970 in UTC, as in all of this package. Flink's context has the same three
// (FileWriter:189-200).
type Context struct {
	EventTime int64 // the record's own time, or NoTime
	Watermark int64 // event time up to which the input is complete, or NoTime
	Now       int64 // processing time
}

// BucketAssigner tells the bucket of a record.
type BucketAssigner[T any] interface {
	// BucketID returns the id: a path relative to the base directory whose segments
	// are joined by "/", or "" for the base directory. It is called once for each
	// record, also for one that is then refused. What [ValidBucketID] refuses is refused
	// ([ErrBucketID]), and so is a record for which it returns an error ([ErrAssign]).
	//
	// Ids are compared as they are. After a restore the source sends records again, and
	// an assigner that goes by Now may put them elsewhere than the first time; no record
	// is doubled by that, because what the dead process wrote to its parts after the
	// checkpoint is cut off.
	BucketID(record T, c Context) (string, error)
}

// BucketFunc makes a [BucketAssigner] of a function.
type BucketFunc[T any] func(record T, c Context) (string, error)

func (f BucketFunc[T]) missing() bool { return f == nil }

// BucketID calls the function.
func (f BucketFunc[T]) BucketID(record T, c Context) (string, error) { return f(record, c) }

// BasePath puts all records into the base directory (Flink: BasePathBucketAssigner).
type BasePath[T any] struct{}

// BucketID is always "".
func (BasePath[T]) BucketID(T, Context) (string, error) { return "", nil }

// Prefix takes the bucket from the record itself, often by slicing, which costs no
// allocation. The writer copies an id before it keeps it, so a slice does not hold a
// large record in memory.
type Prefix[T any] func(record T) string

func (f Prefix[T]) missing() bool { return f == nil }

// BucketID calls the function.
func (f Prefix[T]) BucketID(record T, _ Context) (string, error) { return f(record), nil }
