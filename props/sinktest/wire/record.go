package wire

import "sync"

// record is what a tracer has read so far: the operations of a process, and how many bytes of
// answers it had written before each. It takes whatever comes, so that nobody waits for a reader.
type record struct {
	changed chan struct{} // holds one if something was added since wait has looked
	ended   chan struct{} // closed when there is no more

	mu         sync.Mutex
	operations []recorded
	wrote      int64
}

// recorded is an operation, or a call that cannot be played.
type recorded struct {
	operation Operation
	err       error
	after     int64 // bytes of answers
}

func newRecord() *record {
	return &record{changed: make(chan struct{}, 1), ended: make(chan struct{})}
}

// add adds operations that came when so many bytes of answers were written, and were or went
// before more of them.
func (r *record) add(before, wrote int64, operations []Operation, err error) {
	r.mu.Lock()
	for _, o := range operations {
		r.operations = append(r.operations, recorded{operation: o, after: before})
	}
	if err != nil {
		r.operations = append(r.operations, recorded{err: err, after: before})
	}
	r.wrote = wrote
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default: // it is known
	}
}

func (r *record) end() { close(r.ended) }

// wait waits until so many bytes of answers are in the record. It is false if the record ends before.
func (r *record) wait(wrote int64) bool {
	for ended := false; ; {
		r.mu.Lock()
		there := r.wrote >= wrote
		r.mu.Unlock()
		if there || ended {
			return there
		}
		select {
		case <-r.changed:
		case <-r.ended:
			ended = true
		}
	}
}

// take takes the operations out that were before the last of so many bytes of answers, up to the first that cannot be
// played, which is the error.
func (r *record) take(wrote int64) (operations []Operation, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for ; n < len(r.operations) && r.operations[n].after < wrote; n++ {
		if o := r.operations[n]; err == nil && o.err == nil {
			operations = append(operations, o.operation)
		} else if err == nil {
			err = o.err
		}
	}
	r.operations = r.operations[n:]
	return operations, err
}
