package bench_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// BenchmarkWrite is the write path: records of one size, dealt out to the buckets in turn,
// which is the worst order. The reference is a bufio.Writer with the same buffer, or one
// for each bucket and a map to find it, on the same file system: bytes have to be
// collected, copied and handed to the kernel, whoever does it. Both have filled each buffer
// once before the first measurement.
//
// With policy=default one part, or one for each bucket, is open all the time, and nothing is
// synced while it is measured. With policy=oncheckpoint there is a checkpoint after every
// 5,000 records, and it is timed with its fsyncs and renames; the reference syncs and
// renames as many files.
func BenchmarkWrite(b *testing.B) {
	for _, c := range []writeCase{
		{fs: "mem", size: 100, buckets: 1, policy: "default", bytes: 1 << 20, fours: 14},
		{fs: "mem", size: 1000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 14},
		{fs: "mem", size: 10_000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 14},
		{fs: "mem", size: 100, buckets: 100, policy: "default", bytes: 1 << 20, fours: 12},
		{fs: "mem", size: 100, buckets: 1000, policy: "default", bytes: 4 << 20, fours: 5},
		{fs: "mem", size: 100, buckets: 1, policy: "oncheckpoint", bytes: 2 << 20, fours: 10},
		{fs: "mem", size: 100, buckets: 100, policy: "oncheckpoint", bytes: 1 << 20, fours: 10},
		{fs: "disk", size: 100, buckets: 1, policy: "default", bytes: 1 << 20, fours: 12},
		{fs: "disk", size: 1000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 12},
		{fs: "disk", size: 10_000, buckets: 1, policy: "default", bytes: 1 << 20, fours: 12},
		{fs: "disk", size: 100, buckets: 100, policy: "default", bytes: 1 << 20, fours: 10},
		{fs: "disk", size: 100, buckets: 1, policy: "oncheckpoint", bytes: 2 << 20, fours: 4},
	} {
		b.Run(fmt.Sprintf("fs=%s/size=%d/buckets=%d/policy=%s", c.fs, c.size, c.buckets, c.policy), c.run)
	}
}

type writeCase struct {
	fs            string
	size, buckets int
	policy        string
	bytes         int // of one measurement
	fours         int // measurements of each kind, by two
}

// writeEvery is how many records there are from one checkpoint to the next.
const writeEvery = 5000

func (c writeCase) run(b *testing.B) {
	at := newPlace(b, c.fs)
	sinkAt, plainAt := at, at
	sinkAt.dir += "/sink"
	plainAt.dir += "/plain"
	buffer := sinkcore.DefaultBufferSize
	if c.buckets > 1 {
		buffer = 4 << 10 // or it would never be full
	}
	config := sinkcore.Config[string]{Dir: sinkAt.dir, Encoder: sinkcore.Line[string]{}, BufferSize: buffer}
	if c.buckets > 1 {
		config.Assigner = sinkcore.Prefix[string](bucketOf)
	}
	if c.policy == "oncheckpoint" {
		config.Policy = sinkcore.OnCheckpoint{}
	}
	var fsys afero.Fs = at.quietable
	if at.disk && c.policy == "default" {
		fsys = at.Fs // as users have it: for a file of the system's own the sink reserves space
	}
	job, err := sinkcore.NewJob(fsys, rand.Reader, config, 1, 0)
	if err != nil {
		b.Fatal(err)
	}
	id := int64(0)
	checkpoint := func() error {
		id++
		if _, err := job.Checkpoint(id, 0); err != nil {
			return err
		}
		_, err := job.Complete(id)
		return err
	}
	plain := newPlain(plainAt, buffer)
	put := plain.writeFlat
	if c.buckets > 1 {
		put = plain.write
	}
	sink := c.writer(at, func(r string) error {
		return job.Write(0, r, sinkcore.NoTime, sinkcore.NoTime, 0)
	}, checkpoint)
	reference := c.writer(at, put, func() error { return errors.Join(plain.close(), plain.publish()) })

	n := c.bytes / c.size
	warm := c.buckets * (buffer/c.size + 1)
	for _, w := range []*chunks{sink, reference} {
		if _, err := w.write(warm); err != nil {
			b.Fatal(err)
		}
	}
	sink.allocated = 0
	var times paired
	for b.Loop() {
		times.inTurn(b, c.fours, 1,
			func() (time.Duration, error) { return sink.write(n) },
			func() (time.Duration, error) { return reference.write(n) })
	}
	measured := float64(sink.written - warm)
	err = at.quietly(func() error { return joined(job.EndInput, checkpoint, job.Close, plain.close, plain.publish) })
	err = errors.Join(err, sinkAt.check(sink.written, c.size, c.buckets), plainAt.check(reference.written, c.size, c.buckets))
	if err != nil {
		b.Fatal(err)
	}
	report(b,
		metric{median(times.sink) / float64(n), "ns/record"},
		metric{median(times.reference) / float64(n), "bufio-ns/record"},
		metric{1e3 * float64(n*c.size) / median(times.sink), "MB/s"},
		metric{times.ratio(), ratioUnit("x-bufio", sink.waits)},
		metric{float64(sink.allocated) / measured, "allocs/record"},
	)
}

// chunks writes records with ascending numbers, some at a time.
type chunks struct {
	writeCase
	waits     bool // for a disk
	put       func(record string) error
	cut       func() error // ends all files and begins new ones
	written   int
	allocated uint64 // objects
}

func (c writeCase) writer(at place, put func(string) error, cut func() error) *chunks {
	return &chunks{writeCase: c, waits: at.disk && c.policy == "oncheckpoint", put: put, cut: cut}
}

// write writes n records, with all checkpoints that come in between, and returns how long
// that took.
func (w *chunks) write(n int) (time.Duration, error) {
	records := newRecords(w.written, n, w.size, w.buckets)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took, err := timed(w.waits, func() error {
		for i, r := range records {
			if err := w.put(r); err != nil {
				return err
			}
			if w.policy == "oncheckpoint" && (i+1)%writeEvery == 0 {
				if err := w.cut(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	runtime.ReadMemStats(&after)
	w.written += n
	w.allocated += after.Mallocs - before.Mallocs
	return took, err
}
