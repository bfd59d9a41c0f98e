package sinkcore

import (
	"math"
	"time"
)

// Schedule is what besides the policy decides when a record becomes visible.
type Schedule struct {
	Check      time.Duration // between two checks; 0 means DefaultCheckInterval
	Checkpoint time.Duration // from the start of one checkpoint to the start of the next; 0 means there are none
	Duration   time.Duration // from the start of a checkpoint until its completion has been acted on
}

// between is the time from the start of one checkpoint to that of the next. One is under
// way at a time, as engines have it by default, so one that takes longer than the interval
// holds up the next.
func (s Schedule) between() time.Duration { return max(s.Checkpoint, s.Duration) }

// WorstLatency returns the longest time from the moment a record is written until a
// reader can see it, for any arrivals, and true; or false if there is no such bound
// because there are no checkpoints or because the policy states none.
//
// The bound holds while timers fire when they are due, checkpoints keep their
// interval and complete, the clock does not jump, and the sink is not restored. An
// outage adds its length, and up to the same bound once more: what the newest completed
// checkpoint does not cover is written again at its end and waits anew. It is tight: for each
// built-in policy there are arrivals that wait exactly so long. Where Duration is longer than
// Checkpoint it stands for both, since one checkpoint is under way at a time.
//
//   - [OnCheckpoint]: Checkpoint + Duration. The worst record is written just after
//     the checkpoint's barrier and waits for the next one.
//   - [Default]: Rollover + Check - 1 ms + Checkpoint + Duration. The worst record is
//     the first of its part and finds itself one millisecond too young at a check; the
//     next check, Check later, closes the part, at Rollover - 1 ms + Check. The worst
//     such check comes just after a barrier. If Inactivity is shorter than Rollover it
//     helps only a stream that pauses, and the bound is for any arrivals.
//   - [Deadline]: Within, if the schedule is what the policy was told.
//   - [AnyOf]: the smaller of the two.
//
// A policy of the user's own can take part by a method
// WorstLatency(Schedule) (time.Duration, bool).
func WorstLatency(policy RollingPolicy, s Schedule) (time.Duration, bool) {
	if p, ok := policy.(interface {
		WorstLatency(Schedule) (time.Duration, bool)
	}); ok {
		return p.WorstLatency(s)
	}
	return 0, false
}

// WorstLatency is Rollover + Check - 1 ms + Checkpoint + Duration; see the function
// [WorstLatency].
func (p Default) WorstLatency(s Schedule) (time.Duration, bool) {
	if s.Check == 0 {
		s.Check = DefaultCheckInterval
	}
	return s.bound(p.Filled().Rollover, s.Check-time.Millisecond)
}

// WorstLatency is Checkpoint + Duration; see the function [WorstLatency].
func (OnCheckpoint) WorstLatency(s Schedule) (time.Duration, bool) { return s.bound() }

// bound adds the wait of a closed part to the times that it takes to be closed. A sum
// longer than 292 years is no bound, nor is one with a negative part.
func (s Schedule) bound(untilClosed ...time.Duration) (time.Duration, bool) {
	if s.Checkpoint <= 0 {
		return 0, false
	}
	sum := s.between()
	for _, d := range append(untilClosed, s.Duration) {
		if d < 0 || sum > math.MaxInt64-d {
			return 0, false
		}
		sum += d
	}
	return sum, true
}

// WorstLatency is the smaller of the two; see the function [WorstLatency].
func (p AnyOf) WorstLatency(s Schedule) (time.Duration, bool) {
	first, ok := WorstLatency(p.First, s)
	second, okToo := WorstLatency(p.Second, s)
	switch {
	case ok && okToo:
		return min(first, second), true
	case ok:
		return first, true
	}
	return second, okToo
}
