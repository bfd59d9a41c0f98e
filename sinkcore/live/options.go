package live

import (
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// Defaults of [Options].
const (
	DefaultInterval = 10 * time.Second
	DefaultRetain   = 3
)

// Options is how a job runs. The zero value of each field but Sink is the default.
type Options[T any] struct {
	// Sink is how records become files; it needs an Encoder. The directory Sink.Dir,
	// with all below it, belongs to this job alone.
	Sink sinkcore.Config[T]

	// Parallelism is the number of subtasks; records go to them in turn. It may differ
	// from that of the checkpoint that a job goes on from. 0 means 1.
	Parallelism int

	// Interval is the time from the start of one checkpoint to the start of the next,
	// in whole milliseconds. 0 means 10 s.
	Interval time.Duration

	// Retain is how many checkpoint files are kept; 0 means 3. An older one is of use
	// if a newer one is damaged and published nothing, see [Newest].
	Retain int

	// Refused is called for a record that the sink refuses: its bucket id cannot be used
	// or it cannot be encoded. If it returns nil the record is dropped and counted, else
	// the job fails with that error. nil lets the job fail with the sink's error. It is
	// called in Engine.Write and must not call the engine.
	Refused func(record T, err error) error

	// Fs is where the files are; nil means the operating system's file system, the only
	// one on which a second process is kept out.
	Fs afero.Fs

	// Random gives the random bytes of file names, see [sinkcore.NewWriter]; nil means
	// crypto/rand.
	Random io.Reader
}

// validate returns the options with their defaults filled in. What it does not check
// the sink does. The error wraps [sinkcore.ErrConfig] and names the field.
func (o Options[T]) validate() (Options[T], error) {
	if o.Parallelism == 0 {
		o.Parallelism = 1
	}
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Interval < time.Millisecond || o.Interval%time.Millisecond != 0 {
		return o, fmt.Errorf("%w: Interval %v: must be whole milliseconds, at least 1", sinkcore.ErrConfig, o.Interval)
	}
	if err := sinkcore.CheckSchedule(o.Sink.Policy, sinkcore.Schedule{Checkpoint: o.Interval}); err != nil {
		return o, err
	}
	if o.Retain == 0 {
		o.Retain = DefaultRetain
	}
	if o.Retain < 0 {
		return o, fmt.Errorf("%w: Retain %d: must be at least 1", sinkcore.ErrConfig, o.Retain)
	}
	// A record is worth a stop unless somebody has said otherwise.
	if o.Refused == nil {
		o.Refused = func(_ T, err error) error { return err }
	}
	if o.Fs == nil {
		o.Fs = afero.NewOsFs()
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return o, nil
}
