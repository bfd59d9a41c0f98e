package live

import (
	"errors"
	"strconv"
	"strings"

	"sinklab/sinkcore"
)

// What a start can find in the directory. Nothing has been published, changed or
// deleted then.
var (
	// ErrLocked: another process writes to the directory. Stop it first; the kernel
	// frees the lock of a process that has died.
	ErrLocked = errors.New("another process writes to this directory")

	// ErrDamaged: a checkpoint file is not what was written. Put a copy of it back.
	ErrDamaged = errors.New("damaged checkpoint file")

	// ErrUnsafe: the newest checkpoint that can be read is older than one that may have
	// published parts; going on from it would write their records a second time. It
	// comes with [ErrDamaged]. Put a copy of the damaged file back. If there is none,
	// the choice is yours: begin anew with an empty directory.
	ErrUnsafe = errors.New("an older checkpoint would write records twice")

	// ErrVersion: a checkpoint file was written by a newer version of this package. Run
	// that version.
	ErrVersion = errors.New("checkpoint file of a newer version")
)

// What a source can find when it goes on from a checkpoint, or while it follows a file.
var (
	// ErrSourceMissing: an input file that is still to be read is not there. It wraps
	// fs.ErrNotExist. Put it back or correct its name.
	ErrSourceMissing = errors.New("input file is missing")

	// ErrSourceShorter: an input file has become shorter than what was read of it.
	// Put the bytes back, or write the new input to another directory.
	ErrSourceShorter = errors.New("input file is shorter than what was read of it")

	// ErrSourceChanged: the input is not the one that the checkpoint was taken of: other
	// files, another order, or other bytes before the position. Give the files of the
	// checkpoint, in its order, and new ones after them.
	ErrSourceChanged = errors.New("input is not the one of the checkpoint")

	// ErrPosition: the position is not one of this kind of source; files became
	// standard input or the other way round. Give the input of the checkpoint.
	ErrPosition = errors.New("position of another kind of source")

	// ErrLineTooLong: a line has more than [MaxLine] bytes. The lines before it are in
	// the job.
	ErrLineTooLong = errors.New("line too long")
)

// Error is the error type of this package; errors of the sink come as [*sinkcore.Error].
// Err is never nil; use errors.Is to tell errors apart.
type Error struct {
	Op         string // what was being done: "start", "lock", "store checkpoint", "read", …
	File       string // path of the file, or ""
	Checkpoint int64  // the checkpoint's id, or [sinkcore.NoCheckpoint]
	Err        error  // the cause
	Hint       string // what to do next, or ""
}

// Error gives all of it in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.File != "" {
		b.WriteString(": file ")
		b.WriteString(strconv.Quote(e.File))
	}
	if e.Checkpoint != sinkcore.NoCheckpoint {
		b.WriteString(": checkpoint ")
		b.WriteString(strconv.FormatInt(e.Checkpoint, 10))
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	if e.Hint != "" {
		b.WriteString(" (")
		b.WriteString(e.Hint)
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func newError(op, file string, cause error, hint string) *Error {
	return &Error{Op: op, File: file, Checkpoint: sinkcore.NoCheckpoint, Err: cause, Hint: hint}
}

// of adds the checkpoint.
func (e *Error) of(checkpoint int64) *Error {
	e.Checkpoint = checkpoint
	return e
}

// hintRestart is for errors of the file system: what the disk holds is not known any
// more, but the newest stored checkpoint is.
const hintRestart = "mend the cause and start again; the job goes on from its newest checkpoint"
