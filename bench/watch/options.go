package watch

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/spf13/afero"
)

// Defaults of Options.
const (
	DefaultEvery = 200 * time.Millisecond
	DefaultSweep = 10 * time.Second
)

// ErrOptions: an option has a value that cannot work. Correct it and start again.
var ErrOptions = errors.New("bad option")

// Options say what to watch. Only Dir is needed.
type Options struct {
	// Dir is the directory, with all that are below it. It may be made later.
	Dir string

	// Format says how to read a record and where its time is.
	Format Format

	// Hidden are the patterns (path.Match) of names that a reader passes over, of files and
	// of directories. Nil are ".*" and "_*", which is the rule of Hadoop's FileInputFormat;
	// an empty list hides nothing. The name of Dir itself is not looked at.
	Hidden []string

	// Every is the time between two looks, and no latency is known better; what it was in truth
	// is [Result.Resolution]. Whoever calls [Watcher.Look] keeps it; here it is for the results. 0
	// is DefaultEvery.
	Every time.Duration

	// Sweep is the time after which every directory is listed anew, although there was no
	// notice of a change, because notices and times of directories may not tell all. 0 is
	// DefaultSweep.
	Sweep time.Duration

	// Notices say what has changed. Nil if there are none: every directory is looked at
	// every time then. They remain the caller's to close.
	Notices Notices

	// Fs is where Dir is. Nil is the operating system's.
	Fs afero.Fs

	// Now is the time in milliseconds since 1970 on the clock that the records' times are
	// of. Nil is the computer's. Where the writer is another computer, the difference of
	// the two clocks is in every latency.
	Now func() int64
}

// validate puts in what the zero values stand for.
func (o *Options) validate() error {
	if o.Dir == "" {
		return fmt.Errorf("%w: there is no directory to watch", ErrOptions)
	}
	if err := o.Format.validate(); err != nil {
		return err
	}
	if o.Hidden == nil {
		o.Hidden = []string{".*", "_*"}
	}
	for _, pattern := range o.Hidden {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%w: the pattern %q of hidden names: %w", ErrOptions, pattern, err)
		}
	}
	if o.Every < 0 || o.Sweep < 0 {
		return fmt.Errorf("%w: Every is %v and Sweep %v; they cannot be negative", ErrOptions, o.Every, o.Sweep)
	}
	if o.Every == 0 {
		o.Every = DefaultEvery
	}
	if o.Sweep == 0 {
		o.Sweep = DefaultSweep
	}
	if o.Fs == nil {
		o.Fs = afero.NewOsFs()
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	return nil
}
