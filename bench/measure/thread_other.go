//go:build !linux

package measure

import "time"

// threadTime is how long the calling thread has been on a processor; false, since this
// system is not asked.
func threadTime() (time.Duration, bool) { return 0, false }
