package peers

import (
	"iter"
	"slices"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// day is what a witness has to exceed; a witness is measured for twice as long.
const day = 24 * time.Hour

// unbounded is the bound of a peer that has none.
//
// Every claim that there is no bound can be tried: Simulate with the witness shows a record
// that waits longer than a day. Outages are taken out, so that it is the settings which
// make it wait and not a machine that is down.
func unbounded(reason string, witness Workload) Bound {
	witness.Duration = 2 * day
	witness.Outages = nil
	return Bound{Unbounded: true, Reason: reason, Witness: witness}
}

// oneRecord is a stream of which one record of one byte comes and then nothing more.
//
// The record has the smallest size there is, lest it fill a file, and the workload's other
// fields stay: with any checkpoints, subtasks and buckets it waits all the same.
func oneRecord(w Workload) Workload {
	w.RecordSize = 1
	w.Arrivals = sim.Recorded{Name: "one", Records: []sim.Arrival{{At: 1, EventTime: sinkcore.NoTime}}}
	return w
}

// trickle is a stream of small records that never pauses for as long as the duration, so that
// a file which is only closed when it is idle, or large, stays open.
//
// Half the pause between two records leaves no instant at which a file is idle for long
// enough.
func trickle(w Workload, pause time.Duration) Workload {
	w.Arrivals = sim.Constant{Interval: max(pause/2, time.Second)}
	if pause > 0 {
		w.Arrivals = sim.Constant{Interval: max(pause/2, time.Millisecond)}
	}
	w.RecordSize, w.Subtasks, w.Buckets = 1, 1, 1
	return w
}

// stamped is a stream of records that all bear the same time.
//
// It stands for a stream whose event time does not move on, so that nothing which waits for
// a later time of a record, such as a watermark, ever happens.
type stamped struct {
	sim.Arrivals
	event int64
}

// All gives the records of the stream.
func (s stamped) All() iter.Seq[sim.Arrival] {
	return func(yield func(sim.Arrival) bool) {
		for a := range s.Arrivals.All() {
			if a.EventTime = s.event; !yield(a) {
				return
			}
		}
	}
}

// scheduleBound is the bound of a peer as package sinkcore asks for it.
//
// A schedule has all that a bound depends on: its Duration is the CommitDuration of a
// workload. An interval of 0 means no checkpoints there, so nothing is ever visible and
// there is no bound, while in a workload it would mean the default.
func scheduleBound(p Peer, s sinkcore.Schedule) (time.Duration, bool) {
	if s.Checkpoint <= 0 {
		return 0, false
	}
	b := p.WorstLatency(Workload{CheckpointInterval: s.Checkpoint, CommitDuration: s.Duration})
	return b.Worst, !b.Unbounded
}

// ruleOrder is the order of the rules in package props; a test compares them.
var ruleOrder = []string{
	"Visibility", "NoDuplicate", "NoLoss", "Immutable", "Unique", "Order", "Idempotent", "Restore", "EndOfInput", "Latency",
	"FileCount", "Hidden", "Durable", "Surfaced", "Poisoned", "Orphans", "Handles", "Live", "Deterministic",
}

// withWaiver adds a waiver at its place in the order of the rules. One that waives the rule
// already stays.
//
// The list that is given is not changed: the callers' lists are variables of the package,
// which all values of a type share.
func withWaiver(list []Waiver, add Waiver) []Waiver {
	if slices.ContainsFunc(list, func(w Waiver) bool { return w.Rule == add.Rule }) {
		return list
	}
	list = append(slices.Clone(list), add)
	slices.SortStableFunc(list, func(a, b Waiver) int {
		return slices.Index(ruleOrder, a.Rule) - slices.Index(ruleOrder, b.Rule)
	})
	return list
}
