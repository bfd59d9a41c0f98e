package sim

import (
	"fmt"
	"strconv"
)

// Restore kills the job and starts it again from a checkpoint, which therefore counts as
// completed. Buffered bytes are gone, as with a process that is killed; what has been
// handed to the file system stays, since the computer goes on. The source does not send
// anything again by itself: further writes of the scenario do that.
//
// The checkpoint may be any that was taken since the last open, also an older one than the
// newest and one that was aborted. That the sink answers to such a restore with an error is
// allowed: the real one refuses if a part that it has to go on with was published
// meanwhile.
type Restore struct {
	Checkpoint  int64
	Parallelism int // 0: as many subtasks as there were
}

// parseRestore reads an id and, if the parallelism changes, the new one.
func parseRestore(args []string) (Operation, error) {
	if len(args) != 1 && len(args) != 2 {
		return nil, errArgs("restore ID [PARALLELISM]")
	}
	id, err := number("checkpoint id", args[0], 0)
	if err != nil {
		return nil, err
	}
	r := Restore{Checkpoint: id}
	if len(args) == 2 {
		n, err := number("parallelism", args[1], 1)
		if err != nil {
			return nil, err
		}
		if n > maxParallelism {
			return nil, fmt.Errorf("parallelism %d is more than %d", n, maxParallelism)
		}
		r.Parallelism = int(n)
	}
	return r, nil
}

// String leaves out a parallelism that does not change.
func (o Restore) String() string {
	s := "restore " + strconv.FormatInt(o.Checkpoint, 10)
	if o.Parallelism != 0 {
		s += " " + strconv.Itoa(o.Parallelism)
	}
	return s
}

// Play restores the sink. The clock goes on, and check timers start anew. If the sink
// refuses, none runs, and [Runner.Play] passes over the rest of the scenario.
//
// The answers of a restore are what becomes visible by it: parts that were handed over to
// the checkpoint and not yet published are published now, since the checkpoint counts as
// completed.
func (o Restore) Play(r *Runner) error {
	if r.checkpoints == nil {
		return fmt.Errorf("%w: no sink is open", ErrProgram)
	}
	state, ok := r.checkpoints[o.Checkpoint]
	if !ok {
		return fmt.Errorf("%w: there is no checkpoint %d", ErrProgram, o.Checkpoint)
	}
	// A later restore without a number keeps this one.
	if o.Parallelism != 0 {
		r.settings.Parallelism = o.Parallelism
	}
	if err := r.Kill(); err != nil {
		return err
	}
	sink, err := r.factory.Restore(r.fs, r.random, r.settings, r.now, o.Checkpoint, state)
	if err != nil {
		return err
	}
	r.sink = sink
	return nil
}

// Restart starts a sink with no state in the directory as it is: what an engine does
// after a failure before the first checkpoint. Parallelism 0 means as many subtasks as
// there were.
//
// The checkpoints stay known, so that a scenario can go on to restore one of them; what is
// in the directory stays as well, and is not the new sink's.
func (r *Runner) Restart(parallelism int) error {
	if r.checkpoints == nil {
		return fmt.Errorf("%w: no sink is open", ErrProgram)
	}
	if parallelism != 0 {
		r.settings.Parallelism = parallelism
	}
	if err := r.Kill(); err != nil {
		return err
	}
	sink, err := r.factory.New(r.fs, r.random, r.settings, r.now)
	if err != nil {
		return err
	}
	r.sink = sink
	return nil
}
