package sim

import (
	"fmt"
	"strconv"
)

// Checkpoint takes a checkpoint of every subtask and keeps it for a later restore.
type Checkpoint int64

// Complete tells every subtask that a checkpoint has completed.
type Complete int64

// Abort tells every subtask that a checkpoint will not complete.
type Abort int64

func parseCheckpoint(args []string) (Operation, error) {
	id, err := parseID("checkpoint", args)
	return Checkpoint(id), err
}

func parseComplete(args []string) (Operation, error) {
	id, err := parseID("complete", args)
	return Complete(id), err
}

func parseAbort(args []string) (Operation, error) {
	id, err := parseID("abort", args)
	return Abort(id), err
}

func parseID(name string, args []string) (int64, error) {
	if len(args) != 1 {
		return 0, errArgs(name + " ID")
	}
	return number("checkpoint id", args[0], 0)
}

func (c Checkpoint) String() string { return "checkpoint " + strconv.FormatInt(int64(c), 10) }
func (c Complete) String() string   { return "complete " + strconv.FormatInt(int64(c), 10) }
func (a Abort) String() string      { return "abort " + strconv.FormatInt(int64(a), 10) }

// Play takes the checkpoint. A restore reads it from its encoded form, as a real one
// does.
func (c Checkpoint) Play(r *Runner) error {
	job, err := r.running()
	if err != nil {
		return err
	}
	checkpoint, err := job.Checkpoint(int64(c))
	if err != nil {
		return err
	}
	if r.checkpoints[int64(c)], err = checkpoint.MarshalBinary(); err != nil {
		return fmt.Errorf("encoding checkpoint %d: %w", c, err)
	}
	return nil
}

// Play completes the checkpoint.
func (c Complete) Play(r *Runner) error {
	job, err := r.running()
	if err != nil {
		return err
	}
	_, err = job.Complete(int64(c))
	return err
}

// Play aborts the checkpoint.
func (a Abort) Play(r *Runner) error {
	job, err := r.running()
	if err != nil {
		return err
	}
	return job.Abort(int64(a))
}
