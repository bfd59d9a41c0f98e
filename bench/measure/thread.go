package measure

import (
	"runtime"
	"time"
)

// OnProcessor returns how long a function was on a processor. That is for what waits for
// nothing, as writing to the page cache: when other programs have the processor that says nothing
// about this one. Where the kernel does not tell it is the time on a clock. The error is the
// function's.
func OnProcessor(f func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, ok := threadTime()
	start := time.Now()
	err := f()
	took := time.Since(start)
	if after, _ := threadTime(); ok {
		// Asking takes longer than some of what is timed, so the clock goes first. Without
		// an interruption it shows less.
		took = min(took, after-before)
	}
	return took, err
}
