package peers

import (
	"cmp"
	"fmt"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Workload is what is given to a peer: a stream of records for so long, and how often and
// how fast it can commit. Durations are whole milliseconds, and instants count from the
// start.
//
// What falls on one instant happens in this order: the end of an outage, timers, the
// completion of a commit, the start of a checkpoint, records, the start of an outage.
//
// The zero value is ten records of 100 bytes a second, checkpoints every 2 s that complete
// at once, for an hour.
//
// The order matters where two things fall on one millisecond, which with round intervals is
// the rule and not the exception. A record of the instant of a check comes after it, so it
// is not closed by it; a record of the instant of a checkpoint is not in it. Real engines
// have no such order; a workload with FirstCheckpoint or Arrivals shifted by some
// milliseconds shows how much depends on it.
type Workload struct {
	Arrivals   sim.Arrivals // nil means sim.Constant{}
	RecordSize int          // bytes; 0 means 100

	// Subtasks is the number of writers to which the records go in turn, a round of buckets
	// each: Flink's subtasks, Kafka's topic partitions, Spark's tasks, instances of Bento,
	// Vector or Fluentd, streams of Firehose. 0 means 1.
	Subtasks int

	// Buckets is the number of buckets (partitions, directories, keys) to which the records go
	// in turn. 0 means that each goes where its sim.Arrival says.
	Buckets int

	CheckpointInterval time.Duration // from start to start; 0 means 2 s. Peers without checkpoints do not look at it
	FirstCheckpoint    time.Duration // start of the first; it is CheckpointInterval if 0

	// CommitDuration is the time from the start of a commit until a reader can see what it
	// commits: that of a checkpoint, of an upload, of a micro-batch. While a checkpoint or a
	// micro-batch is under way no other starts. During an upload the peer goes on taking records:
	// this is a choice of the model, for peers that upload in the thread that takes records.
	CommitDuration time.Duration

	// Outages are times in which no process runs, in order and not overlapping. What the peer
	// had not made durable is sent again at the end, then what arrived meanwhile, all in that
	// instant. The peer's own documentation says what it keeps.
	Outages []sim.Outage

	Duration time.Duration // of what is measured; 0 means one hour

	// Start is what the wall clock shows at the start, in milliseconds since 1970. Peers that
	// look at the time of day look at this clock; the others do not depend on it.
	Start int64

	// TimerDelay is how late Flink's processing time timers fire. In a running job that is
	// a millisecond at least (ProcessingTimeServiceUtil adds one); 0 is a clock that is
	// cranked by hand, as in tests and in package sim.
	TimerDelay time.Duration

	Seed uint64 // of the random delays of peers that have some
}

// FromSim is the workload of package sim for peers. The policy, the check interval and the
// check of what is in the files are left behind: a peer brings its own policy, and a
// simulation of one writes no files.
//
// What both play is the same: Simulate of a [Rolling] peer and sim.Workload's Run with its
// policy have the same figures.
func FromSim(w sim.Workload) Workload {
	return Workload{
		Arrivals: w.Arrivals, RecordSize: w.RecordSize, Subtasks: w.Subtasks, Buckets: w.Buckets,
		CheckpointInterval: w.CheckpointInterval, FirstCheckpoint: w.FirstCheckpoint,
		CommitDuration: w.CheckpointDuration, Outages: w.Outages, Duration: w.Duration,
	}
}

// validate fills in the defaults.
func (w Workload) validate() (Workload, error) {
	if w.Arrivals == nil {
		w.Arrivals = sim.Constant{}
	}
	if v, ok := w.Arrivals.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return w, err
		}
	}
	w = w.filled()
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"CheckpointInterval", w.CheckpointInterval}, {"FirstCheckpoint", w.FirstCheckpoint}, {"Duration", w.Duration},
		{"CommitDuration", w.CommitDuration}, {"TimerDelay", w.TimerDelay},
	} {
		if d.value < 0 || d.value%time.Millisecond != 0 {
			return w, fmt.Errorf("%w: %s %v: must be a whole number of milliseconds, not negative", sinkcore.ErrConfig, d.name, d.value)
		}
	}
	if err := sim.ValidOutages(w.Outages); err != nil {
		return w, err
	}
	if w.RecordSize < 1 || w.Subtasks < 1 || w.Buckets < 0 || w.Start < 0 {
		return w, fmt.Errorf("%w: RecordSize %d, Subtasks %d, Buckets %d, Start %d: none may be negative", sinkcore.ErrConfig, w.RecordSize, w.Subtasks, w.Buckets, w.Start)
	}
	return w, nil
}

// filled has the defaults in place of zeros.
func (w Workload) filled() Workload {
	w.RecordSize = cmp.Or(w.RecordSize, 100)
	w.Subtasks = cmp.Or(w.Subtasks, 1)
	w.CheckpointInterval = cmp.Or(w.CheckpointInterval, 2*time.Second)
	w.FirstCheckpoint = cmp.Or(w.FirstCheckpoint, w.CheckpointInterval)
	w.Duration = cmp.Or(w.Duration, time.Hour)
	return w
}

// between is the longest time from the start of one checkpoint to that of the next, the
// time before the first one included: one checkpoint is under way at a time.
//
// Bounds use it and not CheckpointInterval: a checkpoint that takes longer than the
// interval delays the next, and a first one that comes late makes the first interval the
// longest.
func (w Workload) between() time.Duration {
	w = w.filled()
	return max(w.CheckpointInterval, w.FirstCheckpoint, w.CommitDuration)
}

// schedule is what package sinkcore wants to know for a bound.
func (w Workload) schedule(check time.Duration) sinkcore.Schedule {
	return sinkcore.Schedule{Check: check, Checkpoint: w.between(), Duration: w.CommitDuration}
}

// regular says whether the workload is what closed forms speak of: equal distances, one
// writer and one bucket, no outage. Gap is the distance, and offset tells how long after an
// instant that comes every so often the next record arrives, if that is always the same.
//
// A closed form speaks of one file at a time. Several buckets or subtasks are several such
// streams with larger gaps, which the caller can ask about one by one.
func (w Workload) regular() (r regular, ok bool) {
	w = w.filled()
	c, constant := w.Arrivals.(sim.Constant)
	if w.Arrivals == nil {
		c, constant = sim.Constant{}, true
	}
	if !constant || w.Subtasks != 1 || w.Buckets > 1 || len(w.Outages) > 0 {
		return regular{}, false
	}
	r.gap = cmp.Or(c.Interval, 100*time.Millisecond)
	r.first = cmp.Or(c.First, r.gap)
	r.size = float64(w.RecordSize)
	r.Workload = w
	return r, true
}

// regular is a workload of equal records at equal distances.
type regular struct {
	Workload
	gap, first time.Duration
	size       float64
}

// after is how long after a multiple of every, counted from the start, the next record
// arrives. False if that changes from one multiple to the next.
//
// Closed forms need it because a file begins with a record and not at a check: the time
// between the two is what it is too young by at the check that would else have closed it.
func (r regular) after(every time.Duration) (time.Duration, bool) {
	switch {
	case r.gap <= time.Millisecond:
		return 0, true // there is a record in every millisecond
	case every%r.gap == 0:
		return (r.first % r.gap).Truncate(time.Millisecond), true
	}
	return 0, false
}

// predict is a prediction for a longest latency, where the simulation may stay below it by less
// than slack, and a time from one file to the next. Arrivals are cut to whole milliseconds, so
// a latency can be up to one longer than distances say.
//
// The two milliseconds of slack are one for that, and one for a difference that is to be
// less than it.
func (r regular) predict(longest, slack, every time.Duration) Prediction {
	whole := (longest + time.Millisecond - 1).Truncate(time.Millisecond)
	return Prediction{Max: whole, Slack: slack + 2*time.Millisecond, FilesPerHour: perHour(every)}
}

// perHour is how often in an hour something happens that happens every so often.
func perHour(every time.Duration) float64 { return float64(time.Hour) / float64(every) }
