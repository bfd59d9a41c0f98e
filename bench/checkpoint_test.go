package bench_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"sinklab/sinkcore"
)

// pendingCases are numbers of files that are closed at once, and how often that is measured.
// A disk stops at 100: ext4 does not use the inode of a removed file again for minutes, and
// looks at each of them whenever it makes a file, so benchmarks that make and remove
// thousands of files take longer each time (fs/ext4/ialloc.c, recently_deleted).
var pendingCases = []struct {
	fs                     string
	pending, groups, fours int
}{
	{"mem", 1, 8, 40}, {"mem", 10, 8, 10}, {"mem", 100, 6, 4}, {"mem", 1000, 5, 1}, {"mem", 10_000, 1, 1},
	{"disk", 1, 1, 20}, {"disk", 10, 1, 5}, {"disk", 100, 1, 1},
}

// BenchmarkCheckpoint is what Job.Checkpoint takes with so many files to close, each in a
// bucket of its own and with one record in its buffer. The reference is bare: a write, an
// fsync and a close for each file, and an fsync for each directory. Without them the
// records or the names would not survive a power cut, whoever wrote them.
func BenchmarkCheckpoint(b *testing.B) {
	for _, c := range pendingCases {
		b.Run(fmt.Sprintf("fs=%s/pending=%d", c.fs, c.pending), func(b *testing.B) {
			r := newRounds(b, c.fs, c.pending)
			var times paired
			for b.Loop() {
				times.inTurn(b, c.groups, c.fours, func() (time.Duration, error) {
					r.write(b)
					took, err := timed(r.disk, r.checkpoint)
					return took, errors.Join(err, r.quietly(r.complete))
				}, func() (time.Duration, error) {
					r.writePlain(b)
					took, err := timed(r.disk, r.plain.close)
					return took, errors.Join(err, r.quietly(r.plain.publish))
				})
			}
			r.finish(b)
			reportFiles(b, times, r.place, c.pending)
		})
	}
}

// BenchmarkCommit is what Job.Complete takes with so many files to make visible, each in
// a bucket of its own. The reference is bare: a rename for each file, and an fsync for each
// directory. A file cannot become visible at once and for good with less.
func BenchmarkCommit(b *testing.B) {
	for _, c := range pendingCases {
		b.Run(fmt.Sprintf("fs=%s/pending=%d", c.fs, c.pending), func(b *testing.B) {
			r := newRounds(b, c.fs, c.pending)
			var times paired
			// The syncs before and after each commit keep it from paying for what was
			// written meanwhile: a file system with a journal writes all of it at once.
			settled := func(err error) error { return errors.Join(err, syncDir(r.Fs, r.dir)) }
			for b.Loop() {
				times.inTurn(b, c.groups, c.fours, func() (time.Duration, error) {
					r.write(b)
					if err := settled(r.quietly(r.checkpoint)); err != nil {
						return 0, err
					}
					return timed(r.disk, r.complete)
				}, func() (time.Duration, error) {
					r.writePlain(b)
					if err := settled(r.quietly(r.plain.close)); err != nil {
						return 0, err
					}
					return timed(r.disk, r.plain.publish)
				})
			}
			r.finish(b)
			reportFiles(b, times, r.place, c.pending)
		})
	}
}

func reportFiles(b *testing.B, times paired, at place, files int) {
	report(b,
		metric{median(times.sink) / float64(files), "ns/file"},
		metric{median(times.reference) / float64(files), "bare-ns/file"},
		metric{times.ratio(), ratioUnit("x-bare", at.disk)},
	)
}

// rounds is a job and its reference that make so many files again and again, in buckets
// that have been there before, as a stream does in the long run.
type rounds struct {
	place
	job         *sinkcore.Job[string]
	id          int64
	plain       *plain
	buckets     int
	sink, other int // records written
}

// A file gets one record. The buffers hold little more: a bufio.Writer takes all of its
// buffer at once, and 10,000 of the usual size would fill the memory.
const (
	roundSize   = 100
	roundBuffer = 128
)

func newRounds(b *testing.B, fs string, buckets int) *rounds {
	b.Helper()
	at := newPlace(b, fs)
	config := sinkcore.Config[string]{
		Dir: at.dir + "/sink", Encoder: sinkcore.Line[string]{}, Policy: sinkcore.OnCheckpoint{},
		Assigner: sinkcore.Prefix[string](bucketOf), BufferSize: roundBuffer,
	}
	job, err := sinkcore.NewJob(at.quietable, rand.Reader, config, 1, 0)
	if err != nil {
		b.Fatal(err)
	}
	other := at
	other.dir += "/plain"
	r := &rounds{place: at, job: job, plain: newPlain(other, roundBuffer), buckets: buckets}
	if buckets > 1000 || at.disk && buckets > 10 {
		return r // takes long, and matters little among so many
	}
	// The first round makes the directories.
	r.write(b)
	r.writePlain(b)
	err = r.quietly(func() error { return joined(r.checkpoint, r.complete, r.plain.close, r.plain.publish) })
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *rounds) write(b *testing.B) {
	for i := range r.buckets {
		if err := r.job.Write(0, record(i, r.sink+i, roundSize), sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			b.Fatal(err)
		}
	}
	r.sink += r.buckets
}

func (r *rounds) writePlain(b *testing.B) {
	for i := range r.buckets {
		if err := r.plain.write(record(i, r.other+i, roundSize)); err != nil {
			b.Fatal(err)
		}
	}
	r.other += r.buckets
}

func (r *rounds) checkpoint() error {
	r.id++
	_, err := r.job.Checkpoint(r.id, 0)
	return err
}

func (r *rounds) complete() error {
	_, err := r.job.Complete(r.id)
	return err
}

// finish checks all that was written since the beginning.
func (r *rounds) finish(b *testing.B) {
	here, other := r.place, r.plain.place
	here.dir += "/sink"
	err := errors.Join(r.job.Close(), here.check(r.sink, roundSize, r.buckets), other.check(r.other, roundSize, r.buckets))
	if err != nil {
		b.Fatal(err)
	}
}
