package plan

import (
	"fmt"
	"math"
	"time"

	"sinklab/sinkcore"
)

// Limits is all that decides when a policy closes a part, if nothing else does. A part is
// closed
//
//   - by a check at t if t >= created + Rollover or t >= updated + Inactivity, where
//     updated is when its newest record was written;
//   - before a record, and at a checkpoint, if it has Bytes or more;
//   - by a checkpoint at t, if AtCheckpoint, if t > created + OlderThan.
//
// A time of ten years or more, the longest Duration, counts as no limit.
type Limits struct {
	Bytes        int64         // 0 means no limit
	Rollover     time.Duration // 0 means no limit
	Inactivity   time.Duration // 0 means no limit
	AtCheckpoint bool
	OlderThan    time.Duration // 0 means that each checkpoint closes every part; without AtCheckpoint it means nothing
}

// Limiter is a rolling policy that can state its own limits. If it does, and closes parts
// exactly as [Limits] says, [Predict] is as exact for it as for those of sinkcore.
type Limiter interface {
	Limits() Limits
}

// Predictor is a rolling policy whose behaviour limits cannot say, but which can
// predict it itself. [Predict] leaves the settings to it, with their defaults filled in.
type Predictor interface {
	Predict(Settings) (Prediction, error)
}

// LimitsOf gives the limits of a policy: of each of sinkcore, and of a [Limiter]. For
// another the error wraps [ErrUnknownPolicy].
//
// Default's limit is on parts larger than Size, so Bytes is one more; Deadline closes a part
// at the checkpoint at t if t + interval + duration, at which the next one is complete, is
// more than Within after the part was made. AnyOf has the smaller of each limit of the two,
// because it closes a part at the earlier of two instants: "t >= a or t >= b" is "t >=
// min(a, b)".
func LimitsOf(policy sinkcore.RollingPolicy) (Limits, error) {
	switch p := policy.(type) {
	case Limiter:
		return p.Limits(), nil
	case nil:
		return LimitsOf(sinkcore.Default{})
	case sinkcore.Default:
		f := p.Filled()
		return Limits{Bytes: min(f.Size, math.MaxInt64-1) + 1, Rollover: f.Rollover, Inactivity: f.Inactivity}, nil
	case sinkcore.OnCheckpoint:
		return Limits{AtCheckpoint: true}, nil
	case sinkcore.Deadline:
		return Limits{Bytes: p.Target, AtCheckpoint: true, OlderThan: p.Within - max(p.Checkpoint, p.Duration) - p.Duration}, nil
	case sinkcore.AnyOf:
		first, err := LimitsOf(p.First)
		if err != nil {
			return Limits{}, err
		}
		second, err := LimitsOf(p.Second)
		return first.or(second), err
	}
	return Limits{}, fmt.Errorf("%w: %v: give it a method Limits, or Predict", ErrUnknownPolicy, policy)
}

// finite is the limits without those of ten years or more, which nothing that is looked at lasts.
func (l Limits) finite() Limits {
	if l.Rollover >= maxDuration {
		l.Rollover = 0
	}
	if l.Inactivity >= maxDuration {
		l.Inactivity = 0
	}
	if l.OlderThan >= maxDuration {
		l.AtCheckpoint, l.OlderThan = false, 0
	}
	return l
}

// or is the limits of a policy that closes a part when either would.
func (l Limits) or(m Limits) Limits {
	out := Limits{
		Bytes:        smaller(l.Bytes, m.Bytes),
		Rollover:     smaller(l.Rollover, m.Rollover),
		Inactivity:   smaller(l.Inactivity, m.Inactivity),
		AtCheckpoint: l.AtCheckpoint || m.AtCheckpoint,
	}
	switch {
	case l.AtCheckpoint && m.AtCheckpoint:
		out.OlderThan = min(l.OlderThan, m.OlderThan)
	case l.AtCheckpoint:
		out.OlderThan = l.OlderThan
	default:
		out.OlderThan = m.OlderThan
	}
	return out
}

// smaller is the smaller of two limits of which 0 is none.
func smaller[T int64 | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
