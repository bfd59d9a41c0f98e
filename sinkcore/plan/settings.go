package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"sinklab/sinkcore"
)

// Settings are a sink, what arrives at it, and for how long to look. The zero value is the
// zero value of a simulated workload: ten records of 100 bytes a second into one part at a
// time, a checkpoint every 2 s that completes at once, Flink's policy, for an hour.
//
// Durations are whole milliseconds but for those of the arrivals, and instants count
// from the start of the job.
type Settings struct {
	Policy        sinkcore.RollingPolicy // nil means sinkcore.Default{}; see Limiter for what can be predicted
	CheckInterval time.Duration          // between two checks for old parts; 0 means one minute

	Arrivals   Arrivals // nil means Constant{}
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

// Outage is a time in which no process runs. It dies at From, when all else of that
// instant has happened, with the checkpoint that is under way. At To the sink is restored
// from the newest completed checkpoint; the source sends what that does not cover and what
// has arrived meanwhile, all in that instant; the check timer starts anew, and the next
// checkpoint starts one interval later.
type Outage struct {
	From, To time.Duration
}

// Arrivals say when records arrive: [Constant], [Poisson] or [Bursts]. They are predicted by
// their shape and not record by record, so there can be no others.
type Arrivals interface {
	// String gives the arrivals as key=value words, durations in milliseconds.
	String() string

	validate() error
}

// Constant is one record after the other at an interval. The zero value is ten records a
// second. An instant is rounded down to a millisecond when a clock reads it.
type Constant struct {
	Interval time.Duration // 0 means 100 ms
	First    time.Duration // of the first record; it is Interval if 0
}

// Poisson is records that know nothing of each other, as those of many independent senders
// together: the gaps have an exponential distribution.
type Poisson struct {
	Interval time.Duration // the mean; 0 means 100 ms
}

// Bursts is records in bursts with silence between them. The zero value is a burst of
// 600 records every minute, one a millisecond.
type Bursts struct {
	Size     int           // records in a burst; 0 means 600
	Every    time.Duration // from the start of a burst to that of the next; 0 means a minute
	Interval time.Duration // between two records of a burst; 0 means 1 ms
	First    time.Duration // start of the first burst
}

// String gives "arrivals=constant interval=100 first=50".
func (c Constant) String() string {
	c = c.filled()
	return "arrivals=constant interval=" + millis(c.Interval) + " first=" + millis(c.First)
}

// String gives "arrivals=poisson interval=100".
func (p Poisson) String() string { return "arrivals=poisson interval=" + millis(p.filled().Interval) }

// String gives "arrivals=bursts size=600 every=60000 interval=1 first=0".
func (b Bursts) String() string {
	b = b.filled()
	return fmt.Sprintf("arrivals=bursts size=%d every=%s interval=%s first=%s", b.Size, millis(b.Every), millis(b.Interval), millis(b.First))
}

func (c Constant) filled() Constant {
	c.Interval = cmp.Or(c.Interval, 100*time.Millisecond)
	c.First = cmp.Or(c.First, c.Interval)
	return c
}

func (p Poisson) filled() Poisson {
	p.Interval = cmp.Or(p.Interval, 100*time.Millisecond)
	return p
}

func (b Bursts) filled() Bursts {
	b.Size = cmp.Or(b.Size, 600)
	b.Every = cmp.Or(b.Every, time.Minute)
	b.Interval = cmp.Or(b.Interval, time.Millisecond)
	return b
}

func (c Constant) validate() error {
	return notNegative("arrivals", c.Interval, c.First)
}

func (p Poisson) validate() error {
	return notNegative("arrivals", p.Interval)
}

func (b Bursts) validate() error {
	if err := notNegative("arrivals", b.Every, b.Interval, b.First); err != nil {
		return err
	}
	f := b.filled()
	if f.Size < 0 || time.Duration(f.Size-1) > (f.Every-1)/f.Interval {
		return fmt.Errorf("%w: arrivals: a burst of %d records %v apart must be over before the next one, %v later", sinkcore.ErrConfig, f.Size, f.Interval, f.Every)
	}
	return nil
}

func notNegative(what string, durations ...time.Duration) error {
	for _, d := range durations {
		if d < 0 {
			return fmt.Errorf("%w: %s: %v is negative", sinkcore.ErrConfig, what, d)
		}
	}
	return nil
}

// millis prints a duration in milliseconds, with a fraction only if there is one.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

// The largest values that the arithmetic of this package has room for.
const (
	maxDuration = 10 * 365 * 24 * time.Hour
	maxRecords  = 1e12
	maxLanes    = 1 << 20
)

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
	if err := s.Arrivals.validate(); err != nil {
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
	}
	if s.Duration > maxDuration {
		return s, fmt.Errorf("%w: Duration %v: must be at most ten years", sinkcore.ErrConfig, s.Duration)
	}
	last := time.Duration(0)
	for i, o := range s.Outages {
		if o.From < last || o.To < o.From || o.From%time.Millisecond != 0 || o.To%time.Millisecond != 0 {
			return s, fmt.Errorf("%w: outage %d from %v to %v: must be whole milliseconds, in order and not overlap", sinkcore.ErrConfig, i, o.From, o.To)
		}
		last = o.To
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
		return float64(time.Second) / float64(a.filled().Interval)
	case Poisson:
		return float64(time.Second) / float64(a.filled().Interval)
	case Bursts:
		f := a.filled()
		return float64(f.Size) * float64(time.Second) / float64(f.Every)
	}
	return 0
}

// lanes is the number of pairs of a subtask and a bucket. Each writes one part at a time
// and knows nothing of the others, which is why it is what everything here is derived for.
func (s Settings) lanes() int64 { return int64(s.Buckets) * int64(s.Subtasks) }
