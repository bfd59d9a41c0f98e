package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// Workload is a job under load: a stream of records for so long, checkpoints at an
// interval, and outages. Durations are whole milliseconds, and instants count from the
// start of the job, at which the clock shows 0.
//
// What falls on one instant happens in this order: the end of an outage, check timers,
// the completion of a checkpoint, the start of a checkpoint, records, the start of an
// outage.
//
// The zero value is ten records of 100 bytes a second into one part at a time, a checkpoint
// every 2 s that completes at once, and Flink's policy, for an hour.
//
// Why in this order: it is the one in which a sink does the least. A check or a checkpoint
// sees the records of earlier instants only, so a record that arrives together with it
// waits for the next one, and what is measured is the longer of the two waits that a real
// clock could give.
type Workload struct {
	Arrivals   Arrivals // nil means Constant{}
	RecordSize int      // bytes, the newline included; 0 means 100; at least 24
	Subtasks   int      // records go to them in turn, a round of buckets each; 0 means 1

	// Buckets is the number of buckets, to which the records go in turn. 0 means that each
	// record goes where its Arrival says, which is the base directory for the built-in
	// streams.
	Buckets int

	CheckpointInterval time.Duration // from start to start; 0 means 2 s
	FirstCheckpoint    time.Duration // start of the first; it is CheckpointInterval if 0
	CheckpointDuration time.Duration // from its start until it completes; the next one starts no earlier

	// Outages are in order and do not overlap.
	Outages []Outage

	Duration time.Duration // of what is measured; 0 means one hour

	// UntilVisible ends the run as soon as every record that arrives is visible, if that is
	// before Duration is over.
	UntilVisible bool

	Policy        sinkcore.RollingPolicy // nil means sinkcore.Default{}
	CheckInterval time.Duration          // 0 means one minute
}

// Outage is a time in which no process runs. It dies at From, with the checkpoint that is
// under way. At To the sink is restored from the newest completed checkpoint, or begins
// anew if there is none; the source sends again what that does not cover, then what has
// arrived meanwhile, all in that instant, and the next checkpoint starts one interval later.
//
// Latency of a record counts from its first arrival, through all outages. A From that is
// within the duration of a checkpoint loses that checkpoint, not the files that earlier
// ones have published.
type Outage struct {
	From, To time.Duration
}

// Article is the experiment of the article on Flink's file sink: ten records a second
// from 50 ms after the start on, a checkpoint at 150 ms and every 2 s after that, which
// completes at once, for an hour.
//
// The offsets of 50 and 150 ms are what makes the first file wait for 120 s: its first
// record is there 50 ms after the timers were set, so at the first check the part is 59.95
// s old.
func Article(policy sinkcore.RollingPolicy, check time.Duration) Workload {
	return Workload{
		Arrivals:           Constant{Interval: 100 * time.Millisecond, First: 50 * time.Millisecond},
		CheckpointInterval: 2 * time.Second, FirstCheckpoint: 150 * time.Millisecond,
		Duration: time.Hour, Policy: policy, CheckInterval: check,
	}
}

// ErrNotExactlyOnce is wrapped by the error of a run in which a record was lost, was
// doubled, was changed or was visible too early. Its figures would mean nothing.
var ErrNotExactlyOnce = errors.New("not exactly once")

// minRecordSize has room for the record's number: 19 digits at most and the newline.
const minRecordSize = 24

// validate fills in the defaults; those of First and FirstCheckpoint are other fields.
func (w Workload) validate() (Workload, error) {
	if w.Arrivals == nil {
		w.Arrivals = Constant{}
	}
	if err := validArrivals(w.Arrivals); err != nil {
		return w, err
	}
	w.CheckpointInterval = cmp.Or(w.CheckpointInterval, 2*time.Second)
	w.Duration = cmp.Or(w.Duration, time.Hour)
	w.FirstCheckpoint = cmp.Or(w.FirstCheckpoint, w.CheckpointInterval)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"CheckpointInterval", w.CheckpointInterval}, {"Duration", w.Duration},
		{"CheckpointDuration", w.CheckpointDuration}, {"FirstCheckpoint", w.FirstCheckpoint},
	} {
		if d.value < 0 || d.value%time.Millisecond != 0 {
			return w, fmt.Errorf("%w: %s %v: must be a whole number of milliseconds, not negative", sinkcore.ErrConfig, d.name, d.value)
		}
	}
	if err := ValidOutages(w.Outages); err != nil {
		return w, err
	}
	for _, n := range []struct {
		name  string
		value *int
		zero  int
		least int
	}{
		{"RecordSize", &w.RecordSize, 100, minRecordSize}, {"Buckets", &w.Buckets, 0, 0}, {"Subtasks", &w.Subtasks, 1, 1},
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

// Run plays the workload on a job in dir, which must not exist yet. Every file is read
// when it becomes visible; when the time is over the input ends, a last checkpoint
// completes, and the directory is read once more. If not every record is there once
// the error wraps [ErrNotExactlyOnce], and the result means nothing.
//
// It is exact: virtual time moves from one thing that happens to the next, so nothing
// depends on the machine. It takes some 60 bytes of memory for each record, and reads each
// visible byte twice.
//
// The directory may be on any file system. On one in memory an hour of ten records a second
// takes a fraction of a second. A result is complete when Run returns; nothing of it
// changes later.
func (w Workload) Run(fsys afero.Fs, random io.Reader, dir string) (Result, error) {
	w, err := w.validate()
	if err != nil {
		return Result{}, err
	}
	if exists, err := afero.Exists(fsys, dir); err != nil || exists {
		return Result{}, errors.Join(fmt.Errorf("%w: the directory %q must not exist yet", sinkcore.ErrConfig, dir), err)
	}
	r := &run{Workload: w, fs: fsys, random: random, dir: dir, filler: bytes.Repeat([]byte{'.'}, w.RecordSize)}
	r.disk = countingFs{fsys, &Calls{}}
	r.takeArrivals()
	if r.job, err = sinkcore.NewJob(r.disk, random, r.config(), w.Subtasks, 0); err != nil {
		return Result{}, err
	}
	err = errors.Join(r.play(), r.close())
	return r.result, err
}

// ValidOutages returns an error that wraps sinkcore.ErrConfig and names the outage if one is not
// of whole milliseconds, or they are out of order or overlap. One may begin where another ends.
func ValidOutages(outages []Outage) error {
	last := time.Duration(0)
	for i, o := range outages {
		if o.From < last || o.To < o.From || o.From%time.Millisecond != 0 || o.To%time.Millisecond != 0 {
			return fmt.Errorf("%w: outage %d from %v to %v: must be whole milliseconds, in order and not overlap", sinkcore.ErrConfig, i, o.From, o.To)
		}
		last = o.To
	}
	return nil
}
