package sinktest

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/afero"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// AsFactory makes a kind drivable by sim.Runner and props.Play, for programs of your
// own. A panic of the sink comes out as an error that wraps [ErrPanic].
func AsFactory(k Kind) (sim.Factory, error) {
	k, err := k.validate()
	if err != nil {
		return nil, err
	}
	return k.factory(), nil
}

// ErrPanic is wrapped by the error of a call in which the sink panicked.
var ErrPanic = errors.New("the sink panicked")

func (k Kind) factory() sim.Factory {
	if k.Factory != nil {
		return k.Factory
	}
	if k.Sweep != nil {
		return sweeping{adapter{k}}
	}
	return adapter{k}
}

// adapter makes sinks of one subtask.
type adapter struct{ kind Kind }

func (a adapter) New(fsys afero.Fs, random io.Reader, s sim.Settings, now int64) (sim.Sink, error) {
	setup := Setup{Fs: fsys, Dir: s.Dir, Now: now, Random: random}
	return begin(now, func() (Sink, error) { return a.kind.New(setup) })
}

func (a adapter) Restore(fsys afero.Fs, random io.Reader, s sim.Settings, now, checkpoint int64, state []byte) (sim.Sink, error) {
	setup := Setup{Fs: fsys, Dir: s.Dir, Now: now, Random: random}
	return begin(now, func() (Sink, error) { return a.kind.Restore(setup, checkpoint, append([]byte(nil), state...)) })
}

// sweeping is an adapter of a kind that has a sweep.
type sweeping struct{ adapter }

var _ props.Sweeper = sweeping{}

func (s sweeping) Sweep(fsys afero.Fs, dir string, states [][]byte) (owned map[string]bool, err error) {
	defer guard(&err)
	return s.kind.Sweep(fsys, dir, states)
}

// begin starts a sink and asks it for its first timer.
func begin(now int64, start func() (Sink, error)) (_ sim.Sink, err error) {
	defer guard(&err)
	sink, err := start()
	if err != nil {
		return nil, err
	}
	a := &adapted{sink: sink}
	if err := a.Tick(now); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// guard turns a panic into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrPanic, p)
	}
}

// adapted is a [Sink] as a sim.Sink of one subtask.
type adapted struct {
	sink   Sink
	next   int64
	failed error // the first, for a sink that is no Aborter and cannot tell itself
}

// do calls the sink.
func (a *adapted) do(call func() error) (err error) {
	defer func() {
		if a.failed == nil {
			a.failed = err
		}
	}()
	defer guard(&err)
	return call()
}

func (a *adapted) Parallelism() int { return 1 }

func (a *adapted) NextTick() int64 { return a.next }

func (a *adapted) Write(_ int, record string, now int64) error {
	return a.do(func() error { return a.sink.Write(record, now) })
}

func (a *adapted) Tick(now int64) error {
	return a.do(func() (err error) {
		a.next, err = a.sink.Tick(now)
		return err
	})
}

func (a *adapted) Checkpoint(id, now int64) (state []byte, err error) {
	err = a.do(func() (err error) {
		state, err = a.sink.Prepare(id, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	// The runner takes a nil state for none.
	return append([]byte{}, state...), nil
}

func (a *adapted) Complete(id int64, _ int) error {
	return a.do(func() error { return a.sink.Commit(id) })
}

// Abort does nothing for a sink that does not want to know.
func (a *adapted) Abort(id int64) error {
	aborter, ok := a.sink.(Aborter)
	if !ok {
		return a.failed
	}
	return a.do(func() error { return aborter.Abort(id) })
}

func (a *adapted) EndInput(int) error { return a.do(a.sink.EndInput) }

func (a *adapted) Close() error { return a.do(a.sink.Close) }
