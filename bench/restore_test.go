package bench_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// BenchmarkRestore is what RestoreJob takes from a checkpoint that names so many open
// parts of 1,000 bytes, each in a bucket of its own and with 100 bytes after the checkpoint,
// which are to be cut off. The reference is bare: open each file, read it up to its
// recorded length, truncate it to that, and open it for writing. Who goes on with a file has
// to cut it, and who wants to know whether it is whole has to read it.
//
// A disk is in the page cache here, as after the crash of a process.
func BenchmarkRestore(b *testing.B) {
	for _, c := range []struct {
		fs                   string
		parts, groups, fours int
	}{
		{"mem", 1, 8, 20}, {"mem", 10, 8, 10}, {"mem", 100, 8, 2}, {"mem", 1000, 5, 1}, {"mem", 10_000, 1, 1},
		{"disk", 1, 4, 16}, {"disk", 10, 4, 8}, {"disk", 100, 8, 1},
	} {
		b.Run(fmt.Sprintf("fs=%s/parts=%d", c.fs, c.parts), func(b *testing.B) {
			r := newRestores(b, c.fs, c.parts)
			var times paired
			for b.Loop() {
				times.inTurn(b, c.groups, c.fours, r.sink, r.bare)
			}
			if err := r.goOn(); err != nil {
				b.Fatal(err)
			}
			report(b,
				metric{median(times.sink) / float64(c.parts), "ns/part"},
				metric{median(times.reference) / float64(c.parts), "bare-ns/part"},
				metric{times.ratio(), "x-bare"},
			)
		})
	}
}

const (
	restoreSize   = 100 // bytes of a record
	restoreBefore = 10  // records of a part that the checkpoint covers
)

// restores is a checkpoint that is restored again and again.
type restores struct {
	place
	config     sinkcore.Config[string]
	checkpoint sinkcore.Checkpoint
	parts      int
}

func newRestores(b *testing.B, fs string, parts int) *restores {
	b.Helper()
	r := &restores{place: newPlace(b, fs), parts: parts}
	r.config = sinkcore.Config[string]{
		Dir: r.dir, Encoder: sinkcore.Line[string]{}, Assigner: sinkcore.Prefix[string](bucketOf),
	}
	err := r.quietly(func() error {
		job, err := sinkcore.NewJob(r.quietable, rand.Reader, r.config, 1, 0)
		if err != nil {
			return err
		}
		if err := r.write(job, 0, restoreBefore); err != nil {
			return err
		}
		r.checkpoint, err = job.Checkpoint(1, 0)
		return errors.Join(err, job.Close())
	})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// write gives each part its records from one on up to another.
func (r *restores) write(job *sinkcore.Job[string], from, to int) error {
	for i := from * r.parts; i < to*r.parts; i++ {
		if err := job.Write(0, record(i%r.parts, i, restoreSize), sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			return err
		}
	}
	return nil
}

// crash leaves each part as a process does that dies after the checkpoint: with a record
// more, which the source will send again.
func (r *restores) crash() error {
	for i, bucket := range r.checkpoint.Writers[0].Buckets {
		f, err := r.OpenFile(r.path(bucket), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(record(i, restoreBefore*r.parts+i, restoreSize) + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (r *restores) path(b sinkcore.BucketState) string {
	return filepath.Join(r.dir, b.Bucket, b.InProgress.Temp)
}

// sink restores with a job.
func (r *restores) sink() (took time.Duration, err error) {
	if err := r.crash(); err != nil {
		return 0, err
	}
	var job *sinkcore.Job[string]
	took, err = timed(false, func() (err error) {
		job, _, err = sinkcore.RestoreJob(r.quietable, rand.Reader, r.config, 1, 0, r.checkpoint)
		return err
	})
	if err != nil {
		return 0, err
	}
	return took, job.Close()
}

// bare restores without one.
func (r *restores) bare() (took time.Duration, err error) {
	if err := r.crash(); err != nil {
		return 0, err
	}
	var files []afero.File
	took, err = timed(false, func() error {
		buffer := make([]byte, restoreBefore*restoreSize)
		for _, bucket := range r.checkpoint.Writers[0].Buckets {
			size := bucket.InProgress.Size
			f, err := r.Open(r.path(bucket))
			if err != nil {
				return err
			}
			_, err = io.ReadFull(f, buffer[:size])
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			if f, err = r.OpenFile(r.path(bucket), os.O_WRONLY, 0); err != nil {
				return err
			}
			files = append(files, f)
			if err := f.Truncate(size); err != nil {
				return err
			}
			if _, err := f.Seek(size, io.SeekStart); err != nil {
				return err
			}
		}
		return nil
	})
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return took, err
}

// goOn restores once more, has the source send again what came after the checkpoint,
// and checks that each record is there once.
func (r *restores) goOn() error {
	if err := r.crash(); err != nil {
		return err
	}
	job, _, err := sinkcore.RestoreJob(r.quietable, rand.Reader, r.config, 1, 0, r.checkpoint)
	if err != nil {
		return err
	}
	err = r.quietly(func() error {
		if err := r.write(job, restoreBefore, restoreBefore+1); err != nil {
			return err
		}
		_, err := job.StopWithSavepoint(2, 0, true, func(sinkcore.Checkpoint) error { return nil })
		return err
	})
	return errors.Join(err, job.Close(), r.check((restoreBefore+1)*r.parts, restoreSize, r.parts))
}
