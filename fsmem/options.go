package fsmem

import (
	"fmt"
	"io/fs"
	"time"
)

// Options are the settings of a file system. The zero value is a file system
// without limits, used by the superuser, on which time stands still.
type Options struct {
	// Now is the source of modification times. Nil is a clock that stands at
	// 1970-01-01T00:00:00Z. It must not call the file system.
	Now func() time.Time

	// Sleep lets time pass for a stalled operation (see Rule). Nil means that a
	// stall takes no time. It is called without any lock held.
	Sleep func(time.Duration)

	// Umask holds the permission bits that new files and directories do not
	// get, as in umask(2). 0 is 0022, which is what most systems start with;
	// NoUmask takes no bits away.
	Umask fs.FileMode

	// UID and GID are the user and group on whose behalf all calls are made and
	// who own what they create. UID 0 is the superuser, whom permission bits do
	// not stop, as in path_resolution(7).
	UID, GID int

	// SectorSize is the number of bytes that the disk writes as a whole; a
	// write interrupted by a crash is torn at multiples of it. 0 is 512.
	SectorSize int

	// Quota is the number of bytes that files may use together; a write beyond
	// it stores what fits and fails with ENOSPC. Holes use nothing, and removing
	// or truncating a file frees its bytes. 0 is no limit.
	Quota int64

	// OpenFiles is the number of handles that may be open at once; opening one
	// more fails with EMFILE. 0 is no limit.
	OpenFiles int

	// NoPlaces leaves OpenHandle.Place empty. Finding the place takes longer than
	// opening; who opens millions of files to see whether one is left can do
	// without it.
	NoPlaces bool
}

// NoUmask is the Options.Umask that takes no permission bits away.
const NoUmask fs.FileMode = 1 << 31

// validate returns an *OptionError for the first setting that makes no sense.
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

// OptionError says which field of Options or WrapOptions cannot be used.
type OptionError struct{ Field, Problem string }

func (e *OptionError) Error() string {
	return "fsmem: option " + e.Field + ": " + e.Problem
}
