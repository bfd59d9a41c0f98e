package bench_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"sinklab/sinkcore"
)

// BenchmarkTick is one check of the check timer with so many open buckets, none of which
// or one of which is due. The reference is what Flink does: to ask the policy about each of
// them (FileWriter.onProcessingTime, FileWriterBucket.onProcessingTime), here without the map
// that Flink has to walk through, and to close the one that is due. Without an order of the
// parts nobody can do with less.
func BenchmarkTick(b *testing.B) {
	// With 100,000 parts the collector would be at work most of the time, and nothing that is
	// timed leaves garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	for _, open := range []int{1, 1000, 100_000} {
		var w *walk // shared by the two, since opening takes longer than measuring
		for _, due := range []string{"none", "one"} {
			b.Run(fmt.Sprintf("open=%d/due=%s", open, due), func(b *testing.B) {
				if w == nil {
					w = newWalk(b, open)
				}
				if due == "one" {
					w.benchOne(b)
				} else {
					w.benchNone(b)
				}
			})
		}
		if w != nil {
			if err := w.finish(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

const (
	tickSize  = 20            // bytes of a record
	tickFar   = 1_000_000_000 // milliseconds that a part is open
	tickBatch = 1000          // ticks whose time is taken together where none is due
)

// walk is a sink with open parts, and the same parts as the reference has them. They were
// made a millisecond apart, so that none is due for a long time, and then one with each
// millisecond; the one that is closed is made anew.
type walk struct {
	place
	policy sinkcore.Default
	open   int

	job     *sinkcore.Job[string]
	now     int64
	written int     // records
	due     []int64 // when the part of a bucket is

	parts []*sinkcore.PartInfo
	turn  int // part of the reference that is due next
}

func newWalk(b *testing.B, open int) *walk {
	b.Helper()
	far := tickFar * time.Millisecond
	w := &walk{
		place: newPlace(b, "mem"), open: open, due: make([]int64, open),
		policy: sinkcore.Default{Rollover: far, Inactivity: far},
	}
	config := sinkcore.Config[string]{
		Dir: w.dir + "/sink", Encoder: sinkcore.Line[string]{}, Assigner: sinkcore.Prefix[string](bucketOf),
		Policy: w.policy, CheckInterval: time.Millisecond,
	}
	var err error
	if w.job, err = sinkcore.NewJob(w.quietable, rand.Reader, config, 1, 0); err != nil {
		b.Fatal(err)
	}
	if err := w.MkdirAll(w.dir+"/plain", 0o777); err != nil {
		b.Fatal(err)
	}
	for range open {
		if err := w.write(); err != nil {
			b.Fatal(err)
		}
		w.parts = append(w.parts, &sinkcore.PartInfo{CreationTime: w.now, LastUpdate: w.now, Size: tickSize, Records: 1})
		w.now++
	}
	return w
}

// write writes a record to the bucket whose turn it is; a part is made.
func (w *walk) write() error {
	bucket := w.written % w.open
	r := record(bucket, w.written, tickSize)
	w.written++
	w.due[bucket] = w.now + tickFar
	return w.job.Write(0, r, sinkcore.NoTime, sinkcore.NoTime, w.now)
}

// closed fails unless so many parts have been closed since the beginning, and all are open
// again.
func (w *walk) closed(n int64) error {
	s := w.job.Stats()
	if s.OpenParts != w.open || s.Rolled.For(sinkcore.Age) != n || s.Rolled.Total() != n {
		return fmt.Errorf("%d parts were closed and %d are open; %d should have been, and %d be open", s.Rolled.Total(), s.OpenParts, n, w.open)
	}
	return nil
}

func (w *walk) benchNone(b *testing.B) {
	walks := max(1, tickBatch/w.open)
	var times paired
	for b.Loop() {
		times.inTurn(b, 1, 12, func() (time.Duration, error) {
			return timed(false, func() error {
				for range tickBatch {
					w.now++
					if _, err := w.job.Tick(w.now); err != nil {
						return err
					}
				}
				return nil
			})
		}, func() (time.Duration, error) {
			took, err := timed(false, func() error {
				for range walks {
					if n := w.walk(w.now); n != nil {
						return fmt.Errorf("%v is due", *n)
					}
				}
				return nil
			})
			return took * time.Duration(tickBatch/walks), err
		})
	}
	if err := w.closed(0); err != nil {
		b.Fatal(err)
	}
	w.report(b, times, tickBatch, "x-walk")
}

// walk asks for each part whether it is due, and returns one that is.
func (w *walk) walk(now int64) (due *sinkcore.PartInfo) {
	var policy sinkcore.RollingPolicy = w.policy
	for _, p := range w.parts {
		if at, _ := policy.RollAt(*p); at <= now {
			due = p
		}
	}
	return due
}

func (w *walk) benchOne(b *testing.B) {
	// Some of them in a row, or the caches would hold what the other has left there.
	const batch = 10
	each := func(one func() (time.Duration, error)) func() (time.Duration, error) {
		return func() (sum time.Duration, err error) {
			for range batch {
				took, err := one()
				if err != nil {
					return 0, err
				}
				sum += took
			}
			return sum, nil
		}
	}
	var times paired
	for b.Loop() {
		times.inTurn(b, 1, min(20, max(5, 20_000/w.open)), each(w.tickOne), each(w.walkOne))
	}
	if err := w.closed(int64(w.written - w.open)); err != nil {
		b.Fatal(err)
	}
	w.report(b, times, batch, "x-walk-due")
}

// tickOne is a tick that closes one part. The next record makes it anew.
func (w *walk) tickOne() (time.Duration, error) {
	w.now = w.due[w.written%w.open]
	if _, err := w.job.Tick(w.now - 1); err != nil { // sets the timer to the millisecond
		return 0, err
	}
	took, err := timed(false, func() error { _, err := w.job.Tick(w.now); return err })
	return took, errors.Join(err, w.write())
}

// walkOne is a walk that finds one part, and closes its file.
func (w *walk) walkOne() (time.Duration, error) {
	part := w.parts[w.turn%w.open]
	w.turn++
	f, err := w.OpenFile(fmt.Sprintf("%s/plain/%d", w.dir, w.turn), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	buffer := make([]byte, tickSize)
	now := part.CreationTime + tickFar
	took, err := timed(false, func() error {
		if w.walk(now) != part {
			return errors.New("another part is due")
		}
		_, err := f.Write(buffer)
		return errors.Join(err, f.Sync(), f.Close())
	})
	part.CreationTime, part.LastUpdate = now, now
	return took, err
}

func (w *walk) report(b *testing.B, times paired, ticks int, unit string) {
	report(b,
		metric{median(times.sink) / float64(ticks), "ns/tick"},
		metric{median(times.reference) / float64(ticks), "walk-ns/tick"},
		metric{times.ratio(), unit},
	)
}

// finish publishes everything and checks it.
func (w *walk) finish() error {
	_, err := w.job.StopWithSavepoint(1, w.now, true, func(sinkcore.Checkpoint) error { return nil })
	here := w.place
	here.dir += "/sink"
	return errors.Join(err, here.check(w.written, tickSize, w.open))
}
