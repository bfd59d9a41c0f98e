package sim

import "strconv"

// Write writes a record, at the present of the clock and without event time. Records should
// be different, or nobody can tell which of them a reader sees.
//
// A write answers nothing unless the sink is one that shows records at once. Its bucket is
// what the assigner makes of the record.
type Write struct {
	Record  string // without white space
	Subtask int

	explicit bool // the subtask was given
}

// parseWrite reads a record and a subtask. A record has no spaces, so two words are never
// one record.
func parseWrite(args []string) (Operation, error) {
	if len(args) != 1 && len(args) != 2 {
		return nil, errArgs("write RECORD [SUBTASK]")
	}
	w := Write{Record: args[0], explicit: len(args) == 2}
	if w.explicit {
		n, err := number("subtask", args[1], 0)
		if err != nil {
			return nil, err
		}
		w.Subtask = int(n)
	}
	return w, nil
}

// String leaves out subtask 0 unless it was given.
//
// So a line prints as it was read, also one that names subtask 0.
func (w Write) String() string {
	if w.explicit || w.Subtask != 0 {
		return "write " + w.Record + " " + strconv.Itoa(w.Subtask)
	}
	return "write " + w.Record
}

// Play writes it at the present of the virtual clock.
func (w Write) Play(r *Runner) error {
	sink, err := r.Running()
	if err != nil {
		return err
	}
	if w.Subtask >= sink.Parallelism() {
		return noSubtask(sink)
	}
	return sink.Write(w.Subtask, w.Record, r.now)
}
