package sinktest

import (
	"io"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// Sink is what to implement: a sink of one subtask. It is used by one goroutine, reads
// no clock, and touches nothing but what its [Setup] gives. Times are milliseconds
// since 1970 in virtual time.
//
// The bucket of a record is the text before its last "/", or "" if there is none; it is
// a directory below Setup.Dir. A record never has white space in it. A sink writes
// each record as a line, record and "\n", into some file of the bucket's directory.
//
// A method that returns an error because the file system did so is called no more, or
// should refuse if it is: the engine closes the sink and restores a new one.
type Sink interface {
	// Write takes a record. It may be in a visible file once a checkpoint after it has
	// completed, and not before.
	Write(record string, now int64) error

	// Tick lets timers fire. It is called when the sink has started, and from then on
	// when the time is reached that it returned last. [Never] is no timer.
	Tick(now int64) (next int64, err error)

	// Prepare takes a checkpoint: it returns all that Restore needs to go on from here.
	// The ids ascend. What the state names must be on disk when Prepare returns, since the
	// power may fail in the next moment: the bytes, and the names, which an fsync of the directory
	// does, and of the one above each that the sink has made, Setup.Dir included. Nothing of it
	// may be visible yet, since the checkpoint may fail elsewhere.
	Prepare(checkpoint, now int64) (state []byte, err error)

	// Commit tells that the checkpoint has completed: now what it and all before it
	// cover may be shown. It is called late, twice, out of order, or not at all,
	// and then the next one stands for it too.
	Commit(checkpoint int64) error

	// EndInput tells that no record comes any more. The Prepare and Commit that come
	// next have to show every record.
	EndInput() error

	// Close releases what the process holds, as its death would. It is always called, shows
	// nothing and removes nothing.
	Close() error
}

// Aborter is implemented by a sink that wants to know which checkpoints will never
// complete. What they cover must be shown by the next one that does.
type Aborter interface {
	Abort(checkpoint int64) error
}

// Never is a time that is not reached, for [Sink].Tick.
const Never = sinkcore.Never

// Setup is what a sink starts with.
type Setup struct {
	Fs  afero.Fs
	Dir string // may be missing, and may hold what an earlier process has left
	Now int64

	// Random is the source of names that nobody else has. A sink that takes them from
	// anywhere else is not repeatable.
	Random io.Reader
}
