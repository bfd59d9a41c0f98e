package bench_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"sinklab/sinkcore"
)

// BenchmarkWrite is the write path: records of one size, dealt out to the buckets in turn,
// which is the worst order. The reference is a bufio.Writer with the same buffer, or one
// for each bucket and a map to find it, on the same file system: bytes have to be
// collected, copied and handed to the kernel, whoever does it. The time begins when each
// buffer has been full once, and ends when all bytes are handed over and the files are closed.
//
// With policy=oncheckpoint both start new files every 5,000 records, as at a checkpoint,
// and fsync and rename included are timed. With policy=default no part is closed before the
// end, and nothing is synced within the time; BenchmarkCheckpoint is for that.
func BenchmarkWrite(b *testing.B) {
	for _, c := range []writeCase{
		{fs: "mem", size: 100, buckets: 1, policy: "default", bytes: 1 << 20, fours: 20},
		{fs: "mem", size: 1000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 16},
		{fs: "mem", size: 10_000, buckets: 1, policy: "default", bytes: 2 << 20, fours: 10},
		{fs: "mem", size: 100, buckets: 100, policy: "default", bytes: 2 << 20, fours: 8},
		{fs: "mem", size: 100, buckets: 1000, policy: "default", bytes: 8 << 20, fours: 2},
		{fs: "mem", size: 100, buckets: 1, policy: "oncheckpoint", bytes: 2 << 20, fours: 10},
		{fs: "mem", size: 100, buckets: 100, policy: "oncheckpoint", bytes: 2 << 20, fours: 6},
		{fs: "disk", size: 100, buckets: 1, policy: "default", bytes: 1 << 20, fours: 16},
		{fs: "disk", size: 1000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 16},
		{fs: "disk", size: 10_000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 16},
		{fs: "disk", size: 100, buckets: 100, policy: "default", bytes: 4 << 20, fours: 2},
		{fs: "disk", size: 100, buckets: 1, policy: "oncheckpoint", bytes: 2 << 20, fours: 8},
	} {
		b.Run(fmt.Sprintf("fs=%s/size=%d/buckets=%d/policy=%s", c.fs, c.size, c.buckets, c.policy), c.run)
	}
}

type writeCase struct {
	fs            string
	size, buckets int
	policy        string
	bytes         int // that one run writes
	fours         int // of runs in an iteration
}

// writeEvery is how many records there are from one checkpoint to the next.
const writeEvery = 5000

func (c writeCase) run(b *testing.B) {
	at := newPlace(b, c.fs)
	input := newRecords(c.bytes/c.size, c.size, c.buckets)
	var times paired
	var allocated uint64
	runs := 0
	// Each run has a directory of its own, is checked, and removed.
	run := func(write func(place, []string) (time.Duration, error)) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			here := at
			here.dir = filepath.Join(at.dir, strconv.Itoa(runs))
			runs++
			d, err := write(here, input)
			return d, errors.Join(err, here.check(len(input), c.size, c.buckets), here.RemoveAll(here.dir))
		}
	}
	sink := run(func(p place, input []string) (time.Duration, error) {
		d, n, err := c.writeSink(p, input)
		allocated += n
		return d, err
	})
	for b.Loop() {
		times.inTurn(b, c.fours, 1, sink, run(c.writePlain))
	}
	n := float64(len(input) - c.warm())
	report(b,
		metric{median(times.sink) / n, "ns/record"},
		metric{median(times.reference) / n, "bufio-ns/record"},
		metric{1e3 * n * float64(c.size) / median(times.sink), "MB/s"},
		metric{times.ratio(), at.unit("x-bufio")},
		metric{float64(allocated) / n / float64(len(times.sink)), "allocs/record"},
	)
}

// bufferSize is that of the sink's parts and of the reference's writers. With many buckets
// it is smaller, or it would never be full.
func (c writeCase) bufferSize() int {
	if c.buckets > 1 {
		return 4 << 10
	}
	return sinkcore.DefaultBufferSize
}

// warm is how many records fill each buffer once, in which a sink's grows to its size.
func (c writeCase) warm() int { return c.buckets * (c.bufferSize()/c.size + 1) }

// writeSink writes the records through a job and publishes them. The time, and the number
// of objects allocated, are those of the records that come when all buffers are warm.
func (c writeCase) writeSink(p place, input []string) (took time.Duration, allocated uint64, err error) {
	config := sinkcore.Config[string]{Dir: p.dir, Encoder: sinkcore.Line[string]{}, BufferSize: c.bufferSize()}
	if c.buckets > 1 {
		config.Assigner = sinkcore.Prefix[string](bucketOf)
	}
	warm, every := c.warm(), len(input)
	if c.policy == "oncheckpoint" {
		config.Policy = sinkcore.OnCheckpoint{}
		every = writeEvery
	}
	job, err := sinkcore.NewJob(p.quietable, rand.Reader, config, 1, 0)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, job.Close()) }()
	id := int64(0)
	checkpoint := func() error {
		id++
		if _, err := job.Checkpoint(id, 0); err != nil {
			return err
		}
		_, err := job.Complete(id)
		return err
	}
	write := func(some []string) error {
		for _, r := range some {
			if err := job.Write(0, r, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(input[:warm]); err != nil {
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took, err = timed(p.disk && c.policy == "oncheckpoint", func() error {
		for from := warm; from < len(input); {
			to := min(from-from%every+every, len(input))
			if err := write(input[from:to]); err != nil {
				return err
			}
			if from = to; from < len(input) {
				if err := checkpoint(); err != nil {
					return err
				}
			}
		}
		return p.quietly(job.EndInput)
	})
	runtime.ReadMemStats(&after)
	if err != nil {
		return 0, 0, err
	}
	return took, after.Mallocs - before.Mallocs, p.quietly(checkpoint)
}

// writePlain makes the same files without a sink.
func (c writeCase) writePlain(p place, input []string) (took time.Duration, err error) {
	w := newPlain(p, c.bufferSize())
	warm, every := c.warm(), len(input)
	if c.policy == "oncheckpoint" {
		every = writeEvery
	}
	put := w.writeFlat
	if c.buckets > 1 {
		put = w.write
	}
	write := func(some []string) error {
		for _, r := range some {
			if err := put(r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(input[:warm]); err != nil {
		return 0, err
	}
	took, err = timed(p.disk && c.policy == "oncheckpoint", func() error {
		for from := warm; from < len(input); {
			to := min(from-from%every+every, len(input))
			if err := write(input[from:to]); err != nil {
				return err
			}
			if from = to; from < len(input) {
				if err := errors.Join(w.close(), w.publish()); err != nil {
					return err
				}
			}
		}
		return p.quietly(w.close)
	})
	if err != nil {
		return 0, err
	}
	return took, p.quietly(w.publish)
}
