package bench_test

import (
	"crypto/rand"
	"errors"
	"math"
	"runtime"
	"testing"

	"sinklab/sinkcore"
)

// BenchmarkBucket is how much memory an open bucket holds: the bytes of the heap that are
// in use more with 110 open parts than with 10, after a garbage collection, the open
// file and the names included. Each part has got one record of 100 bytes and BufferSize is
// 128, so nearly all of a buffer is in it; a part that is written to more holds up to
// BufferSize. The reference has for each bucket a file, a bufio.Writer of 128 bytes, its names
// and an entry in a map. The kernel's memory for a file is in neither.
//
// It comes out one of two ways, about 6 % apart, from process to process.
func BenchmarkBucket(b *testing.B) {
	at := newPlace(b, "disk")
	sinkAt, plainAt := at, at
	sinkAt.dir += "/sink"
	plainAt.dir += "/plain"
	config := sinkcore.Config[string]{
		Dir: sinkAt.dir, Encoder: sinkcore.Line[string]{}, Assigner: sinkcore.Prefix[string](bucketOf), BufferSize: roundBuffer,
	}
	const first, buckets = 10, 110
	input := newRecords(0, buckets, roundSize, buckets)
	var perBucket, reference float64
	for b.Loop() {
		err := at.quietly(func() error {
			job, err := sinkcore.NewJob(at.quietable, rand.Reader, config, 1, 0)
			if err != nil {
				return err
			}
			var before float64
			for i, r := range input {
				if i == first {
					before = inUse()
				}
				if err := job.Write(0, r, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
					return err
				}
			}
			perBucket = (inUse() - before) / (buckets - first)
			_, err = job.StopWithSavepoint(1, 0, true, func(sinkcore.Checkpoint) error { return nil })
			return errors.Join(err, sinkAt.check(buckets, roundSize, buckets), at.RemoveAll(sinkAt.dir))
		})
		if err != nil {
			b.Fatal(err)
		}
		err = at.quietly(func() error {
			w := newPlain(plainAt, roundBuffer)
			var before float64
			for i, r := range input {
				if i == first {
					before = inUse()
				}
				if err := w.write(r); err != nil {
					return err
				}
			}
			reference = (inUse() - before) / (buckets - first)
			return errors.Join(w.close(), w.publish(), plainAt.check(buckets, roundSize, buckets), at.RemoveAll(plainAt.dir))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	runtime.KeepAlive(input)
	report(b,
		metric{perBucket, "B/bucket"},
		metric{reference, "bufio-B/bucket"},
		metric{perBucket / reference, "x-memory"},
	)
}

// inUse is how many bytes of the heap are in use. What was closed just before is free only
// after some collections, since files and pools let go of it late.
func inUse() float64 {
	var m runtime.MemStats
	least := uint64(math.MaxUint64)
	for same := 0; same < 3; same++ {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc < least {
			least, same = m.HeapAlloc, 0
		}
	}
	return float64(least)
}
