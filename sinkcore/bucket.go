package sinkcore

import "strconv"

// bucket is what a writer knows of one bucket (FileWriterBucket).
//
// At most one part is open, however records of several hours interleave; another bucket
// does not close it (confluentinc/kafka-connect-storage-cloud#529: a file a record).
type bucket struct {
	id  string
	dir string
	// Names are unique by the uid, drawn for each bucket object (FileWriterBucket:97). The
	// counter of the next part's name therefore may start at 0 again for a bucket that is
	// made anew or restored (:98), and neither is in the state. With a counter alone a new
	// bucket would give a name twice and replace a visible file (FLINK-10005).
	uid     string
	counter int64

	part *part // the open one, or nil

	// pending are the parts closed since the last checkpoint, in closing order. It is
	// empty at every snapshot, because the checkpoint hands it over just before; so a
	// writer's state never names a closed part, and no part is in two states.
	pending []Committable
}

// active tells whether the bucket has anything left to do. A bucket that has not is
// dropped at the next checkpoint (FileWriter:208-226), and a record that comes later
// gets a new one, with a new uid. Without this a bucket an hour would fill memory and
// every state for ever.
//
// Flink also keeps a bucket whose part was open at the last snapshot, to clean up the
// snapshot's handle (FileWriterBucket:164-166). Such a part is still open or pending at
// the next checkpoint, so that decides nothing here.
func (b *bucket) active() bool {
	return b.part != nil || len(b.pending) > 0
}

// nextName gives the visible name of the bucket's next part. The number is used up
// even if making the part then fails (FileWriterBucket:265-275).
func (b *bucket) nextName(prefix, suffix string) string {
	name := prefix + "-" + b.uid + "-" + strconv.FormatInt(b.counter, 10) + suffix
	b.counter++
	return name
}
