package sim

import (
	"fmt"
	"strconv"

	"sinklab/sinkcore"
)

// Restore kills the job, closing nothing, and starts it again from a checkpoint, which
// therefore counts as completed.
type Restore struct {
	Checkpoint  int64
	Parallelism int // 0: as many subtasks as there were
}

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

// Play restores the job.
func (o Restore) Play(r *Runner) error {
	old, err := r.running()
	if err != nil {
		return err
	}
	encoded, ok := r.checkpoints[o.Checkpoint]
	if !ok {
		return fmt.Errorf("%w: there is no checkpoint %d", ErrProgram, o.Checkpoint)
	}
	var checkpoint sinkcore.Checkpoint
	if err := checkpoint.UnmarshalBinary(encoded); err != nil {
		return err
	}
	parallelism := o.Parallelism
	if parallelism == 0 {
		parallelism = old.Parallelism()
	}
	// The system closes the files of a process that dies; Close does no more.
	if err := old.Close(); err != nil {
		return err
	}
	r.job = nil
	job, _, err := sinkcore.RestoreJob(r.fs, r.random, r.config, parallelism, r.now, checkpoint)
	if err != nil {
		return err
	}
	r.job = job
	return nil
}
