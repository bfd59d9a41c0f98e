package props

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/fsmem"
	"sinklab/sinkcore/sim"
)

// relation is a change of a program, or of how it is played, that must not change what a
// reader has seen in the end.
type relation struct {
	name string

	// same tells, for the kind of the program, how much must be the same.
	same func(kind) sameness

	// change makes the other program. What is not changed may be shared.
	change func(sim.Scenario) sim.Scenario

	// options are those of the other run; the seed is set already.
	options func(*Options)

	// undo maps a visible path or record of the other run to that of the first.
	undo func(string) string
}

// sameness is how much of two runs must be the same.
type sameness int

const (
	nothing  sameness = iota // the other run keeps the rules, and that is all
	multiset                 // the records that are visible at the end
	history                  // all files, in their order, and all errors
)

// kind says on what a program depends.
type kind struct {
	faults bool // a fault is injected; after an error an advance ends early
	counts bool // on the number of file-system operations: a crash, a fault, a drawn power cut
	writes bool // on that of those that write, or on what was written and not synced
	chosen bool // the program chooses the checkpoint that is restored
	old    bool // a checkpoint older than the newest was restored, or refused
	ends   bool // the input ends on one subtask only
	zoned  bool // buckets depend on the time
	paths  bool // a fault names a directory
}

// kindOf looks at the program and at its run.
func kindOf(p sim.Scenario, v Verdict) kind {
	k := kind{old: v.Reached["older checkpoint refused"]+v.Reached["older checkpoint restored"] > 0}
	for _, step := range p.Steps {
		switch o := step.Operation.(type) {
		case sim.Restore:
			k.chosen = true
		case Crash:
			k.counts, k.writes = true, true
		case Fault:
			k.faults, k.counts = true, true
			k.writes = k.writes || o.Rule.Ops == 0 || o.Rule.Ops.Has(fsmem.OpWrite) || o.Rule.Ops.Has(fsmem.OpOpenFile)
			k.paths = k.paths || strings.Contains(o.Rule.Path, "/")
		case PowerLoss:
			if o.Survival.Keep == fsmem.KeepDrawn || o.Survival.Keep == fsmem.KeepIndex {
				k.counts, k.writes = true, true
			}
		case sim.End:
			k.ends = k.ends || o.Subtask != sim.AllSubtasks
		case sim.Open:
			k.zoned = k.zoned || strings.Contains(o.String(), "assigner=datetime")
		}
	}
	return k
}

func always(s sameness) func(kind) sameness { return func(kind) sameness { return s } }

// unlessCounting is for changes that add operations of the file system, or close parts at
// other moments. Whether an older checkpoint can be restored depends on that too.
func unlessCounting(k kind) sameness {
	if k.counts || k.old {
		return nothing
	}
	return multiset
}

func unlessWriting(k kind) sameness {
	if k.writes {
		return nothing
	}
	return history
}

func bufferOf(size int) func(*Options) { return func(o *Options) { o.BufferSize = size } }

// relations are tried with every program.
var relations = []relation{
	{name: "every record is written at once", same: unlessWriting, options: bufferOf(1)},
	{name: "blocks of ten bytes", same: unlessWriting, options: bufferOf(10)},
	{name: "completions are told twice", same: always(history), options: func(o *Options) { o.Twice = true }},
	{name: "time passes in smaller steps", change: smallerSteps, same: func(k kind) sameness {
		if k.faults {
			return nothing
		}
		return history
	}},
	{name: "other names of files", same: always(history), options: func(o *Options) { o.Seed += 1000 }},
	{name: "renamed buckets", change: renameBuckets, undo: func(s string) string { return shiftBucket(s, -1) }, same: func(k kind) sameness {
		if k.zoned || k.paths {
			return nothing
		}
		return history
	}},
	{name: "the clock ticks every millisecond", same: unlessCounting, change: finerTick},
	{name: "a checkpoint more before each", same: unlessCounting, change: extraCheckpoints},
	{name: "one subtask", same: unlessRescaled, change: parallelism(1)},
	{name: "three subtasks", same: unlessRescaled, change: parallelism(3)},
	{name: "five subtasks", same: unlessRescaled, change: parallelism(5)},
	{name: "a restore after each completion", change: extraRestores, same: func(k kind) sameness {
		if k.chosen {
			return nothing // a recovery gives up what is newer, and has the source send all
		}
		return unlessRescaled(k)
	}},
}

// unlessRescaled is for changes that spread records over other parts. Whether an older
// checkpoint can be restored depends on that.
func unlessRescaled(k kind) sameness {
	if k.counts || k.old || k.ends {
		return nothing
	}
	return multiset
}

// rewrite makes a program of other operations, none, one or more for each.
func rewrite(p sim.Scenario, change func(o sim.Operation) []string) sim.Scenario {
	var lines []string
	for _, step := range p.Steps {
		lines = append(lines, change(step.Operation)...)
	}
	other := parse(strings.Join(lines, "\n"))
	other.Name = p.Name
	return other
}

// smallerSteps cuts each advance at one of its ticks.
func smallerSteps(p sim.Scenario) sim.Scenario {
	tick := int64(100)
	return rewrite(p, func(o sim.Operation) []string {
		switch o := o.(type) {
		case sim.Open:
			tick = 100
			for _, w := range strings.Fields(o.String()) {
				if _, err := fmt.Sscanf(w, "tick=%d", &tick); err == nil {
					break
				}
			}
		case sim.Advance:
			n := int64(o)
			first := n / tick / 2 * tick
			return []string{sim.Advance(first).String(), "advance 0", sim.Advance(n - first).String()}
		}
		return []string{o.String()}
	})
}

// finerTick sets the tick to a millisecond: timers fire when they are due.
func finerTick(p sim.Scenario) sim.Scenario {
	return rewrite(p, func(o sim.Operation) []string {
		if _, ok := o.(sim.Open); !ok {
			return []string{o.String()}
		}
		words := slices.DeleteFunc(strings.Fields(o.String()), func(w string) bool { return strings.HasPrefix(w, "tick=") })
		return []string{strings.Join(append(words, "tick=1"), " ")}
	})
}

// shiftBucket moves the letters of a path's directories on by one, which keeps their
// order and the length of everything.
func shiftBucket(path string, by int) string {
	end := strings.LastIndexByte(path, '/')
	b := []byte(path)
	for i := range b[:max(end, 0)] {
		from := b[i]
		if by < 0 {
			from += byte(by)
		}
		if from >= 'a' && from <= 'z' {
			b[i] += byte(by)
		}
	}
	return string(b)
}

func renameBuckets(p sim.Scenario) sim.Scenario {
	return rewrite(p, func(o sim.Operation) []string {
		if w, ok := o.(sim.Write); ok {
			w.Record = shiftBucket(w.Record, 1)
			return []string{w.String()}
		}
		return []string{o.String()}
	})
}

// extraCheckpoints doubles every id and takes a checkpoint before each that nobody is
// told has completed, one after the start that does complete, and one in between that is
// empty and aborted.
func extraCheckpoints(p sim.Scenario) sim.Scenario {
	return rewrite(p, func(o sim.Operation) []string {
		switch o := o.(type) {
		case sim.Open:
			return []string{o.String(), "checkpoint 1", "complete 1"}
		case sim.Checkpoint:
			return []string{sim.Checkpoint(4*o + 1).String(), sim.Checkpoint(4*o + 2).String(), sim.Abort(4*o + 2).String(), sim.Checkpoint(4*o + 3).String()}
		case Savepoint:
			return []string{sim.Checkpoint(4*o.ID + 2).String(), Savepoint{ID: 4*o.ID + 3}.String()}
		case sim.Complete:
			o.ID = 4*o.ID + 3
			return []string{o.String()}
		case sim.Abort:
			return []string{(4*o + 3).String()}
		case sim.Restore:
			o.Checkpoint = 4*o.Checkpoint + 3
			return []string{o.String()}
		}
		return []string{o.String()}
	})
}

// extraRestores has the process die and be restored whenever a completion has reached
// every subtask.
func extraRestores(p sim.Scenario) sim.Scenario {
	ended := false
	return rewrite(p, func(o sim.Operation) []string {
		switch o := o.(type) {
		case sim.End:
			ended = true
		case sim.Open, Recover, sim.Restore:
			ended = false
		case sim.Complete:
			if o.Subtask == sim.AllSubtasks && !ended {
				return []string{o.String(), "recover"}
			}
		}
		return []string{o.String()}
	})
}

// parallelism plays with so many subtasks from the start on.
func parallelism(n int) func(sim.Scenario) sim.Scenario {
	return func(p sim.Scenario) sim.Scenario {
		return rewrite(p, func(o sim.Operation) []string {
			switch o := o.(type) {
			case sim.Open:
				words := slices.DeleteFunc(strings.Fields(o.String()), func(w string) bool { return strings.HasPrefix(w, "parallelism=") })
				return []string{strings.Join(append(words, fmt.Sprintf("parallelism=%d", n)), " ")}
			case sim.Write:
				o.Subtask %= n
				return []string{o.String()}
			case sim.Complete:
				o.Subtask = fitSubtask(o.Subtask, n)
				return []string{o.String()}
			case sim.End:
				o.Subtask = fitSubtask(o.Subtask, n)
				return []string{o.String()}
			case sim.Restore:
				o.Parallelism = 0
				return []string{o.String()}
			case Recover:
				return []string{Recover{}.String()}
			}
			return []string{o.String()}
		})
	}
}

// seenAtEnd counts the records that a reader has before it when the program is over.
func seenAtEnd(h sim.History, undo func(string) string) map[string]int {
	files, seen := map[string][]string{}, map[string]int{}
	for _, e := range h {
		switch e.Kind {
		case sim.Visible:
			files[e.Path] = e.Records
		case sim.Vanished:
			delete(files, e.Path)
		}
	}
	for _, records := range files {
		for _, r := range records {
			seen[undo(r)]++
		}
	}
	return seen
}

// told is everything that a reader and a caller have been told, without the steps.
func told(v Verdict, undo func(string) string) string {
	var b strings.Builder
	for _, e := range v.History {
		fmt.Fprintf(&b, "%d %v %s:", e.At, e.Kind, undo(e.Label)) // a label has no random part
		for _, r := range e.Records {
			b.WriteString(" " + undo(r))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d errors\n", len(v.Failures))
	return b.String()
}

// hold tries all relations on a program that is known to keep the rules.
func hold(t interface {
	Helper()
	Fatalf(string, ...any)
}, p sim.Scenario, tried map[string][3]int) {
	t.Helper()
	first, err := Play(p, Options{Seed: 1})
	if err != nil || first.Violation != nil {
		t.Fatalf("%v, %v\n%s", err, first.Violation, Text(p))
	}
	k := kindOf(p, first)
	for _, r := range relations {
		o, q, undo := Options{Seed: 1}, p, func(s string) string { return s }
		if r.options != nil {
			r.options(&o)
		}
		if r.change != nil {
			q = r.change(p)
		}
		if r.undo != nil {
			undo = r.undo
		}
		v, err := Play(q, o)
		if err != nil || v.Violation != nil {
			t.Fatalf("%s: %v, %v\n%s", r.name, err, v.Violation, Text(q))
		}
		same := r.same(k)
		n := tried[r.name]
		n[same]++
		tried[r.name] = n
		if same == nothing {
			continue
		}
		if want, got := seenAtEnd(first.History, undoNothing), seenAtEnd(v.History, undo); !maps.Equal(want, got) {
			t.Fatalf("%s: visible in the end are\n%v\nnot\n%v\n%s", r.name, got, want, Text(q))
		}
		if same != history {
			continue
		}
		if want, got := told(first, undoNothing), told(v, undo); want != got {
			t.Fatalf("%s: the history is\n%snot\n%s%s", r.name, got, want, Text(q))
		}
	}
}

func undoNothing(s string) string { return s }

// calm is the program without what depends on the number of file-system operations, so
// that all relations say something about it.
func calm(p sim.Scenario) sim.Scenario {
	return rewrite(p, func(o sim.Operation) []string {
		switch o := o.(type) {
		case Crash, Fault:
			return nil
		case PowerLoss:
			o.Survival = fsmem.Survival{}
			return []string{o.String()}
		}
		return []string{o.String()}
	})
}

// What a reader has in the end does not depend on sizes of buffers, on further
// checkpoints, on completions that come twice, on the steps in which time passes, on names
// of buckets, on the number of subtasks or on further restores; nor does the whole
// history, where nothing else is rolled or counted. That holds for every script and for
// random programs.
func TestPropMetamorphic(t *testing.T) {
	tried := map[string][3]int{}
	names, all := scripts(t)
	for _, name := range names {
		for _, s := range all[name] {
			hold(t, s, tried)
		}
	}
	for range 2 {
		rapid.Check(t, func(t *rapid.T) {
			p := DrawProgram(t)
			hold(t, p, tried)
			hold(t, calm(p), tried)
		})
	}
	for _, r := range relations {
		t.Logf("%s: %d rules only, %d same records, %d same history", r.name, tried[r.name][nothing], tried[r.name][multiset], tried[r.name][history])
		if n := tried[r.name]; n[multiset]+n[history] < 30 {
			t.Errorf("%s: hardly tried: %v", r.name, n)
		}
	}
}
