package sinkcore

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/afero"
)

// Job is a sink of n subtasks, each a [Writer] with a [Committer], driven as a
// streaming engine drives them. It is what simulations, tests and programs that run in
// one process use. A Job must not be used by two goroutines at once, not even for
// different subtasks: they share what they know of directories.
//
// Its methods come in three kinds. Write, Tick and EndInput may write to hidden files.
// Checkpoint makes durable. Complete, StopWithSavepoint and RestoreJob publish, and nothing
// else does.
type Job[T any] struct {
	writers    []*Writer[T]
	committers []*Committer
	lastID     int64 // of the newest checkpoint taken or restored
	isClosed   bool

	// The first error after which a subtask is of no more use. It stops all of them: a
	// checkpoint without one subtask would not cover the records of that one, and the
	// source goes back for all of them together.
	failed error
}

// NewJob starts a job with no state; see [NewWriter] for the arguments. Parallelism is
// the number of subtasks, at least 1. The error wraps [ErrConfig].
//
// It does not look at the disk, and what is in the directory does not disturb it: files
// of earlier jobs stay as they are, visible or not. After a failure before the first
// checkpoint this is how to start again (FLINK-18056: a name that a dead attempt has left
// behind must not keep the next one from starting).
func NewJob[T any](fsys afero.Fs, random io.Reader, config Config[T], parallelism int, now int64) (*Job[T], error) {
	config, err := checkJob(fsys, random, config, parallelism)
	if err != nil {
		return nil, newError("start", err)
	}
	j := &Job[T]{}
	dirs := newDirectories(fsys, config.Dir)
	for i := range parallelism {
		j.writers = append(j.writers, newWriter(fsys, random, config, i, now, dirs))
		j.committers = append(j.committers, newCommitter(fsys, config.Dir, i, dirs))
	}
	return j, nil
}

// checkJob validates what both ways to start a job need, before either does anything.
func checkJob[T any](fsys afero.Fs, random io.Reader, config Config[T], parallelism int) (Config[T], error) {
	if parallelism < 1 {
		return config, fmt.Errorf("%w: parallelism %d: must be at least 1", ErrConfig, parallelism)
	}
	return checkArguments(fsys, random, config)
}

// RestoreJob starts a job from a checkpoint, with any number of subtasks. The job that
// made the checkpoint must be dead; its [Job.Close] is as good as death.
//
// Restoring a checkpoint means that it completed: everything that it and earlier ones
// handed over is published before the call returns, and then the parts that were open
// are cut to their recorded length and opened again. What was published is returned as
// by [Job.Complete].
//
// First of all everything is checked, for which the parts that the checkpoint names are
// read from beginning to end. If the checkpoint cannot be restored the error
// says why and names the file ([ErrInProgressMissing], [ErrLost], [ErrTargetExists],
// [ErrShort], [ErrContent], [ErrRestoredTwice]); nothing has been published, changed or
// deleted then. The usual cause is a checkpoint older than the newest completed one.
//
// An error of the file system in the midst of the restore leaves nothing that a second
// RestoreJob from the same checkpoint cannot go on from; any number of restores give the
// same as one. When RestoreJob returns, what is published survives a power cut; the parts
// that were opened again have been cut, and the next checkpoint syncs them.
//
// With another number of subtasks the buckets of all of them are dealt out anew, in runs
// of about the same length; where two of one bucket come together, the part of the second
// is closed. No part is lost and none is in two subtasks (FLINK-5056). A subtask may get
// nothing, and works (FLINK-37747).
func RestoreJob[T any](fsys afero.Fs, random io.Reader, config Config[T], parallelism int, now int64, c Checkpoint) (*Job[T], []Committable, error) {
	config, err := checkJob(fsys, random, config, parallelism)
	if err != nil {
		return nil, nil, newError("restore", err).of(c.ID)
	}
	if len(c.Writers) == 0 || len(c.Writers) != len(c.Committers) {
		return nil, nil, newError("restore", fmt.Errorf("%w: %d writers and %d committers", ErrStateDamaged, len(c.Writers), len(c.Committers))).of(c.ID)
	}
	writers, committers := redistribute(c, parallelism)
	if err := verifyCheckpoint(fsys, config.Dir, c.ID, writers, committers); err != nil {
		return nil, nil, err
	}
	j := &Job[T]{lastID: c.ID}
	dirs := newDirectories(fsys, config.Dir)
	var published []Committable
	// All committers come before all writers (RegularOperatorChain:102-108). So no file is
	// open yet if one cannot be published.
	for i, state := range committers {
		committer := newCommitter(fsys, config.Dir, i, dirs)
		some, err := committer.restore(c.ID, state)
		if err != nil {
			return nil, nil, err
		}
		published = append(published, some...)
		j.committers = append(j.committers, committer)
	}
	for i, state := range writers {
		w := newWriter(fsys, random, config, i, now, dirs)
		j.writers = append(j.writers, w)
		if err := w.restore(c.ID, state); err != nil {
			return nil, nil, errors.Join(err, j.Close())
		}
	}
	return j, published, nil
}

// verifyCheckpoint checks that a whole checkpoint can be restored. Names come first, for
// all subtasks together, since a part may be named by two of them; then the files, which
// costs reading them. It only reads.
func verifyCheckpoint(fsys afero.Fs, base string, id int64, writers []WriterState, committers []CommitterState) error {
	var seen partNames
	for i := range writers {
		if err := seen.addWriter(i, writers[i]); err != nil {
			return err.of(id)
		}
		if err := seen.addCommitter(i, committers[i]); err != nil {
			return err
		}
	}
	for i := range writers {
		if err := verifyInProgress(fsys, base, i, writers[i]); err != nil {
			return err.of(id)
		}
		if err := verifyCommittables(fsys, base, i, id, committers[i]); err != nil {
			return err
		}
	}
	return nil
}

// Parallelism is the number of subtasks.
func (j *Job[T]) Parallelism() int { return len(j.writers) }

// Writer gives the writer of a subtask, 0 <= subtask < Parallelism, for what concerns
// one subtask only, such as its [Writer.Stats]. Calls that change it are better made by
// the job: of an error that a writer returned to somebody else the job learns late.
func (j *Job[T]) Writer(subtask int) *Writer[T] { return j.writers[subtask] }

// Committer gives the committer of a subtask, for what concerns one subtask only; see
// [Job.Writer].
func (j *Job[T]) Committer(subtask int) *Committer { return j.committers[subtask] }

// Write writes a record to a subtask; see [Writer.Write]. Which records go to which
// subtask is up to the caller and may change at any time; the order of records is kept
// within a subtask. The error wraps [ErrSubtask] if there is no such subtask.
func (j *Job[T]) Write(subtask int, record T, eventTime, watermark, now int64) error {
	if subtask < 0 || subtask >= len(j.writers) {
		return newError("write", fmt.Errorf("%w: %d of %d", ErrSubtask, subtask, len(j.writers)))
	}
	if j.failed != nil {
		return j.refuse("write")
	}
	err := j.writers[subtask].Write(record, eventTime, watermark, now)
	if err != nil && j.writers[subtask].failed != nil {
		j.failed = j.writers[subtask].failed
	}
	return err
}

// NextTick tells when the first check timer of a subtask is due, in milliseconds since
// 1970. Subtasks start together, and so all of their timers are due together until one
// of them is ticked alone.
func (j *Job[T]) NextTick() int64 {
	next := Never
	for _, w := range j.writers {
		next = min(next, w.due)
	}
	return next
}

// Tick runs the check timers that are due, subtask by subtask, and returns when the
// next one is; see [Writer.Tick]. To call it too early does nothing, so it may be called
// before every record. Not to call it closes no part by age: time is looked at here only.
func (j *Job[T]) Tick(now int64) (next int64, err error) {
	if j.isClosed || j.failed != nil {
		return j.NextTick(), j.refuse("tick")
	}
	for _, w := range j.writers {
		if _, err := w.Tick(now); err != nil {
			return j.NextTick(), j.fail(err)
		}
	}
	return j.NextTick(), nil
}

// Checkpoint takes a checkpoint at the time now: each subtask prepares its commit, closes
// what the policy closes at checkpoints, hands over what is closed, snapshots its writer and snapshots its committer. Nothing is published.
// When it returns, all that the checkpoint names survives a power cut.
//
// Store the checkpoint, then call [Job.Complete]; if it cannot be stored, [Job.Abort].
// Ids ascend from 1 on, or from the id restored; they may leave gaps. A savepoint is a checkpoint that is stored and not
// completed: its files are published by the next checkpoint that is, or when the
// savepoint is restored (CheckpointCoordinator:1428). The returned value does not change,
// whatever the job does later, so it may be stored while the job goes on.
//
// After an error that wraps [ErrCheckpointID] nothing has changed; use a larger id. After
// any other error the job is of no more use, and there is no such checkpoint. What has been
// closed by then is not lost: the checkpoint that is restored names it as it was, or its
// records are sent again.
func (j *Job[T]) Checkpoint(id, now int64) (Checkpoint, error) {
	if j.isClosed || j.failed != nil {
		return Checkpoint{}, j.refuse("checkpoint")
	}
	if id <= j.lastID || id == math.MaxInt64 {
		// With an id that does not ascend, what an earlier one covers could be published
		// late, and again after a restore.
		return Checkpoint{}, newError("checkpoint", ErrCheckpointID).of(id).
			todo(fmt.Sprintf("ids ascend from 1 on; use one larger than %d", j.lastID))
	}
	j.lastID = id
	c := Checkpoint{ID: id}
	// Within a subtask the order is Flink's: hand over before either snapshot, so that each
	// closed part is in the committer's state and in no writer's.
	for i, w := range j.writers {
		committables, err := w.PrepareCommit(id, now)
		if err != nil {
			return Checkpoint{}, j.fail(err)
		}
		if !w.ended { // after the end of its input a writer hands over nothing, not even an empty batch
			if err := j.committers[i].Add(id, committables); err != nil {
				return Checkpoint{}, j.fail(err)
			}
		}
		writer, err := w.Snapshot()
		if err != nil {
			return Checkpoint{}, j.fail(err)
		}
		committer, err := j.committers[i].Snapshot()
		if err != nil {
			return Checkpoint{}, j.fail(err)
		}
		c.Writers = append(c.Writers, writer)
		c.Committers = append(c.Committers, committer)
	}
	return c, nil
}

// HasWork tells whether a checkpoint at the time now would hand over a part: one that is
// closed, or an open one that the policy would close at it, as [Deadline] does on a stream that
// has gone quiet. A driver that saves checkpoints while nothing comes asks before it skips
// one. Anything that was written since the last checkpoint is a reason of its own to take
// one: a restore would have it sent again. It looks at each open part.
func (j *Job[T]) HasWork(now int64) bool {
	for i, w := range j.writers {
		if j.committers[i].Stats().PendingParts > 0 {
			return true
		}
		for _, b := range w.order {
			if len(b.pending) > 0 || b.part != nil && w.config.Policy.RollOnCheckpoint(b.part.info, now) != None {
				return true
			}
		}
	}
	return false
}

// Complete tells every subtask that a checkpoint has completed, and returns what that
// published; see [Committer.Complete]. It may be called late, twice, in any order, or
// not at all: the next completed checkpoint publishes the same. Call it only when the
// checkpoint is stored; a job that is restored from an older one would write its records
// once more (volga-project/volga#300).
//
// It goes through the subtasks in order and stops at the first error, with what the
// subtasks before have published.
func (j *Job[T]) Complete(id int64) ([]Committable, error) {
	if j.isClosed || j.failed != nil {
		return nil, j.refuse("complete")
	}
	var published []Committable
	for i := range j.committers {
		some, err := j.CompleteOf(id, i)
		published = append(published, some...)
		if err != nil {
			return published, err
		}
	}
	return published, nil
}

// CompleteOf tells one subtask only, as when the notification has not reached the others
// yet; see [Job.Complete]. It is for tests and simulations of a cluster. The error wraps
// [ErrSubtask] if there is no such subtask.
func (j *Job[T]) CompleteOf(id int64, subtask int) ([]Committable, error) {
	if subtask < 0 || subtask >= len(j.committers) {
		return nil, newError("complete", fmt.Errorf("%w: %d of %d", ErrSubtask, subtask, len(j.committers))).of(id)
	}
	if j.isClosed || j.failed != nil {
		return nil, j.refuse("complete")
	}
	c := j.committers[subtask]
	published, err := c.Complete(id)
	if c.failed != nil {
		j.failed = c.failed
	}
	return published, err
}

// Abort tells every subtask that a checkpoint will not complete; see [Committer.Abort].
func (j *Job[T]) Abort(id int64) error {
	if j.isClosed || j.failed != nil {
		return j.refuse("abort")
	}
	for _, c := range j.committers {
		if err := c.Abort(id); err != nil {
			return err
		}
	}
	return nil
}

// EndInput ends the input of every subtask: all parts are closed and handed over, and
// the next checkpoint that completes publishes them. Take one more checkpoint. Called
// again it does nothing.
func (j *Job[T]) EndInput() error {
	for i := range j.writers {
		if err := j.EndInputOf(i); err != nil {
			return err
		}
	}
	return nil
}

// EndInputOf ends the input of one subtask; the others go on. It stays in all checkpoints
// with the state that it has, and hands over nothing more.
func (j *Job[T]) EndInputOf(subtask int) error {
	if subtask < 0 || subtask >= len(j.writers) {
		return newError("end of input", fmt.Errorf("%w: %d of %d", ErrSubtask, subtask, len(j.writers)))
	}
	if j.isClosed || j.failed != nil {
		return j.refuse("end of input")
	}
	id, committables, err := j.writers[subtask].EndInput()
	if err != nil {
		return j.fail(err)
	}
	if len(committables) == 0 {
		return nil
	}
	return j.fail(j.committers[subtask].Add(id, committables))
}

// StopWithSavepoint stops the job so that another can go on from the checkpoint that
// store is given. With drain the input ends first, so every record becomes visible; without,
// open parts stay in progress and are resumed. Store is called with the checkpoint and
// must make it durable; if it returns an error nothing is published, and that error is
// returned. The job is closed in any case.
//
// If publishing fails after that the savepoint is good all the same, and restoring it
// publishes. Stopping is not the end of the input (FLINK-21132): only draining is.
func (j *Job[T]) StopWithSavepoint(id, now int64, drain bool, store func(Checkpoint) error) (published []Committable, err error) {
	defer func() { err = errors.Join(err, j.Close()) }()
	if store == nil {
		return nil, newError("stop", fmt.Errorf("%w: there is nowhere to store the savepoint", ErrConfig)).of(id)
	}
	if drain {
		if err := j.EndInput(); err != nil {
			return nil, err
		}
	}
	c, err := j.Checkpoint(id, now)
	if err != nil {
		return nil, err
	}
	if err := store(c); err != nil {
		return nil, err
	}
	return j.Complete(id)
}

// Stats sums over the subtasks. It can be read at any time, also after an error. It looks
// at each open and each pending part once and not at the disk.
func (j *Job[T]) Stats() Stats {
	s := Stats{OldestInvisible: NoTime}
	for i := range j.writers {
		s = s.add(j.writers[i].Stats()).add(j.committers[i].Stats())
	}
	return s
}

// Close closes all files as they are. Nothing is flushed, published or deleted; to the
// files it is the same as a crash of the process. It returns all errors, joined. A close
// publishes nothing even if all is well, since only a completed checkpoint may; end the
// input, or stop with a savepoint, to lose nothing of the work done.
func (j *Job[T]) Close() error {
	j.isClosed = true
	var errs []error
	for _, w := range j.writers {
		errs = append(errs, w.Close())
	}
	for _, c := range j.committers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Err returns the first error after which the job must be restored, or nil.
func (j *Job[T]) Err() error { return j.failed }

// fail keeps the first error and passes it on. A record that was refused does not come
// here.
func (j *Job[T]) fail(err error) error {
	if err != nil && j.failed == nil {
		j.failed = err
	}
	return err
}

func (j *Job[T]) refuse(op string) error {
	return refusal(op, -1, j.isClosed, j.failed, false)
}
