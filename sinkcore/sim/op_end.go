package sim

// End ends the input of every subtask.
type End struct{}

func parseEnd(args []string) (Operation, error) {
	if len(args) != 0 {
		return nil, errArgs("end")
	}
	return End{}, nil
}

// String is "end".
func (End) String() string { return "end" }

// Play ends the input.
func (End) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	return sink.EndInput(-1)
}
