package fsmem

import (
	"math/rand/v2"
	"sync/atomic"
)

// Fault is a rule in force on a Layer: what a Rule is not, since a Rule is a value
// and counts nothing. The same Rule injected twice is two Faults. Its methods may
// be called at any time from any goroutine, also after the Layer has cleared it.
type Fault struct {
	rule    Rule
	armed   atomic.Bool
	matched atomic.Uint64
	fired   atomic.Uint64
	random  *rand.Rand // guarded by the layer; drawn from for each selected operation
}

// newFault starts the generator, so each injection of a rule has the same luck.
func newFault(r Rule) *Fault {
	f := &Fault{rule: r, random: rand.New(rand.NewPCG(r.Seed, 0))}
	f.armed.Store(true)
	return f
}

// Rule returns the rule as it was injected.
func (f *Fault) Rule() Rule { return f.rule }

// Disarm suspends the rule: it neither counts nor hits operations until Arm. So a test
// can inject a rule first and have Nth count from a moment of its choice.
func (f *Fault) Disarm() { f.armed.Store(false) }

// Arm ends a Disarm. A new fault is armed.
func (f *Fault) Arm() { f.armed.Store(true) }

// Matched returns how many operations had a kind and path that the rule names, while
// it was armed, whether or not they were hit. It is what Nth and Every count, so a
// first run with a rule that never fires tells how many places there are to fail.
func (f *Fault) Matched() uint64 { return f.matched.Load() }

// Fired returns how many operations were hit. A test whose fault never fired
// has tested nothing.
func (f *Fault) Fired() uint64 { return f.fired.Load() }

// matches counts an operation that the rule is about, and reports whether the
// rule selects it. The conditions are tried from the most certain to the least: the
// generator is asked last, so that its numbers do not depend on what other
// conditions refuse. The Layer's lock is held.
func (f *Fault) matches(e *Event) bool {
	r := &f.rule
	if !f.armed.Load() || !r.Ops.Has(e.Op) ||
		!globMatch(r.Path, e.Path) && (e.NewPath == "" || !globMatch(r.Path, e.NewPath)) {
		return false
	}
	n := f.matched.Add(1)
	switch {
	case r.Nth != 0 && n != r.Nth, r.Every != 0 && n%r.Every != 0:
		return false
	case r.Times != 0 && f.fired.Load() >= r.Times:
		return false
	case r.Prob != 0 && f.random.Float64() >= r.Prob:
		return false
	}
	return true
}
