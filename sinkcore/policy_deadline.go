package sinkcore

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Deadline keeps a promise: every record is visible Within so long of being written,
// whether more records come or not, and in as few files as that allows.
//
// It closes a part at the last checkpoint whose completion still shows the part's first
// record in time. Had it let a checkpoint at t pass, the next one would start at
// t + Checkpoint and show it at t + Checkpoint + Duration; so it closes at t if that is later
// than the part's creation + Within, and leaves the part open if it is not. Nothing
// depends on the check timer, so no check interval is added to the latency, as it is with
// [Default], and an idle stream is bounded like any other: checkpoints come without records
// too.
//
// The number of files is the least possible. Whatever a sink does, the first record of a
// file waits until a checkpoint that starts no later than Within - Duration after it, and
// all records of the file were written before that one starts. To close as late as possible
// and begin the next file with the next record is the greedy cover of the records by such
// stretches, and no cover has fewer. A sink that could publish at any instant could stretch a
// file to Within - Duration; this one closes at most one Checkpoint before that.
//
// It holds while checkpoints start at least every Checkpoint and complete within Duration, and
// the clock does not jump. When checkpoints are late, no policy can help, but this one is late
// by no more than the delay; a clock that is set back adds at most the step, and a part that
// comes from the future is closed at once. An outage adds what [WorstLatency] says. Give the
// longest Duration that has been seen, not the mean.
type Deadline struct {
	Within     time.Duration // from a record's arrival until it is visible, whole milliseconds; at least Checkpoint + Duration
	Checkpoint time.Duration // from the start of a checkpoint to that of the next, whole milliseconds; greater than 0
	Duration   time.Duration // of a checkpoint at most, until its completion has been acted on, whole milliseconds

	// Target closes a part when it has so many bytes, if the deadline does not come
	// before; the part may exceed it by one record. 0 means that the deadline alone counts.
	Target int64
}

// Validate returns an error that wraps [ErrConfig] if the promise cannot be kept: a record
// that is written just after the start of a checkpoint waits for the next one and its
// completion, whatever the policy. A checkpoint that takes longer than the interval delays
// the next one.
func (p Deadline) Validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Within", p.Within}, {"Checkpoint", p.Checkpoint}, {"Duration", p.Duration}} {
		if err := validMillis("policy Deadline: "+d.name, d.value); err != nil {
			return err
		}
	}
	if p.Checkpoint == 0 {
		return fmt.Errorf("%w: policy Deadline: Checkpoint is missing: it must know when the next checkpoint comes", ErrConfig)
	}
	if least := p.interval() + p.Duration; p.Within < least || least < 0 {
		return fmt.Errorf("%w: policy Deadline: Within %v: no record can be visible sooner than %v, the wait for the next checkpoint and its completion", ErrConfig, p.Within, least)
	}
	if p.Target < 0 {
		return fmt.Errorf("%w: policy Deadline: Target %d: must be a number of bytes, 0 for none", ErrConfig, p.Target)
	}
	return nil
}

// interval is from the start of a checkpoint to that of the next. One is under way at a
// time.
func (p Deadline) interval() time.Duration { return max(p.Checkpoint, p.Duration) }

// RollOnEvent closes a part that has reached Target.
func (p Deadline) RollOnEvent(part PartInfo) Reason {
	if p.Target > 0 && part.Size >= p.Target {
		return Size
	}
	return None
}

// RollOnCheckpoint closes a part that the next checkpoint would show too late, and one
// that has reached Target.
func (p Deadline) RollOnCheckpoint(part PartInfo, now int64) Reason {
	if now > addMillis(part.CreationTime, p.slack().Milliseconds()) {
		return Age
	}
	if now < part.CreationTime {
		return Age // the clock was set back; nobody knows how old the part is
	}
	return p.RollOnEvent(part)
}

// RollAt is never: it is checkpoints that count.
func (p Deadline) RollAt(PartInfo) (int64, Reason) { return Never, None }

// WorstLatency is Within, if checkpoints are as often and as quick as it was told. If they
// are not, it is what both differ by longer, or shorter.
func (p Deadline) WorstLatency(s Schedule) (time.Duration, bool) {
	// The part stays open at a checkpoint that comes that long after its creation, at the
	// latest; then comes the next one.
	return s.bound(p.slack())
}

// CheckSchedule returns an error that wraps [ErrConfig] if a policy promises what it cannot
// keep with these checkpoints: a [Deadline], alone or in an [AnyOf], that was told of more frequent or
// shorter ones. A driver that knows its schedule asks before it starts.
func CheckSchedule(policy RollingPolicy, s Schedule) error {
	switch p := policy.(type) {
	case AnyOf:
		if err := CheckSchedule(p.First, s); err != nil {
			return err
		}
		return CheckSchedule(p.Second, s)
	case Deadline:
		worst, ok := p.WorstLatency(s)
		if ok && worst <= p.Within {
			return nil
		}
		return fmt.Errorf("%w: policy Deadline promises %v for checkpoints every %v that take %v; there is one every %v, which takes %v: tell it so, or checkpoint more often",
			ErrConfig, p.Within, p.Checkpoint, p.Duration, s.Checkpoint, s.Duration)
	}
	return nil
}

// slack is how old a part may be at a checkpoint that leaves it open. Policies of the same
// slack close parts at the same checkpoints.
func (p Deadline) slack() time.Duration { return p.Within - p.interval() - p.Duration }

// and is the policy that closes parts as soon as one of two would.
func (p Deadline) and(q Deadline) Deadline {
	tighter := p
	if q.slack() < p.slack() {
		tighter = q
	}
	tighter.Target = min(p.Target, q.Target)
	if tighter.Target == 0 {
		tighter.Target = max(p.Target, q.Target) // one of them has none
	}
	return tighter
}

// quietSize, as of the function of that name.
func (p Deadline) quietSize() int64 {
	if p.Target > 0 {
		return p.Target - 1
	}
	return math.MaxInt64
}

// String gives "policy=deadline within=60000 checkpoint=2000", and duration= and target=
// if they are not 0, durations in milliseconds.
func (p Deadline) String() string {
	text := "policy=deadline within=" + strconv.FormatInt(p.Within.Milliseconds(), 10) +
		" checkpoint=" + strconv.FormatInt(p.Checkpoint.Milliseconds(), 10)
	if p.Duration != 0 {
		text += " duration=" + strconv.FormatInt(p.Duration.Milliseconds(), 10)
	}
	if p.Target != 0 {
		text += " target=" + strconv.FormatInt(p.Target, 10)
	}
	return text
}
