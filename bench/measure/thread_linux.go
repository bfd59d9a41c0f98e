package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is how long the calling thread has been on a processor (clock_gettime(2)). It
// is false where the kernel does not say.
func threadTime() (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err == nil
}
