package sim

import (
	"fmt"
	"math"
	"strconv"
)

// Advance moves the clock on by so many milliseconds. It is the one operation in which
// timers fire.
type Advance int64

func parseAdvance(args []string) (Operation, error) {
	if len(args) != 1 {
		return nil, errArgs("advance MS")
	}
	n, err := number("time", args[0], 0)
	return Advance(n), err
}

// String gives the milliseconds.
func (a Advance) String() string { return "advance " + strconv.FormatInt(int64(a), 10) }

// Play moves the clock in steps of the tick, the last one shorter where it does not
// divide. After each step the timers that have become due fire, subtask by subtask.
// Steps at which no timer is due are passed over at once, so an hour costs as much as the
// timers in it.
//
// The steps are those of the recorded traces: there a timer fires at the first step that
// reaches it, up to a tick late, and the next one is counted from then. Another tick is
// another history.
func (a Advance) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	if r.now > math.MaxInt64-int64(a) {
		return fmt.Errorf("%w: the clock would overflow", ErrProgram)
	}
	// Invariant: every timer that is due by now has fired, and now is no later than end. A
	// sink whose NextTick stays in the past after a Tick is called again at each step, and
	// so the loop ends all the same.
	for end := r.now + int64(a); r.now < end; {
		step := r.tick
		if due := sink.NextTick(); due > end {
			r.now = end
			break
		} else if due > r.now {
			// The first step that reaches the timer, of those that start at now.
			step = (due-r.now-1)/r.tick*r.tick + r.tick
		}
		if step <= 0 || step > end-r.now {
			step = end - r.now
		}
		r.now += step
		if err := sink.Tick(r.now); err != nil {
			return err
		}
	}
	return nil
}
