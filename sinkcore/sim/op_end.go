package sim

import "strconv"

// End ends the input of every subtask, or of one only. What it hands over waits for one
// more checkpoint, so nothing becomes visible by it alone.
//
// After it the subtask takes no more records, and what a further write answers is an error
// of the sink. Checkpoints go on, since the one that publishes the last parts is yet to
// come.
type End struct {
	Subtask int // AllSubtasks, or one
}

func parseEnd(args []string) (Operation, error) {
	switch len(args) {
	case 0:
		return End{AllSubtasks}, nil
	case 1:
		subtask, err := number("subtask", args[0], 0)
		return End{int(subtask)}, err
	}
	return nil, errArgs("end [SUBTASK]")
}

// String leaves out the subtask if it is every one.
func (e End) String() string {
	if e.Subtask == AllSubtasks {
		return "end"
	}
	return "end " + strconv.Itoa(e.Subtask)
}

// Play ends the input.
//
// It takes no checkpoint by itself: that the last parts wait for one is what a trace is to
// show.
func (e End) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	if e.Subtask >= sink.Parallelism() {
		return noSubtask(sink)
	}
	return sink.EndInput(e.Subtask)
}
