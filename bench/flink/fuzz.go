package flink

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// FuzzOptions of a run of random programs. The zero value plays none.
type FuzzOptions struct {
	Programs int    // how many
	Seed     uint64 // another seed, other programs; see [Draw]
	First    uint64 // number of the first one

	Progress func(played int, r *Report) // called after each program; may be nil
}

// Report counts what a run of random programs has found. What it has of each kind is the
// first, shrunk.
type Report struct {
	Seed     uint64 `json:"seed"`
	First    uint64 `json:"first"`
	Programs int    `json:"programs"` // played on Flink, on sinkcore, and on Flink with compaction

	Operations int `json:"operations"` // of the programs
	Files      int `json:"files"`      // that became visible on Flink, without compaction
	Restores   int `json:"restores"`   // without compaction
	Spread     int `json:"spread"`     // of them with another number of subtasks
	Chance     int `json:"chance"`     // of those in an order that sinkcore would not have chosen

	Differences []*Found `json:"differences"` // between Flink and sinkcore
	Findings    []*Found `json:"findings"`    // rules that Flink breaks
}

// Found is one kind of difference or finding.
type Found struct {
	Kind       string `json:"kind"`
	Compaction bool   `json:"compaction,omitempty"`
	Explained  bool   `json:"explained"` // in Findings
	Count      int    `json:"count"`
	First      uint64 `json:"first"`      // number of the program in which it was seen first
	Operations int    `json:"operations"` // of the example
	Detail     string `json:"detail"`
	Example    string `json:"example"` // a trace, shrunk
}

// Unexplained counts what is in no list: differences of any kind, and broken rules whose
// reason is not known.
func (r *Report) Unexplained() int {
	n := 0
	for _, f := range slices.Concat(r.Differences, r.Findings) {
		if !f.Explained {
			n += f.Count
		}
	}
	return n
}

// Fuzz plays random programs. Each is played on Flink and on sinkcore and compared, then on
// Flink with compaction; all rules of package props are watched in all three. The error
// wraps [ErrEngine], is that of the context, or is a [*sim.ProgramError], which is a defect
// of [Draw]; the report is then what had been found so far.
func Fuzz(ctx context.Context, e *Engine, o FuzzOptions) (*Report, error) {
	r := &Report{Seed: o.Seed, First: o.First, Differences: []*Found{}, Findings: []*Found{}}
	for number := o.First; number < o.First+uint64(o.Programs); number++ {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		p := Draw(o.Seed, number)
		if err := r.compare(e, p, number); err != nil {
			return r, fmt.Errorf("program %d: %w", number, err)
		}
		if err := r.judge(e, p.Merging(o.Seed, number), number); err != nil {
			return r, fmt.Errorf("program %d with compaction: %w", number, err)
		}
		r.Programs++
		if o.Progress != nil {
			o.Progress(r.Programs, r)
		}
	}
	return r, nil
}

// compare plays a program on both.
func (r *Report) compare(e *Engine, p Program, number uint64) error {
	run, err := e.Play(p)
	if err != nil {
		return err
	}
	d, err := Compare(p, run)
	if err != nil {
		return err
	}
	r.Operations += len(p.Steps)
	r.Files += len(run.History)
	for _, o := range run.restores {
		r.Restores++
		if o != nil {
			r.Spread++
			if !o.plain() {
				r.Chance++
			}
		}
	}
	if d != nil {
		if found, first := note(&r.Differences, string(d.Kind), false, number); first {
			small := Shrink(p, func(candidate Program) bool {
				run, err := e.Play(candidate)
				if err != nil {
					return false
				}
				other, err := Compare(candidate, run)
				if err != nil || other == nil || other.Kind != d.Kind {
					return false
				}
				d = other
				return true
			})
			found.Detail, found.Operations, found.Example = d.text(small), len(small.Steps), small.Text()
		}
	}
	return r.note(e, p, run, number)
}

// judge plays a program that only Flink can play.
func (r *Report) judge(e *Engine, p Program, number uint64) error {
	run, err := e.Play(p)
	if err != nil {
		return err
	}
	return r.note(e, p, run, number)
}

// note notes the rule that a run breaks, if it does.
func (r *Report) note(e *Engine, p Program, run Run, number uint64) error {
	if run.Violation == nil {
		return e.broken
	}
	name, explained := nameOf(p, run)
	found, first := note(&r.Findings, name, p.Compaction.On(), number)
	found.Explained = explained
	if first {
		small, last := ShrinkRun(e, p, run)
		answered := last.Answered(small)
		found.Detail, found.Operations, found.Example = last.Violation.Error(), len(small.Steps), answered.Text()
	}
	return e.broken
}

// ShrinkRun makes a program that breaks a rule short; it goes on breaking the same one for
// the same reason. It returns the last run too.
func ShrinkRun(e *Engine, p Program, run Run) (Program, Run) {
	name, _ := nameOf(p, run)
	rule := run.Violation.Rule
	small := Shrink(p, func(candidate Program) bool {
		other, err := e.Play(candidate)
		if err != nil || other.Violation == nil || other.Violation.Rule != rule {
			return false
		}
		if now, _ := nameOf(candidate, other); now != name {
			return false
		}
		run = other
		return true
	})
	return small, run
}

// nameOf is the name of the finding, or of the rule where the reason is not known.
func nameOf(p Program, run Run) (name string, explained bool) {
	if f := Explain(p, run); f != nil {
		return f.Name, true
	}
	return string(run.Violation.Rule), false
}

// note counts one of a kind, and tells whether it is the first.
func note(list *[]*Found, kind string, compaction bool, number uint64) (*Found, bool) {
	at := slices.IndexFunc(*list, func(f *Found) bool { return f.Kind == kind && f.Compaction == compaction })
	if at >= 0 {
		(*list)[at].Count++
		return (*list)[at], false
	}
	f := &Found{Kind: kind, Compaction: compaction, Count: 1, First: number}
	*list = append(*list, f)
	return f, true
}

// Shrink makes a program shorter and plainer as long as fails stays true: it leaves out
// operations, numbers of subtasks and keys of the open, and tries the simplest policy and
// compaction.
func Shrink(p Program, fails func(Program) bool) Program {
	for before := ""; before != p.Text(); {
		before = p.Text()
		p.Scenario = props.Shrink(p.Scenario, func(s sim.Scenario) bool {
			return fails(Program{s, p.Compaction})
		})
		for at := 0; ; {
			list := p.plainer()
			if at >= len(list) {
				break
			}
			if fails(list[at]) {
				p = list[at] // what was tried in vain before stays so, as a rule; the outer loop sees to the rest
			} else {
				at++
			}
		}
	}
	return p
}

// plainer lists programs of as many operations that say less.
func (p Program) plainer() []Program {
	var list []Program
	open, operations := p.Steps[0].Operation.String(), p.operations()
	words := strings.Fields(open)
	policy := func(word string) bool {
		key, _, _ := strings.Cut(word, "=")
		return slices.Contains([]string{"policy", "size", "rollover", "inactivity", "within", "checkpoint", "duration", "target"}, key)
	}
	try := func(words, operations []string) {
		if q, ok := p.with(strings.Join(words, " "), operations); ok {
			list = append(list, q)
		}
	}
	simple := append([]string{"open", "policy=oncheckpoint"}, slices.DeleteFunc(slices.Clone(words[1:]), policy)...)
	if len(simple) < len(words) || !slices.Contains(words, "policy=oncheckpoint") {
		try(simple, operations)
	}
	if c := (Compaction{Checkpoints: 1}); p.Compaction.On() && p.Compaction != c {
		q := p
		q.Compaction = c
		list = append(list, q)
	}
	for i := 1; i < len(words); i++ {
		if words[i] == "policy=oncheckpoint" {
			continue // the simplest, put there above
		}
		try(slices.Delete(slices.Clone(words), i, i+1), operations)
	}
	for i, line := range operations {
		fields := strings.Fields(line)
		last := len(fields) - 1
		switch {
		case last == 0, fields[0] == "advance", fields[0] == "checkpoint", fields[0] == "abort", fields[0] == "savepoint":
		case last == 1 && fields[0] != "recover" && fields[0] != "end":
			if at := strings.LastIndexByte(line, '/'); at >= 0 && fields[0] == "write" {
				try(words, replaced(operations, i, "write "+line[at+1:]))
			}
		default:
			try(words, replaced(operations, i, strings.Join(fields[:last], " ")))
		}
		if fields[0] == "savepoint" {
			try(words, replaced(operations, i, "checkpoint "+fields[1]))
		}
	}
	return list
}

func replaced(lines []string, at int, line string) []string {
	lines = slices.Clone(lines)
	lines[at] = line
	return lines
}
