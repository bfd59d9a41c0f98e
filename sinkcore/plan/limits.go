package plan

import (
	"fmt"
	"time"

	"sinklab/sinkcore"
)

// Limits is all that decides when a policy closes a part, if nothing else does. A part is
// closed
//
//   - by a check at t if t >= created + Rollover or t >= updated + Inactivity, where
//     updated is when its newest record was written;
//   - before a record, and at a checkpoint, if it has more than Size bytes;
//   - at every checkpoint, if AtCheckpoint.
type Limits struct {
	Size         int64         // bytes; 0 means no limit
	Rollover     time.Duration // 0 means no limit
	Inactivity   time.Duration // 0 means no limit
	AtCheckpoint bool
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
// AnyOf has the smaller of each limit of the two, because it closes a part at the
// earlier of two instants: "t >= a or t >= b" is "t >= min(a, b)", and "size > a or size >
// b" is "size > min(a, b)".
func LimitsOf(policy sinkcore.RollingPolicy) (Limits, error) {
	switch p := policy.(type) {
	case Limiter:
		return p.Limits(), nil
	case nil:
		return LimitsOf(sinkcore.Default{})
	case sinkcore.Default:
		f := p.Filled()
		return Limits{Size: f.Size, Rollover: f.Rollover, Inactivity: f.Inactivity}, nil
	case sinkcore.OnCheckpoint:
		return Limits{AtCheckpoint: true}, nil
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

// or is the limits of a policy that closes a part when either would.
func (l Limits) or(m Limits) Limits {
	return Limits{
		Size:         smaller(l.Size, m.Size),
		Rollover:     smaller(l.Rollover, m.Rollover),
		Inactivity:   smaller(l.Inactivity, m.Inactivity),
		AtCheckpoint: l.AtCheckpoint || m.AtCheckpoint,
	}
}

// smaller is the smaller of two limits of which 0 is none.
func smaller[T int64 | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
