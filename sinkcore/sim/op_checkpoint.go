package sim

import (
	"fmt"
	"strconv"
)

// Checkpoint takes a checkpoint of every subtask and keeps it for a later restore. The
// number is its id. One of the same id that was kept before is replaced.
//
// What it answers with depends on the policy: it closes parts, but a reader sees nothing of
// that. A trace in which a checkpoint has an answer shows a sink that publishes too early.
type Checkpoint int64

// Complete tells every subtask that a checkpoint has completed, or only one: a
// notification can get lost on its way to the others.
//
// Its answers are the files that it makes visible. The completion of a checkpoint stands
// for all earlier ones, so one whose notification was lost is made good by the next.
type Complete struct {
	ID      int64
	Subtask int // AllSubtasks, or one
}

// AllSubtasks stands for every subtask.
const AllSubtasks = -1

// Abort tells every subtask that a checkpoint will not complete. It is kept all the same:
// an abortion may come too late, and whether it may be restored is for the scenario.
type Abort int64

func parseCheckpoint(args []string) (Operation, error) {
	id, err := parseID("checkpoint", args)
	return Checkpoint(id), err
}

// parseComplete reads an id and, if there is a second word, a subtask.
func parseComplete(args []string) (Operation, error) {
	if len(args) != 2 {
		id, err := parseID("complete", args)
		return Complete{id, AllSubtasks}, err
	}
	id, err := parseID("complete", args[:1])
	if err != nil {
		return nil, err
	}
	subtask, err := number("subtask", args[1], 0)
	return Complete{id, int(subtask)}, err
}

func parseAbort(args []string) (Operation, error) {
	id, err := parseID("abort", args)
	return Abort(id), err
}

// parseID reads the one word that three of the operations have.
func parseID(name string, args []string) (int64, error) {
	if len(args) != 1 {
		return 0, errArgs(name + " ID")
	}
	return number("checkpoint id", args[0], 0)
}

func (c Checkpoint) String() string { return "checkpoint " + strconv.FormatInt(int64(c), 10) }
func (a Abort) String() string      { return "abort " + strconv.FormatInt(int64(a), 10) }

// String leaves out the subtask if it is every one.
func (c Complete) String() string {
	s := "complete " + strconv.FormatInt(c.ID, 10)
	if c.Subtask != AllSubtasks {
		s += " " + strconv.Itoa(c.Subtask)
	}
	return s
}

// Play takes the checkpoint and stores it, encoded, as a real store would. If it fails
// nothing is kept.
//
// Encoding it at once is part of what is tried: a state that shares memory with the sink
// would otherwise change with it and be restored as something that it never was.
func (c Checkpoint) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	state, err := sink.Checkpoint(int64(c), r.now)
	if err != nil {
		return err
	}
	r.checkpoints[int64(c)] = state
	return nil
}

// Play completes the checkpoint. That there is one of that id is not asked for: what a
// sink does with a completion that it knows nothing of can be tried too.
//
// A subtask that there is none of is another matter: no engine would send that, so it is a
// mistake of the scenario.
func (c Complete) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	if c.Subtask >= sink.Parallelism() {
		return noSubtask(sink)
	}
	return sink.Complete(c.ID, c.Subtask)
}

// Play aborts the checkpoint.
//
// A sink need not do anything with it. What the checkpoint had handed over is published
// with the next one that completes.
func (a Abort) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	return sink.Abort(int64(a))
}

// noSubtask is the error for a subtask that does not exist.
func noSubtask(sink Sink) error {
	return fmt.Errorf("%w: there are %d subtasks, counted from 0", ErrProgram, sink.Parallelism())
}
