package sinkcore

import "strconv"

// bucket is what a writer knows of one bucket (FileWriterBucket).
type bucket struct {
	id      string
	dir     string
	uid     string // drawn for each bucket object (FileWriterBucket:97)
	counter int64  // of the next part's name; starts at 0 also after a restore (:98)

	part    *part         // the open one, or nil
	pending []Committable // closed since the last checkpoint, in closing order

	// snapshotted: the last snapshot names the open part. Flink keeps a bucket for
	// one checkpoint longer then, to clean up the snapshot's handle (:164-166,
	// 194-229). The bucket's uid and counter live as long, and names show it.
	snapshotted bool
}

// active tells whether the bucket has anything left to do. A bucket that has not is
// dropped at the next checkpoint (FileWriter:208-226), and a record that comes later
// gets a new one, with a new uid.
func (b *bucket) active() bool {
	return b.part != nil || b.snapshotted || len(b.pending) > 0
}

// nextName gives the visible name of the bucket's next part. The number is used up
// even if making the part then fails (FileWriterBucket:265-275).
func (b *bucket) nextName(prefix, suffix string) string {
	name := prefix + "-" + b.uid + "-" + strconv.FormatInt(b.counter, 10) + suffix
	b.counter++
	return name
}
