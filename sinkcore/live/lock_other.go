//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package live

import "errors"

// lockFile refuses: two processes on one directory would destroy each other's files.
func lockFile(uintptr) error { return errors.ErrUnsupported }
