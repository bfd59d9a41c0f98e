package sinkcore

import (
	"errors"
	"strconv"
	"strings"
)

// Refusals: the call changed nothing and the sink goes on, unless said otherwise.
var (
	// ErrConfig: an option has a value that cannot work. Correct it and start again.
	ErrConfig = errors.New("bad option")

	// ErrBucketID: the assigner gave a bucket id that would leave the base directory,
	// hold an empty, "." or ".." segment, one of more than 255 bytes or a NUL byte, or be
	// hidden from readers by a segment that begins with "." or "_". The record was not
	// written. Mend the assigner or drop the record.
	ErrBucketID = errors.New("bucket id refused")

	// ErrAssign: the bucket assigner returned an error for the record, for example
	// because it needs an event time and the record has none.
	ErrAssign = errors.New("bucket assigner failed")

	// ErrEncode: the encoder returned an error for the record, which is wrapped too, or
	// less than it was given. No byte of the record is in the file.
	ErrEncode = errors.New("encoder failed")

	// ErrEndOfInput: a record came after the end of the input. Restore the job to
	// write more (Flink: SinkWriterOperator:182).
	ErrEndOfInput = errors.New("input has ended")

	// ErrSubtask: there is no subtask of that number. They are numbered from 0.
	ErrSubtask = errors.New("no such subtask")

	// ErrCheckpointID: the checkpoint id does not ascend, or its files still wait for
	// completion (Flink: CheckpointCommittableManagerImpl:105-112 has the second only).
	// Nothing has changed; ids begin at 1, and each is larger than those before.
	ErrCheckpointID = errors.New("checkpoint id in use or too small")
)

// States in which a writer, committer or job takes no more work.
var (
	// ErrClosed: Close was called. Restore the job to go on.
	ErrClosed = errors.New("closed")

	// ErrFailed: an earlier call met an error of the file system, which is wrapped too.
	// Close the job and restore it from the newest completed checkpoint. To call again
	// what has failed would not help, and could do harm: a second fsync may report success
	// for bytes that are gone, and a second close a file that was never stored
	// (apache/iceberg#5311).
	ErrFailed = errors.New("failed earlier")
)

// What a commit or a restore can find on disk. Nothing is published, changed or
// deleted by the check that returns one of these.
var (
	// ErrTargetExists: the visible name is taken by a file with another length or
	// checksum, or by a directory. Move it away and complete again, or restore. It may
	// wrap ErrShort or ErrContent, which then speak of the file that has the name; so ask
	// for this one first.
	ErrTargetExists = errors.New("target exists with other content")

	// ErrLost: neither the closed part nor its visible file is there. If a consumer
	// moved the visible file away, restore from a newer checkpoint; else it is lost.
	ErrLost = errors.New("neither the pending part nor the committed file exists")

	// ErrInProgressMissing: the checkpoint would go on writing a file that is not there
	// any more. A newer checkpoint has committed it: restore from the newest one.
	ErrInProgressMissing = errors.New("in-progress file missing")

	// ErrShort: a part is shorter than the state says, so synced bytes are gone.
	// Restore from an older checkpoint that does not name the file.
	ErrShort = errors.New("file is shorter than its recorded length")

	// ErrContent: a part has the recorded length but other bytes; a restore looks for that.
	// Something else than the sink has written to it, or the disk has lost what it had
	// confirmed. Restore from an older checkpoint that does not name the file.
	ErrContent = errors.New("file differs from its recorded checksum")

	// ErrRestoredTwice: one part is named twice by the state that is restored. The
	// state was put together wrongly; restore each element once.
	ErrRestoredTwice = errors.New("state element restored twice")
)

// What decoding a state can find.
var (
	// ErrStateVersion: the state was written by a newer version of this package. Use that
	// one; the bytes are left as they are.
	ErrStateVersion = errors.New("unknown state version")

	// ErrStateDamaged: the bytes are not a state, or not the whole of one. Use another
	// copy or an older checkpoint.
	ErrStateDamaged = errors.New("damaged state")
)

// NoCheckpoint in [Error.Checkpoint] means that no checkpoint is concerned.
const NoCheckpoint int64 = -1

// Error is the error type of this package. Err is never nil; unwrap it, or use
// errors.Is, to tell errors apart. The text is for people and may change.
type Error struct {
	Op         string // what was being done: "write", "tick", "snapshot", "commit", "restore", …
	Subtask    int    // which subtask did it, or -1
	Bucket     string // the bucket's id; HasBucket tells "" from none
	HasBucket  bool
	File       string // path of the file below the file system's root, or ""
	Checkpoint int64  // the checkpoint's id, or [NoCheckpoint]
	Err        error  // the cause
	Hint       string // what to do next, or ""
}

// Error gives all of it in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("sinkcore: ")
	b.WriteString(e.Op)
	if e.Subtask >= 0 {
		b.WriteString(": subtask ")
		b.WriteString(strconv.Itoa(e.Subtask))
	}
	if e.HasBucket {
		b.WriteString(": bucket ")
		b.WriteString(strconv.Quote(e.Bucket))
	}
	if e.File != "" {
		b.WriteString(": file ")
		b.WriteString(strconv.Quote(e.File))
	}
	if e.Checkpoint != NoCheckpoint {
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

// newError is an Error with nothing but an operation and a cause. What follows adds to it
// as it goes up: who meets an error knows the file, and who called knows the subtask.
func newError(op string, cause error) *Error {
	return &Error{Op: op, Subtask: -1, Checkpoint: NoCheckpoint, Err: cause}
}

// in adds the bucket.
func (e *Error) in(bucket string) *Error {
	e.Bucket, e.HasBucket = bucket, true
	return e
}

// at adds the file.
func (e *Error) at(file string) *Error {
	e.File = file
	return e
}

// of adds the checkpoint.
func (e *Error) of(checkpoint int64) *Error {
	e.Checkpoint = checkpoint
	return e
}

// by adds the subtask.
func (e *Error) by(subtask int) *Error {
	e.Subtask = subtask
	return e
}

// todo adds what to do next.
func (e *Error) todo(hint string) *Error {
	e.Hint = hint
	return e
}
