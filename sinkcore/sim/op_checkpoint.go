package sim

import "strconv"

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

// Play takes the checkpoint and stores it.
func (c Checkpoint) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	state, err := sink.Checkpoint(int64(c))
	if err != nil {
		return err
	}
	r.checkpoints[int64(c)] = state
	return nil
}

// Play completes the checkpoint.
func (c Complete) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	return sink.Complete(int64(c), -1)
}

// Play aborts the checkpoint.
func (a Abort) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	return sink.Abort(int64(a))
}
