package bench_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// BenchmarkWrite is the write path on a real disk: records of 100 bytes into one bucket
// with no roll, against a plain bufio.Writer with the same buffer on the same disk. Both
// fsync and close at the end. One iteration writes both files, in turn, so that a noisy
// machine hits both; x-bufio is the quotient of the two medians.
func BenchmarkWrite(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run("size="+strconv.Itoa(size), func(b *testing.B) { benchmarkWrite(b, size) })
	}
}

// writeBytes is how much one iteration writes to each file.
const writeBytes = 20 << 20

func benchmarkWrite(b *testing.B, size int) {
	record := bytes.Repeat([]byte{'x'}, size-1)
	records := writeBytes / size
	dir := b.TempDir()
	var sink, plain []time.Duration
	allocated := uint64(0)
	for round := 0; b.Loop(); round++ {
		path := filepath.Join(dir, strconv.Itoa(round))
		for i := range 2 {
			if (round+i)%2 == 0 {
				sink = append(sink, timed(b, func() error {
					n, err := writeSink(path, record, records)
					allocated += n
					return err
				}))
			} else {
				plain = append(plain, timed(b, func() error { return writePlain(path+".plain", record, records) }))
			}
		}
		if err := errors.Join(os.RemoveAll(path), os.Remove(path+".plain")); err != nil {
			b.Fatal(err)
		}
	}
	ns := func(d []time.Duration) float64 { return float64(median(d)) / float64(records) }
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
	b.ReportMetric(ns(sink), "ns/record")
	b.ReportMetric(ns(plain), "bufio-ns/record")
	b.ReportMetric(ns(sink)/ns(plain), "x-bufio")
	b.ReportMetric(float64(allocated)/float64(records*len(sink)), "allocs/record")
}

// writeSink writes a file through a sink and returns how many objects were allocated
// between the first record and the last, the growth of the buffer included.
func writeSink(dir string, record []byte, records int) (uint64, error) {
	config := sinkcore.Config[[]byte]{Dir: dir, Encoder: sinkcore.Line[[]byte]{}}
	w, err := sinkcore.NewWriter(afero.NewOsFs(), rand.Reader, config, 0, 0)
	if err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range records {
		if err := w.Write(record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	_, _, err = w.EndInput()
	return after.Mallocs - before.Mallocs, errors.Join(err, w.Close())
}

// writePlain writes the same file as one would without a sink.
func writePlain(path string, record []byte, records int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, sinkcore.DefaultBufferSize)
	for range records {
		w.Write(record) // the error is kept for Flush
		w.WriteByte('\n')
	}
	return errors.Join(w.Flush(), f.Sync(), f.Close())
}

func timed(b *testing.B, f func() error) time.Duration {
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
