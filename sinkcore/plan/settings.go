package plan

import (
	"cmp"
	"fmt"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Settings are a sink, what arrives at it, and for how long to look. The zero value is the
// zero value of a simulated workload: ten records of 100 bytes a second into one part at a
// time, a checkpoint every 2 s that completes at once, Flink's policy, for an hour.
//
// Durations are whole milliseconds but for those of the arrivals, ten years at most, and
// instants count from the start of the job. A policy's time limits may be longer: they count as
// none.
type Settings struct {
	Policy        sinkcore.RollingPolicy // nil means sinkcore.Default{}; see Limiter for what can be predicted
	CheckInterval time.Duration          // between two checks for old parts; 0 means one minute

	Arrivals   Arrivals // Constant, Poisson or Bursts; nil means Constant{}
	RecordSize int      // bytes; 0 means 100

	// Record n, from 0, goes to bucket n mod Buckets of subtask n / Buckets mod Subtasks, so
	// a round of the buckets goes to one subtask and the next round to the next. 0 means 1.
	Buckets, Subtasks int

	BufferSize int // of a part, bytes; 0 means sinkcore.DefaultBufferSize

	CheckpointInterval time.Duration // from start to start; 0 means 2 s
	FirstCheckpoint    time.Duration // start of the first; it is CheckpointInterval if 0

	// CheckpointDuration is from the start of a checkpoint until it completes. One is under
	// way at a time: the next starts when the interval is over and this one is complete.
	CheckpointDuration time.Duration

	Outages  []Outage      // in order, not overlapping
	Duration time.Duration // of what is looked at; 0 means one hour, at most ten years
}

// What arrives and when no process runs is said as in package sim, so that what is predicted
// can be simulated too.
type (
	Arrivals = sim.Arrivals
	Constant = sim.Constant
	Poisson  = sim.Poisson // any seed: the bounds are for all of them
	Bursts   = sim.Bursts
	Outage   = sim.Outage
)

// validArrivals refuses streams that make no sense, and those that have no shape: records are
// predicted by the shape of their arrivals and not one by one.
func validArrivals(a Arrivals) error {
	switch a := a.(type) {
	case Constant:
		return a.Validate()
	case Poisson:
		return a.Validate()
	case Bursts:
		return a.Validate()
	}
	return fmt.Errorf("%w: Arrivals %v: only Constant, Poisson and Bursts can be predicted; simulate others", sinkcore.ErrConfig, a)
}

// The largest values that the arithmetic of this package has room for.
const (
	maxDuration = 10 * 365 * 24 * time.Hour
	maxRecords  = 1e12
	maxLanes    = 1 << 20
)

// Workload is the same settings for a simulation. BufferSize has no place in it, since nothing
// that is seen depends on it.
func (s Settings) Workload() sim.Workload {
	return sim.Workload{
		Arrivals: s.Arrivals, RecordSize: s.RecordSize, Subtasks: s.Subtasks, Buckets: max(1, s.Buckets),
		CheckpointInterval: s.CheckpointInterval, FirstCheckpoint: s.FirstCheckpoint, CheckpointDuration: s.CheckpointDuration,
		Outages: s.Outages, Duration: s.Duration, Policy: s.Policy, CheckInterval: s.CheckInterval,
	}
}

// Validate returns an error that wraps sinkcore.ErrConfig and names the field if the
// settings make no sense. Each function of this package that takes settings asks first.
func (s Settings) Validate() error {
	_, err := s.validate()
	return err
}

// validate returns the settings with their defaults filled in.
func (s Settings) validate() (Settings, error) {
	if s.Policy == nil {
		s.Policy = sinkcore.Default{}
	}
	if v, ok := s.Policy.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return s, err
		}
	}
	if s.Arrivals == nil {
		s.Arrivals = Constant{}
	}
	if err := validArrivals(s.Arrivals); err != nil {
		return s, err
	}
	s.CheckInterval = cmp.Or(s.CheckInterval, sinkcore.DefaultCheckInterval)
	s.CheckpointInterval = cmp.Or(s.CheckpointInterval, 2*time.Second)
	s.FirstCheckpoint = cmp.Or(s.FirstCheckpoint, s.CheckpointInterval)
	s.Duration = cmp.Or(s.Duration, time.Hour)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"CheckInterval", s.CheckInterval}, {"CheckpointInterval", s.CheckpointInterval}, {"FirstCheckpoint", s.FirstCheckpoint},
		{"CheckpointDuration", s.CheckpointDuration}, {"Duration", s.Duration},
	} {
		if d.value < 0 || d.value%time.Millisecond != 0 {
			return s, fmt.Errorf("%w: %s %v: must be a whole number of milliseconds, not negative", sinkcore.ErrConfig, d.name, d.value)
		}
		if d.value > maxDuration {
			return s, fmt.Errorf("%w: %s %v: must be at most ten years", sinkcore.ErrConfig, d.name, d.value)
		}
	}
	if err := sim.ValidOutages(s.Outages); err != nil {
		return s, err
	}
	for _, n := range []struct {
		name  string
		value *int
		zero  int
	}{
		{"RecordSize", &s.RecordSize, 100}, {"Buckets", &s.Buckets, 1}, {"Subtasks", &s.Subtasks, 1}, {"BufferSize", &s.BufferSize, sinkcore.DefaultBufferSize},
	} {
		*n.value = cmp.Or(*n.value, n.zero)
		if *n.value < 1 {
			return s, fmt.Errorf("%w: %s %d: must be at least 1", sinkcore.ErrConfig, n.name, *n.value)
		}
	}
	if s.Buckets > maxLanes || s.Subtasks > maxLanes/s.Buckets {
		return s, fmt.Errorf("%w: Buckets %d, Subtasks %d: there may be %d pairs of the two at most", sinkcore.ErrConfig, s.Buckets, s.Subtasks, maxLanes)
	}
	if most := s.rate() * s.Duration.Seconds(); most > maxRecords {
		return s, fmt.Errorf("%w: Duration %v: %.3g records arrive, which is more than %.0g; look at a shorter time", sinkcore.ErrConfig, s.Duration, most, float64(maxRecords))
	}
	return s, nil
}

// rate is the mean number of records a second of settings that have been validated.
func (s Settings) rate() float64 {
	switch a := s.Arrivals.(type) {
	case Constant:
		return float64(time.Second) / float64(a.Filled().Interval)
	case Poisson:
		return float64(time.Second) / float64(a.Filled().Interval)
	case Bursts:
		f := a.Filled()
		return float64(f.Size) * float64(time.Second) / float64(f.Every)
	}
	return 0
}

// lanes is the number of pairs of a subtask and a bucket. Each writes one part at a time
// and knows nothing of the others, which is why it is what everything here is derived for.
func (s Settings) lanes() int64 { return int64(s.Buckets) * int64(s.Subtasks) }
