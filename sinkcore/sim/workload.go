package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// Workload is a job under steady load: so many records a second for so long, with
// checkpoints at an interval. Durations are whole milliseconds, and instants count from
// the start of the job, at which the clock shows 0.
//
// What falls on one instant happens in this order: check timers, the completion of a
// checkpoint, the start of a checkpoint, records.
//
// The zero value is ten records of 100 bytes a second into one part at a time, a checkpoint
// every 2 s that completes at once, and Flink's policy, for an hour.
type Workload struct {
	Interval   time.Duration // between two records; 0 means 100 ms
	First      time.Duration // of the first record; it is Interval if 0
	RecordSize int           // bytes, the newline included; 0 means 100; at least 24
	Buckets    int           // records go to them in turn; 0 means 1, the base directory
	Subtasks   int           // records go to them in turn, a round of buckets each; 0 means 1

	CheckpointInterval time.Duration // from start to start; 0 means 2 s
	FirstCheckpoint    time.Duration // start of the first; it is CheckpointInterval if 0
	CheckpointDuration time.Duration // from its start until it completes; the next one starts no earlier

	Duration time.Duration // of what is measured; 0 means one hour

	Policy        sinkcore.RollingPolicy // nil means sinkcore.Default{}
	CheckInterval time.Duration          // 0 means one minute
}

// Article is the experiment of the article on Flink's file sink: ten records a second
// from 50 ms after the start on, a checkpoint at 150 ms and every 2 s after that, which
// completes at once, for an hour.
func Article(policy sinkcore.RollingPolicy, check time.Duration) Workload {
	return Workload{
		Interval: 100 * time.Millisecond, First: 50 * time.Millisecond,
		CheckpointInterval: 2 * time.Second, FirstCheckpoint: 150 * time.Millisecond,
		Duration: time.Hour, Policy: policy, CheckInterval: check,
	}
}

// Result is what a reader of the directory saw of a workload while it was measured. What
// becomes visible after the end of Duration, by the end of the input, is checked and not
// counted: a stream has no end.
type Result struct {
	Written int64 // records
	Visible int64 // records that could be read before the end
	Files   int64 // files that could be seen before the end
	Bytes   int64 // in them

	// FirstVisible is when the first file could be seen, or a negative duration if none
	// could.
	FirstVisible time.Duration

	// Stats is what the sink counted until the end.
	Stats sinkcore.Stats

	latencies []int64 // milliseconds from arrival to visibility, ascending
	duration  time.Duration
}

// Latency is a quantile of the time from a record's arrival until a reader could see
// it, over the records that became visible: the smallest latency that at least the
// share q of them had. 0 gives the smallest of all, 1 the largest. It is negative if
// nothing became visible.
func (r Result) Latency(q float64) time.Duration {
	n := len(r.latencies)
	if n == 0 {
		return -1
	}
	rank := int(math.Ceil(q * float64(n)))
	return time.Duration(r.latencies[min(max(rank, 1), n)-1]) * time.Millisecond
}

// FilesPerHour is Files scaled to an hour.
func (r Result) FilesPerHour() float64 {
	return float64(r.Files) * float64(time.Hour) / float64(r.duration)
}

// ErrNotExactlyOnce is wrapped by the error of a run in which a record was lost, was
// doubled, was changed or was visible too early. Its figures would mean nothing.
var ErrNotExactlyOnce = errors.New("not exactly once")

// minRecordSize has room for the record's number: 19 digits at most and the newline.
const minRecordSize = 24

// validate fills in the defaults; those of First and FirstCheckpoint are other fields.
func (w Workload) validate() (Workload, error) {
	w.Interval = cmp.Or(w.Interval, 100*time.Millisecond)
	w.CheckpointInterval = cmp.Or(w.CheckpointInterval, 2*time.Second)
	w.Duration = cmp.Or(w.Duration, time.Hour)
	w.First = cmp.Or(w.First, w.Interval)
	w.FirstCheckpoint = cmp.Or(w.FirstCheckpoint, w.CheckpointInterval)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Interval", w.Interval}, {"CheckpointInterval", w.CheckpointInterval}, {"Duration", w.Duration},
		{"CheckpointDuration", w.CheckpointDuration}, {"First", w.First}, {"FirstCheckpoint", w.FirstCheckpoint},
	} {
		if d.value < 0 || d.value%time.Millisecond != 0 {
			return w, fmt.Errorf("%w: %s %v: must be a whole number of milliseconds, not negative", sinkcore.ErrConfig, d.name, d.value)
		}
	}
	for _, n := range []struct {
		name        string
		value       *int
		zero, least int
	}{
		{"RecordSize", &w.RecordSize, 100, minRecordSize}, {"Buckets", &w.Buckets, 1, 1}, {"Subtasks", &w.Subtasks, 1, 1},
	} {
		if *n.value == 0 {
			*n.value = n.zero
		}
		if *n.value < n.least {
			return w, fmt.Errorf("%w: %s %d: must be at least %d", sinkcore.ErrConfig, n.name, *n.value, n.least)
		}
	}
	return w, nil
}

// record is the number of a record of a workload, from 0.
type record int64

// Run plays the workload on a job in dir, which must not exist yet. Every file is read
// when it becomes visible; when the time is over the input ends, a last checkpoint
// completes, and the directory is read once more. If not every record is there once
// the error wraps [ErrNotExactlyOnce], and the result means nothing.
//
// It is exact: virtual time moves from one thing that happens to the next, so nothing
// depends on the machine. It takes nine bytes of memory for each record, and reads each
// visible byte twice.
func (w Workload) Run(fsys afero.Fs, random io.Reader, dir string) (Result, error) {
	w, err := w.validate()
	if err != nil {
		return Result{}, err
	}
	if exists, err := afero.Exists(fsys, dir); err != nil || exists {
		return Result{}, errors.Join(fmt.Errorf("%w: the directory %q must not exist yet", sinkcore.ErrConfig, dir), err)
	}
	run := &run{Workload: w, fs: fsys, dir: dir, filler: bytes.Repeat([]byte{'.'}, w.RecordSize)}
	job, err := sinkcore.NewJob(fsys, random, run.config(), w.Subtasks, 0)
	if err != nil {
		return Result{}, err
	}
	err = run.play(job)
	return run.result, errors.Join(err, job.Close())
}

// run is a workload on its way.
type run struct {
	Workload
	fs     afero.Fs
	dir    string
	filler []byte
	ids    []string // of the buckets

	next   int64  // number of the next record, and of those written
	seen   []bool // by number: visible
	due    int64  // records before this number were covered by the checkpoint that completes
	result Result
}

func (r *run) config() sinkcore.Config[record] {
	c := sinkcore.Config[record]{
		Dir: r.dir, Policy: r.Policy, CheckInterval: r.CheckInterval,
		Encoder: sinkcore.EncoderFunc[record](func(dst []byte, n record) ([]byte, error) {
			at := len(dst)
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, r.filler[:r.RecordSize-1-(len(dst)-at)]...)
			return append(dst, '\n'), nil
		}),
	}
	if r.Buckets > 1 {
		for i := range r.Buckets {
			r.ids = append(r.ids, "b"+strconv.Itoa(i))
		}
		c.Assigner = sinkcore.Prefix[record](func(n record) string { return r.ids[int(n)%r.Buckets] })
	}
	return c
}

// arrival is when a record arrives, in milliseconds. It is its event time too.
func (r *run) arrival(n int64) int64 {
	return r.First.Milliseconds() + n*r.Interval.Milliseconds()
}

// play moves the clock from one thing that happens to the next. One checkpoint is under way
// at a time, as engines have it by default; one that would start meanwhile starts when the
// other completes.
func (r *run) play(job *sinkcore.Job[record]) error {
	r.result.FirstVisible, r.result.duration = -1, r.Duration
	end := r.Duration.Milliseconds()
	r.seen = make([]bool, max(0, (end-r.First.Milliseconds())/r.Interval.Milliseconds()+1))
	r.result.latencies = make([]int64, 0, len(r.seen))
	checkpoint, complete := r.FirstCheckpoint.Milliseconds(), sinkcore.Never
	id, covered := int64(0), int64(0)
	for {
		arrival := r.arrival(r.next)
		now := min(job.NextTick(), complete, checkpoint, arrival)
		if now > end {
			break
		}
		switch now {
		case job.NextTick():
			if _, err := job.Tick(now); err != nil {
				return err
			}
		case complete:
			if err := r.complete(job, id, covered, now); err != nil {
				return err
			}
			complete = sinkcore.Never
			checkpoint = max(now, checkpoint)
		case checkpoint:
			if complete != sinkcore.Never {
				checkpoint = complete // one at a time
				continue
			}
			id++
			if _, err := job.Checkpoint(id); err != nil {
				return err
			}
			covered = r.next
			complete = now + r.CheckpointDuration.Milliseconds()
			checkpoint = now + r.CheckpointInterval.Milliseconds()
		default:
			subtask := int(r.next / int64(r.Buckets) % int64(r.Subtasks))
			if err := job.Write(subtask, record(r.next), now, sinkcore.NoTime, now); err != nil {
				return err
			}
			r.next++
		}
	}
	r.result.Written = r.next
	r.result.Stats = job.Stats()
	slices.Sort(r.result.latencies)
	return r.finish(job, id+1)
}

// complete completes a checkpoint and reads what it published. The sink says where to look,
// which saves listing the directory each time; that it has told of everything is found
// out at the end.
func (r *run) complete(job *sinkcore.Job[record], id, covered, now int64) error {
	published, err := job.Complete(id)
	if err != nil {
		return err
	}
	r.due = covered
	for _, c := range published {
		if r.result.FirstVisible < 0 {
			r.result.FirstVisible = time.Duration(now) * time.Millisecond
		}
		r.result.Files++
		r.result.Bytes += c.Size
		path := filepath.Join(r.dir, c.Bucket, c.Name)
		err := r.read(path, func(n int64) error {
			r.result.Visible++
			r.result.latencies = append(r.result.latencies, now-r.arrival(n))
			return r.mark(n)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// mark notes that a record is visible.
func (r *run) mark(n int64) error {
	switch {
	case n < 0 || n >= r.due:
		return fmt.Errorf("%w: record %d is visible before a checkpoint that covers it has completed", ErrNotExactlyOnce, n)
	case r.seen[n]:
		return fmt.Errorf("%w: record %d is visible twice", ErrNotExactlyOnce, n)
	}
	r.seen[n] = true
	return nil
}

// read calls f with the number of each record of a file. A record is its number and filler
// up to its size, all of which is compared: a sink that loses or doubles a few bytes is
// noticed, not only one that loses whole records.
func (r *run) read(path string, f func(n int64) error) error {
	content, err := afero.ReadFile(r.fs, path)
	if err != nil {
		return err
	}
	for len(content) > 0 {
		if len(content) < r.RecordSize || content[r.RecordSize-1] != '\n' {
			return fmt.Errorf("%w: a record is torn", ErrNotExactlyOnce)
		}
		n, digits := int64(0), 0
		for digits < minRecordSize-1 && content[digits] >= '0' && content[digits] <= '9' {
			n = n*10 + int64(content[digits]-'0')
			digits++
		}
		if digits == 0 || !bytes.Equal(content[digits:r.RecordSize-1], r.filler[:r.RecordSize-1-digits]) {
			return fmt.Errorf("%w: a record has other bytes than were written", ErrNotExactlyOnce)
		}
		if err := f(n); err != nil {
			return err
		}
		content = content[r.RecordSize:]
	}
	return nil
}

// finish ends the input and checks that every record can be read exactly once by one
// who knows nothing of the sink and lists the directory.
func (r *run) finish(job *sinkcore.Job[record], id int64) error {
	if err := job.EndInput(); err != nil {
		return err
	}
	if _, err := job.Checkpoint(id); err != nil {
		return err
	}
	if _, err := job.Complete(id); err != nil {
		return err
	}
	r.due = r.next
	clear(r.seen)
	err := afero.Walk(r.fs, r.dir, func(path string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == r.dir {
			return nil
		}
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(info.Name(), ".") {
			return err
		}
		if err := r.read(path, r.mark); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if lost := slices.Index(r.seen[:r.next], false); lost >= 0 {
		return fmt.Errorf("%w: record %d is lost", ErrNotExactlyOnce, lost)
	}
	return nil
}
