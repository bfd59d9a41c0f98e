//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package live

import (
	"errors"
	"fmt"
	"syscall"
)

// lockFile locks an open file for this process, or says that another has it.
func lockFile(fd uintptr) error {
	for {
		err := syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("%w: %w", ErrLocked, err)
		}
		return err
	}
}
