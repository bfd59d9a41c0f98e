package live

import (
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// Engine runs a [sinkcore.Job] with its checkpoints in files. It has no clock and no
// goroutine: it is told what was read and what time it is. [Run] drives one.
//
// Times are milliseconds since 1970. The methods may be called from any goroutine, and
// wait for one another.
type Engine[T any] struct {
	mu       sync.Mutex // a job is for one goroutine at a time, and Stats is for any
	options  Options[T]
	store    *store
	lock     afero.File // nil before the directory is locked
	job      *sinkcore.Job[T]
	position []byte // of the source, after the last record written
	turn     int    // subtask of the next record

	due int64 // when the next checkpoint is

	// idle: nothing has happened since the last checkpoint that another one would show,
	// except that the check timer may have closed a part.
	idle bool

	stopped bool  // Stop has succeeded
	closed  bool  // Close was called
	failed  error // the first error after which the job must be opened again
	stats   counts
}

// Open starts a job: anew if the directory has no checkpoint, else from the newest one,
// see [Newest]. It locks the directory, publishes what the checkpoint hands over, cuts
// open parts to their recorded length, and removes in-progress files that no retained
// checkpoint names. Set the source to [Engine.Position] then. [Engine.Close] must be
// called in the end.
//
// The error wraps [sinkcore.ErrConfig], [ErrLocked], [ErrDamaged], [ErrUnsafe],
// [ErrVersion], what [sinkcore.RestoreJob] finds on disk, or an error of the file
// system.
func Open[T any](o Options[T], now int64) (*Engine[T], error) {
	o, err := o.validate()
	if err != nil {
		return nil, newError("start", "", err, "")
	}
	// The rest of the configuration is checked before the disk is touched. The job
	// makes no file before its first record.
	job, err := sinkcore.NewJob(o.Fs, o.Random, o.Sink, o.Parallelism, now)
	if err != nil {
		return nil, err
	}
	e := &Engine[T]{options: o, job: job, due: now + o.Interval.Milliseconds(), idle: true}
	if err := e.open(now); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// open does what Open says, in an order that matters: nobody else may be at work when
// the directory is looked at, and nothing may be removed before it is certain that the
// job can go on.
func (e *Engine[T]) open(now int64) (err error) {
	o := e.options
	if e.store, err = openStore(o.Fs, o.Sink.Dir); err != nil {
		return err
	}
	if e.lock, err = lockDir(o.Fs, e.store.dir); err != nil {
		return err
	}
	if e.store.files, err = List(o.Fs, o.Sink.Dir); err != nil {
		return err
	}
	// A directory without checkpoints is begun anew: whatever in-progress files it has
	// come from a process that died before its first checkpoint, and the source sends
	// their records again.
	var retained []sinkcore.Checkpoint
	if len(e.store.files) > 0 {
		if retained, err = e.restore(now); err != nil {
			return err
		}
	}
	// Nothing is written yet, so every file that is needed has its name in a checkpoint.
	removed, err := sinkcore.RemoveOrphans(o.Fs, o.Sink.Dir, retained...)
	e.stats.swept = len(removed)
	return err
}

// restore goes on from the newest checkpoint and returns all that can be read.
func (e *Engine[T]) restore(now int64) ([]sinkcore.Checkpoint, error) {
	o := e.options
	s, _, err := newest(o.Fs, e.store.files)
	if err != nil {
		return nil, err
	}
	// The process that stored it may have died, or have met an error, before the file's
	// name was durable. Restoring publishes; after a power cut then the checkpoint would
	// be gone and what it published would not. Syncing alone would trust a directory
	// whose fsync failed before (see sinkcore); so the name is made anew.
	last := e.store.files[0].ID
	if err := e.store.put(s); err != nil {
		return nil, err
	}
	// It looks before it touches: an error that it finds has published nothing.
	job, _, err := sinkcore.RestoreJob(o.Fs, o.Random, o.Sink, o.Parallelism, now, s.Checkpoint)
	if err != nil {
		return nil, err
	}
	e.job, e.position = job, s.Position
	// A damaged newer file has used up its id.
	e.stats.id, e.stats.resumed = max(s.Checkpoint.ID, last), s.Checkpoint.ID
	// What it published is named by it until the next checkpoint is stored, and another
	// policy than before may want to close what is open.
	e.idle = publishes(s.Checkpoint) == 0 && job.Stats().OpenParts == 0
	var retained []sinkcore.Checkpoint
	for _, f := range e.store.files {
		kept, err := Load(o.Fs, f)
		if errors.Is(err, ErrDamaged) {
			continue // it can never be restored, so what it names has no owner
		}
		if err != nil {
			return nil, err
		}
		retained = append(retained, kept.Checkpoint)
	}
	return retained, nil
}

// Position is where the source is to go on: after the last record written, in this
// process or before the checkpoint that it was started from; nil is the beginning.
func (e *Engine[T]) Position() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.position
}

// Write writes a batch of records, to the subtasks in turn. After an error the engine
// takes no more calls but [Engine.Stats] and [Engine.Close], and the job has to be opened
// again: the source then sends again what came after the newest checkpoint.
func (e *Engine[T]) Write(b Batch[T], now int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuse("write"); err != nil {
		return err
	}
	for _, record := range b.Records {
		// A record brings no event time; what can be known of one is in its text.
		err := e.job.Write(e.turn, record, sinkcore.NoTime, sinkcore.NoTime, now)
		if err != nil {
			// The sink tells a record that it refuses from a disk that fails: after the
			// first it goes on, after the second it does not.
			if e.job.Err() != nil {
				return e.fail(err)
			}
			if err := e.options.Refused(record, err); err != nil {
				return e.fail(err)
			}
			e.stats.refused++
			continue
		}
		e.turn = (e.turn + 1) % e.job.Parallelism()
	}
	// Also if every record was dropped: they must not come again after a restart.
	e.position, e.idle = b.Position, false
	return nil
}

// Due tells when [Engine.Advance] is to be called next.
func (e *Engine[T]) Due() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return min(e.due, e.job.NextTick())
}

// Advance runs the check timers that are due, and takes a checkpoint if one is: it is
// stored with the source's position, then completed, which publishes, and then the oldest
// files are pruned. A checkpoint that would show nothing new is left out. After an error
// the same holds as after one of [Engine.Write].
func (e *Engine[T]) Advance(now int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuse("advance"); err != nil {
		return err
	}
	// The check comes first, so that what it closes is in a checkpoint of the same
	// moment and need not wait for the next.
	if _, err := e.job.Tick(now); err != nil {
		return e.fail(err)
	}
	if now < e.due {
		return nil
	}
	// From start to start; what a slow disk has made us miss is not made up for.
	e.due = now + e.options.Interval.Milliseconds()
	if e.idle && !e.job.HasWork(now) {
		return nil
	}
	return e.checkpoint(now)
}

// checkpoint stores before it completes, and completes before the next one. An error
// anywhere ends the engine: whether the checkpoint counts is decided by whether its file
// is there, and the next start finds that out.
func (e *Engine[T]) checkpoint(now int64) error {
	id := e.stats.id + 1
	c, err := e.job.Checkpoint(id, now)
	if err != nil {
		return e.fail(err)
	}
	if err := e.store.put(Stored{Checkpoint: c, Position: e.position, Taken: now}); err != nil {
		return e.fail(err)
	}
	e.stats.id, e.stats.taken = id, now
	e.stats.checkpoints++
	published, err := e.job.Complete(id)
	if err != nil {
		return e.fail(err)
	}
	// What this one published it also names. A consumer may take those files away when
	// a checkpoint is stored that does not; so one more is due even if nothing comes.
	e.idle = len(published) == 0
	if err := e.store.prune(e.options.Retain); err != nil {
		return e.fail(err)
	}
	return nil
}

// Stop is how a job stops.
type Stop uint8

const (
	// EndOfInput closes every open part, so that all records become visible.
	EndOfInput Stop = iota
	// Savepoint leaves open parts in progress; the next start writes them on.
	Savepoint
)

// String returns the word of the command line.
func (s Stop) String() string {
	switch s {
	case EndOfInput:
		return "end"
	case Savepoint:
		return "savepoint"
	}
	return fmt.Sprintf("Stop(%d)", uint8(s))
}

// Stop stops the job: with a checkpoint that is stored and completed, and, if that
// published anything, a second one that names none of it. So after a clean stop every
// visible file may be taken away. The job can be opened again after either way of
// stopping. It remains to call [Engine.Close].
func (e *Engine[T]) Stop(how Stop, now int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuse("stop"); err != nil {
		return err
	}
	// Ending the input closes all parts and hands them over; they pend for the checkpoint.
	if how == EndOfInput {
		if err := e.job.EndInput(); err != nil {
			return e.fail(err)
		}
	}
	// The end of the input hands over under an id of its own, the next one, as this
	// checkpoint; see sinkcore.Writer.EndInput.
	// The first checkpoint publishes, the second one forgets what was published.
	for range 2 {
		if e.idle && e.job.Stats().PendingParts == 0 {
			break
		}
		if err := e.checkpoint(now); err != nil {
			return err
		}
	}
	e.stopped = true
	return nil
}

// Close closes all files as they are and frees the lock. Without [Engine.Stop] before it,
// it is to the output the same as a crash of the process: the next start goes on from the
// newest checkpoint. It may be called again, and then does nothing.
func (e *Engine[T]) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	err := e.job.Close()
	if e.lock != nil {
		err = errors.Join(err, e.lock.Close()) // last: from here on another may start
	}
	return err
}

// fail remembers an error after which the state in memory is worth nothing.
func (e *Engine[T]) fail(err error) error {
	e.failed = err
	return err
}

// refuse says why a call comes too late, or nil.
func (e *Engine[T]) refuse(op string) error {
	switch {
	case e.closed:
		return newError(op, "", sinkcore.ErrClosed, "")
	case e.failed != nil:
		return newError(op, "", fmt.Errorf("%w: %w", sinkcore.ErrFailed, e.failed), hintRestart)
	case e.stopped:
		return newError(op, "", sinkcore.ErrEndOfInput, "open the job again to write more")
	}
	return nil
}
