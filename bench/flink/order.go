package flink

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// order is how Flink has spread a checkpoint over another number of subtasks. Writers and
// Committers list, for each new subtask and in the order in which it was given them, elements
// of the old subtasks' states, as pairs of subtask and index.
type order struct {
	buckets             [][]string // of the old writers' elements
	writers, committers [][][2]int
}

// allowed returns an error if Flink's repartitioner (RoundRobinOperatorStateRepartitioner:294-390)
// may not have made this order. What it leaves to chance is in which order the old subtasks
// come; which buckets come first within one is a matter of their hashes. Everything else is
// fixed: every element goes to one subtask, none has two more than another, and what a
// subtask is given of an old one is a run of it.
func (o *order) allowed() error {
	writers := make([]int, len(o.buckets))
	for i, ids := range o.buckets {
		writers[i] = len(ids)
	}
	committers := make([]int, len(o.buckets))
	for i := range committers {
		committers[i] = 1
	}
	if err := allowedRuns(o.writers, writers); err != nil {
		return fmt.Errorf("writers: %w", err)
	}
	if err := allowedRuns(o.committers, committers); err != nil {
		return fmt.Errorf("committers: %w", err)
	}
	return nil
}

// allowedRuns judges one state; sizes are the numbers of elements of the old subtasks.
func allowedRuns(given [][][2]int, sizes []int) error {
	total := 0
	for _, n := range sizes {
		total += n
	}
	taken := map[[2]int]bool{}
	for subtask, elements := range given {
		if len(elements) < total/len(given) || len(elements) > (total+len(given)-1)/len(given) {
			return fmt.Errorf("subtask %d was given %d of %d elements", subtask, len(elements), total)
		}
		last := map[int]int{}
		for _, e := range elements {
			if e[0] >= len(sizes) || e[1] >= sizes[e[0]] || taken[e] {
				return fmt.Errorf("element %d of subtask %d was given twice, or there is none", e[1], e[0])
			}
			taken[e] = true
			if before, any := last[e[0]]; any && e[1] != before+1 {
				return fmt.Errorf("subtask %d was given element %d of subtask %d after element %d", subtask, e[1], e[0], before)
			}
			last[e[0]] = e[1]
		}
	}
	if len(taken) != total {
		return fmt.Errorf("%d of %d elements were given to a subtask", len(taken), total)
	}
	return nil
}

// redistribute makes of a checkpoint of sinkcore one of the new number of subtasks, in this
// order. It returns an error if the checkpoint has not the same elements as Flink's.
func (o *order) redistribute(c sinkcore.Checkpoint) (sinkcore.Checkpoint, error) {
	if len(c.Writers) != len(o.buckets) {
		return c, fmt.Errorf("sinkcore has %d subtasks, Flink %d", len(c.Writers), len(o.buckets))
	}
	for i, w := range c.Writers {
		if len(w.Buckets) != len(o.buckets[i]) {
			return c, fmt.Errorf("the state of subtask %d has %d buckets, Flink's %d", i, len(w.Buckets), len(o.buckets[i]))
		}
	}
	out := sinkcore.Checkpoint{ID: c.ID, Writers: make([]sinkcore.WriterState, len(o.writers)), Committers: make([]sinkcore.CommitterState, len(o.writers))}
	for i, elements := range o.writers {
		for _, e := range elements {
			id := o.buckets[e[0]][e[1]]
			at := slices.IndexFunc(c.Writers[e[0]].Buckets, func(b sinkcore.BucketState) bool { return b.Bucket == id })
			if at < 0 {
				return c, fmt.Errorf("the state of subtask %d has no bucket %q, Flink's has", e[0], id)
			}
			out.Writers[i].Buckets = append(out.Writers[i].Buckets, c.Writers[e[0]].Buckets[at])
		}
	}
	for i, elements := range o.committers {
		for _, e := range elements {
			out.Committers[i].Batches = join(out.Committers[i].Batches, c.Committers[e[0]].Batches)
		}
	}
	return out, nil
}

// join joins what two committers have, by checkpoint.
func join(a, b []sinkcore.Batch) []sinkcore.Batch {
	out := slices.Clone(a)
	for _, batch := range b {
		at, found := slices.BinarySearchFunc(out, batch.Checkpoint, func(x sinkcore.Batch, id int64) int { return cmp.Compare(x.Checkpoint, id) })
		if !found {
			out = slices.Insert(out, at, batch)
			continue
		}
		out[at].Committables = append(slices.Clone(out[at].Committables), batch.Committables...)
	}
	return out
}

// follower makes sinks of sinkcore that are restored in the orders in which Flink was.
type follower struct {
	sim.Core
	restores []*order
	err      error // an order that may not be, or that does not fit
}

// Restore restores in Flink's order. Where Flink kept the number of subtasks, or was
// restored less often, sinkcore does what it does.
func (f *follower) Restore(fsys afero.Fs, random io.Reader, s sim.Settings, now int64, checkpoint int64, state []byte) (sim.Sink, error) {
	var o *order
	if len(f.restores) > 0 {
		o, f.restores = f.restores[0], f.restores[1:]
	}
	if o == nil || f.err != nil {
		return f.Core.Restore(fsys, random, s, now, checkpoint, state)
	}
	var c sinkcore.Checkpoint
	if err := c.UnmarshalBinary(state); err != nil {
		return nil, err
	}
	if f.err = o.allowed(); f.err == nil {
		c, f.err = o.redistribute(c)
	}
	if f.err != nil {
		return f.Core.Restore(fsys, random, s, now, checkpoint, state)
	}
	job, _, err := sinkcore.RestoreJob(fsys, random, sinkcore.Config[string]{
		Dir: s.Dir, Encoder: sinkcore.Line[string]{}, Assigner: s.Assigner, Policy: s.Policy, CheckInterval: s.Check,
		Prefix: s.Prefix, Suffix: s.Suffix, BufferSize: s.BufferSize, MaxOpenParts: s.MaxOpenParts,
	}, s.Parallelism, now, c)
	if err != nil {
		return nil, err
	}
	return &sim.CoreSink{Job: job}, nil
}

// plain tells whether it is the order that sinkcore chooses: that of the old subtasks, and
// of the bucket ids within one.
func (o *order) plain() bool {
	var before [2]int
	for i, e := range slices.Concat(o.writers...) {
		if i > 0 && slices.Compare(before[:], e[:]) > 0 {
			return false
		}
		before = e
	}
	return slices.IndexFunc(o.buckets, func(ids []string) bool { return !slices.IsSorted(ids) }) < 0
}
