package fsmem

import (
	"fmt"
	"io/fs"
	"time"
)

// Options are the settings of a file system. The zero value is a file system
// without limits, used by the superuser, on which time stands still.
//
// A crash keeps them: the computer comes up with the same disk, clock and user.
// Those that a test may want to change on the way have a Set method on FS.
type Options struct {
	// Now is the source of modification times. Nil is a clock that stands at
	// 1970-01-01T00:00:00Z. It is called once for each operation that may need it,
	// before the lock is taken, and by several goroutines if several use the file
	// system. It must not call the file system.
	Now func() time.Time

	// Sleep lets time pass for a stalled operation (see Rule). Nil means that a
	// stall takes no time. It is called without any lock held, so that other
	// goroutines go on, as they do while one waits for a slow disk.
	Sleep func(time.Duration)

	// Umask holds the permission bits that new files and directories do not
	// get, as in umask(2). 0 is 0022, which is what most systems start with;
	// NoUmask takes no bits away. Other bits than those of permissions are an
	// error.
	Umask fs.FileMode

	// UID and GID are the user and group on whose behalf all calls are made and
	// who own what they create. UID 0 is the superuser, whom permission bits do
	// not stop, as in path_resolution(7). For any other, a call that the bits
	// forbid fails with EACCES, and one that only the owner may make with EPERM.
	// The root directory belongs to the user that New was called for. There are
	// no supplementary groups.
	UID, GID int

	// SectorSize is the number of bytes that the disk writes as a whole; a
	// write interrupted by a crash is torn at multiples of it, counted from the
	// beginning of the file. 0 is 512, the least that a disk promises. 1 tears
	// anywhere, which is more than any disk does, but gives small tests the torn
	// writes that only large ones meet; each place where a write may be torn is
	// one more state in Outcomes.
	SectorSize int

	// Quota is the number of bytes that files may use together; a write beyond
	// it stores what fits and fails with ENOSPC (write(2)). The caller finds how
	// much that is in the count that comes with the error. Holes use nothing, and
	// truncating a file frees its bytes, as does removing it once no handle is
	// open on it. Names and directories are free. 0 is no limit.
	Quota int64

	// OpenFiles is the number of handles that may be open at once, directories
	// included; opening one more fails with EMFILE (getrlimit(2), RLIMIT_NOFILE),
	// before the path is looked at. 0 is no limit.
	OpenFiles int

	// NoPlaces leaves OpenHandle.Place empty. Finding the place takes longer than
	// opening: the runtime has to walk up the stack. A property that plays
	// millions of programs can do without it, and play the one that failed again
	// with places.
	NoPlaces bool
}

// NoUmask is the Options.Umask that takes no permission bits away. There has to
// be one because the zero Umask is the usual one, and not umask 0.
const NoUmask fs.FileMode = 1 << 31

// validate returns an *OptionError for the first setting that makes no sense. It
// runs before setDefaults, and so accepts the zero value of each.
func (o *Options) validate() error {
	switch {
	case o.Umask != NoUmask && o.Umask&^fs.ModePerm != 0:
		return &OptionError{"Umask", fmt.Sprintf("%#o has other than permission bits", uint32(o.Umask))}
	case o.UID < 0 || o.GID < 0:
		return &OptionError{"UID", fmt.Sprintf("%d:%d is not a user and group", o.UID, o.GID)}
	case o.SectorSize < 0:
		return &OptionError{"SectorSize", fmt.Sprintf("%d is negative", o.SectorSize)}
	case o.Quota < 0:
		return &OptionError{"Quota", fmt.Sprintf("%d is negative", o.Quota)}
	case o.OpenFiles < 0:
		return &OptionError{"OpenFiles", fmt.Sprintf("%d is negative", o.OpenFiles)}
	}
	return nil
}

// setDefaults puts in what the zero values stand for, so that the rest of the
// package does not ask. Umask 0 and NoUmask change places here.
func (o *Options) setDefaults() {
	if o.Now == nil {
		epoch := time.Unix(0, 0).UTC()
		o.Now = func() time.Time { return epoch }
	}
	if o.Sleep == nil {
		o.Sleep = func(time.Duration) {}
	}
	switch o.Umask {
	case 0:
		o.Umask = 0o022
	case NoUmask:
		o.Umask = 0
	}
	if o.SectorSize == 0 {
		o.SectorSize = 512
	}
}

// OptionError says which field of Options cannot be used, and why. New has no
// error result, so every call on the file system that it makes returns this one,
// inside the *fs.PathError or *os.LinkError of the call; errors.As finds it.
// Nothing but the program can put it right.
type OptionError struct{ Field, Problem string }

// Error names the field as it is spelled in Options.
func (e *OptionError) Error() string {
	return "fsmem: option " + e.Field + ": " + e.Problem
}
