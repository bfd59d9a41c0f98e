package flink

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"sinklab/bench/measure"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// peerNumber is how many digits the number of a record has; "/", its bucket and padding
// follow. The Java class sinklab.flink.bench.WritePath makes the same records.
const (
	peerNumber = 10
	peerBucket = 5 // bytes
)

// peerBuffer is the size of all buffers. With many of them, which are all open at
// once, they are smaller.
func peerBuffer(buckets int) int {
	if buckets > 1 {
		return 4 << 10
	}
	return sinkcore.DefaultBufferSize
}

// coreWriter is sinkcore's write path.
type coreWriter struct {
	dir           string
	size, buckets int
	job           *sinkcore.Job[string]
	written       int
}

func (w *coreWriter) open(size, buckets int) (err error) {
	w.size, w.buckets = size, buckets
	config := sinkcore.Config[string]{Dir: w.dir, Encoder: sinkcore.Line[string]{}, BufferSize: peerBuffer(buckets),
		Policy: sinkcore.Default{Size: peerNoRoll}}
	if buckets > 1 {
		config.Assigner = sinkcore.BucketFunc[string](func(record string, _ sinkcore.Context) (string, error) {
			return record[peerNumber+1 : peerNumber+1+peerBucket], nil
		})
	}
	w.job, err = sinkcore.NewJob(afero.NewOsFs(), rand.Reader, config, 1, time.Now().UnixMilli())
	return err
}

func (w *coreWriter) write(n int) (time.Duration, error) {
	return inBatches(&w.written, n, w.size, w.buckets, func(_ int, records []string) error {
		now := time.Now().UnixMilli()
		for i, record := range records {
			// Flink asks the clock for each record; package live asks it for each batch.
			if i%pacedBatch == 0 {
				now = time.Now().UnixMilli()
			}
			if err := w.job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// bareWriter is a bufio.Writer with sinkcore's buffer for each bucket, and nothing around
// it: neither checksum nor policy, names or state, nor space reserved for large files. What
// it takes is the file system's and memory's.
type bareWriter struct {
	dir           string
	size, buckets int
	files         []*os.File
	buffers       []*bufio.Writer
	written       int
}

func (w *bareWriter) open(size, buckets int) error {
	w.size, w.buckets = size, buckets
	for i := range buckets {
		dir := filepath.Join(w.dir, fmt.Sprintf("b%04d", i))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "part"))
		if err != nil {
			return err
		}
		w.files, w.buffers = append(w.files, f), append(w.buffers, bufio.NewWriterSize(f, peerBuffer(buckets)))
	}
	return nil
}

func (w *bareWriter) write(n int) (time.Duration, error) {
	return inBatches(&w.written, n, w.size, w.buckets, func(first int, records []string) error {
		for i, record := range records {
			b := w.buffers[(first+i)%w.buckets]
			if _, err := b.WriteString(record); err != nil {
				return err
			}
			if err := b.WriteByte('\n'); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *bareWriter) close() error {
	var errs []error
	for i, b := range w.buffers {
		errs = append(errs, b.Flush(), w.files[i].Close())
	}
	return errors.Join(errs...)
}

func (w *bareWriter) sample() PeerSample { return PeerSample{Engine: "bufio"} }

func (w *bareWriter) at() string { return w.dir }

// inBatches makes the next n records, some at a time, has each batch written and returns how
// long the writing took. So a record is written soon after it was made, while the processor
// still has it in a cache, as in a stream. The Java side does the same.
func inBatches(written *int, n, size, buckets int, write func(first int, records []string) error) (took time.Duration, err error) {
	runtime.GC() // the garbage of others is none of the writer's
	for left := n; left > 0 && err == nil; {
		first := *written
		records := peerRecords(written, min(left, peerBatch(size)), size, buckets)
		left -= len(records)
		var batch time.Duration
		batch, err = measure.OnProcessor(func() error { return write(first, records) })
		took += batch
	}
	return took, err
}

// peerBatch is how many records are made, and then written, at a time.
func peerBatch(size int) int { return max(1, peerBatchBytes/size) }

// peerRecords makes the next n records.
func peerRecords(written *int, n, size, buckets int) []string {
	records := make([]string, n)
	padding := strings.Repeat("x", size-peerNumber-1-peerBucket-1)
	for i := range records {
		records[i] = fmt.Sprintf("%0*d/b%04d", peerNumber, *written, *written%buckets) + padding
		*written++
	}
	return records
}

func (w *coreWriter) close() error {
	now := time.Now().UnixMilli()
	if err := w.job.EndInput(); err != nil {
		return err
	}
	if _, err := w.job.Checkpoint(1, now); err != nil {
		return err
	}
	if _, err := w.job.Complete(1); err != nil {
		return err
	}
	return w.job.Close()
}

func (w *coreWriter) sample() PeerSample { return PeerSample{Engine: "sinklab"} }

func (w *coreWriter) at() string { return w.dir }

// peerCheck reads all visible files: they must have the records 0 to n-1 once each, of the
// given size, each in its bucket.
func peerCheck(dir string, n int64, size, buckets int) error {
	seen := newBits(n)
	err := eachRecord(dir, func(path, record string) error {
		number, err := strconv.ParseInt(record[:min(peerNumber, len(record))], 10, 64)
		if err != nil || len(record) != size-1 {
			return fmt.Errorf("%w: %s has the line %.40q", ErrPeerRecords, path, record)
		}
		bucket := fmt.Sprintf("b%04d", number%int64(buckets))
		if in := filepath.Base(filepath.Dir(path)); buckets > 1 && in != bucket {
			return fmt.Errorf("%w: record %d is in bucket %s", ErrPeerRecords, number, in)
		}
		return seen.add(number)
	})
	if err == nil {
		err = seen.all()
	}
	return err
}

// job measures whole jobs for one size of records.
func (b *peerBench) job(ctx context.Context, size int) ([]PeerSample, error) {
	var samples []PeerSample
	rounds := min(b.Rounds, peerJobRounds)
	for round := range rounds + 1 { // the first one warms up the JVM and counts for nothing
		b.Progress(fmt.Sprintf("whole job, %d bytes: round %d of %d", size, round, rounds))
		for _, engine := range []string{"flink", "sinklab"} {
			if err := ctx.Err(); err != nil {
				return samples, err
			}
			run := b.flinkJob
			if engine == "sinklab" {
				run = b.coreJob
			}
			dir := b.newDir()
			took, err := run(ctx, dir, size)
			records := int64(0)
			if err == nil {
				records, err = jobRecords(dir)
			}
			if err != nil {
				return samples, fmt.Errorf("job on %s: %w", engine, err)
			}
			if round > 0 {
				samples = append(samples, PeerSample{Benchmark: "Job", Engine: engine, Size: size, Buckets: 1, Records: records,
					NS: float64(took.Nanoseconds()) / float64(records)})
			}
			if err := os.RemoveAll(dir); err != nil {
				return samples, err
			}
		}
	}
	return samples, nil
}

const (
	peerJobRounds  = 6           // at most: benchstat asks for as many, and each takes seconds
	peerCheckpoint = time.Second // between two checkpoints of a whole job
	peerMostBytes  = 1 << 30     // of a whole job
)

func (b *peerBench) flinkJob(_ context.Context, dir string, size int) (time.Duration, error) {
	ns, err := b.peers[peerEncoders[0]].ask(peerRequest{Do: "job", Flags: []string{"--output", dir, "--rate", "0",
		"--count", strconv.Itoa(peerMostBytes / size), "--for", strconv.FormatInt(b.JobTime.Milliseconds(), 10) + " ms", "--size", strconv.Itoa(size),
		"--checkpoint", strconv.FormatInt(peerCheckpoint.Milliseconds(), 10) + " ms"}})
	return time.Duration(ns), err
}

// coreJob runs the same job on package live.
func (b *peerBench) coreJob(ctx context.Context, dir string, size int) (took time.Duration, err error) {
	now := time.Now()
	engine, err := live.Open(live.Options[string]{Sink: sinkcore.Config[string]{Dir: dir, Encoder: sinkcore.Line[string]{}}, Interval: peerCheckpoint}, now.UnixMilli())
	if err != nil {
		return 0, err
	}
	source := &pacedSource{size: size, left: int64(peerMostBytes / size), until: now.Add(b.JobTime)}
	err = live.Run(ctx, live.SystemClock(), engine, source, live.EndOfInput)
	took = source.ended.Sub(now)
	if closing := engine.Close(); err == nil {
		err = closing
	}
	return took, err
}

// pacedSource makes the records of the Java class sinklab.flink.job.PacedSource, as many as
// the sink takes.
type pacedSource struct {
	size   int
	left   int64
	offset int64
	until  time.Time
	ended  time.Time
}

// pacedBatch is how many records are handed over at a time.
const pacedBatch = 100

func (s *pacedSource) Seek([]byte) error { return nil }

func (s *pacedSource) Read(ctx context.Context) (live.Batch[string], error) {
	var b live.Batch[string]
	now := time.Now()
	if s.left <= 0 || !now.Before(s.until) {
		s.ended = now
		return b, io.EOF
	}
	text := make([]byte, 0, s.size)
	for range min(pacedBatch, s.left) {
		text = strconv.AppendInt(text[:0], time.Now().UnixMilli(), 10)
		text = append(text, ',')
		text = strconv.AppendInt(text, s.offset, 10)
		text = append(text, ',')
		for len(text) < s.size-1 {
			text = append(text, 'x')
		}
		b.Records = append(b.Records, string(text))
		s.offset++
		s.left--
	}
	b.Position = strconv.AppendInt(nil, s.offset, 10)
	return b, ctx.Err()
}

// jobRecords reads all visible files of a job: its records are numbered from 0 without a
// gap, each there once. It returns how many there are.
func jobRecords(dir string) (int64, error) {
	seen := newBits(0)
	err := eachRecord(dir, func(path, record string) error {
		number, err := recordOffset(record)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrPeerRecords, path, err)
		}
		return seen.add(number)
	})
	if err == nil {
		err = seen.all()
	}
	return seen.count, err
}

// recordOffset reads the number of a record of the Java class PacedSource.
func recordOffset(record string) (int64, error) {
	_, rest, _ := strings.Cut(record, ",")
	text, _, whole := strings.Cut(rest, ",")
	if !whole {
		return 0, fmt.Errorf("line %.40q is no record", record)
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("line %.40q has no offset", record)
	}
	return number, nil
}

// eachRecord calls do for each line of the files that a reader sees.
func eachRecord(dir string, do func(path, record string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && path != dir && d.IsDir():
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(make([]byte, 0, 1<<16), live.MaxLine)
		for lines.Scan() {
			if err := do(path, lines.Text()); err != nil {
				return err
			}
		}
		return lines.Err()
	})
}

// bits is a set of the numbers of records.
type bits struct {
	words []uint64
	count int64
	want  int64 // there must be so many; 0 for any
}

func newBits(n int64) *bits { return &bits{want: n, words: make([]uint64, n/64+1)} }

// add puts a number in. The error says that it was there.
func (b *bits) add(n int64) error {
	if b.want > 0 && n >= b.want {
		return fmt.Errorf("%w: record %d was never written", ErrPeerRecords, n)
	}
	for n/64 >= int64(len(b.words)) {
		b.words = append(b.words, make([]uint64, len(b.words)+1)...)
	}
	if bit := uint64(1) << (n % 64); b.words[n/64]&bit != 0 {
		return fmt.Errorf("%w: record %d is there twice", ErrPeerRecords, n)
	} else {
		b.words[n/64] |= bit
	}
	b.count++
	return nil
}

// all tells by its error which is the first number that is missing. It is called at the end.
func (b *bits) all() error {
	want := b.want
	if want == 0 {
		want = b.highest() + 1
	}
	for n := range want {
		if b.words[n/64]&(1<<(n%64)) == 0 {
			return fmt.Errorf("%w: record %d is missing", ErrPeerRecords, n)
		}
	}
	return nil
}

// highest is the largest number, or -1.
func (b *bits) highest() int64 {
	for n := int64(len(b.words))*64 - 1; n >= 0; n-- {
		if b.words[n/64]&(1<<(n%64)) != 0 {
			return n
		}
	}
	return -1
}
