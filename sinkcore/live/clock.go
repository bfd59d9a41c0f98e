package live

import "time"

// Clock is where [Run] and [Files] take the time from. Its methods may be called from
// any goroutine.
type Clock interface {
	// Now is the time in milliseconds since 1970. It must not go backwards: check
	// timers and checkpoints would wait until it is where it was.
	Now() int64

	// Timer returns a channel that can be received from once Now is due or later, at
	// once if it is already. Stop gives up waiting; it may be called at any time.
	Timer(due int64) (fired <-chan time.Time, stop func())
}

// SystemClock returns a clock that starts at the computer's time of day and goes on
// with its monotonic clock. So a step of the time of day, by an administrator or by NTP,
// neither stops the timers nor fires them early; buckets named by the time of day
// follow the step when the job is restarted.
func SystemClock() Clock {
	start := time.Now()
	return systemClock{start: start, at: start.UnixMilli()}
}

type systemClock struct {
	start time.Time
	at    int64 // start, in milliseconds since 1970
}

// Now adds what the monotonic clock has measured since the start.
func (c systemClock) Now() int64 { return c.at + time.Since(c.start).Milliseconds() }

// Timer waits one millisecond longer than the difference in whole milliseconds, so that
// Now has got there when it fires and nobody has to wait a second time.
func (c systemClock) Timer(due int64) (<-chan time.Time, func()) {
	wait := due - c.Now()
	if wait > 0 {
		// Longer than a day is a day: who finds it too early waits again, and the sum
		// cannot overflow.
		wait = min(wait, 24*time.Hour.Milliseconds()) + 1
	}
	t := time.NewTimer(time.Duration(max(wait, 0)) * time.Millisecond)
	return t.C, func() { t.Stop() }
}
