package flink

import (
	"fmt"
	"slices"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Difference is the first thing that Flink and sinkcore answer otherwise.
type Difference struct {
	Kind  Kind
	Step  int      // index of the operation; the number of them for the end of the program
	Flink []string // answers to it, or what is wrong in one line
	Core  []string
}

// Kind is a kind of difference, for counting.
type Kind string

// The kinds of differences.
const (
	Visible     Kind = "visible"      // other files became visible
	FlinkFailed Kind = "flink-failed" // an operation failed on Flink and not on sinkcore
	CoreFailed  Kind = "core-failed"  // the other way round
	OtherError  Kind = "other-error"  // both failed, and not for the same reason
	Spread      Kind = "spread"       // state was spread over subtasks as it may not be, or the states do not match
	CoreRule    Kind = "core-rule"    // sinkcore breaks a rule
)

// Kinds lists them with a sentence each.
var Kinds = []struct {
	Kind     Kind
	Sentence string
}{
	{Visible, "other files, records or names became visible"},
	{FlinkFailed, "an operation failed on Flink and not on sinkcore"},
	{CoreFailed, "an operation failed on sinkcore and not on Flink"},
	{OtherError, "an operation failed on both, for different reasons"},
	{Spread, "the state was spread over another number of subtasks as it may not be"},
	{CoreRule, "sinkcore breaks a rule of props"},
}

// Compare plays the program of a run on sinkcore and returns the first difference, or nil.
//
// After an operation that fails on both for the same reason nothing more is compared: what
// a failed restore may have published before it failed is in the table of differences in the
// documentation of sinkcore. The error is a [*sim.ProgramError].
func Compare(p Program, on Run) (*Difference, error) {
	f := &follower{restores: on.restores}
	v, err := props.Play(p.Scenario, props.Options{Factory: f})
	if err != nil {
		return nil, err
	}
	if d := firstDifference(on.Verdict, v, len(p.Steps)); d != nil {
		if f.err != nil && d.Kind != CoreRule {
			// Whatever follows from another spread is noise.
			return &Difference{Kind: Spread, Step: d.Step, Flink: []string{f.err.Error()}}, nil
		}
		return d, nil
	}
	if f.err != nil {
		return &Difference{Kind: Spread, Step: len(p.Steps), Flink: []string{f.err.Error()}}, nil
	}
	if v.Violation != nil {
		return &Difference{Kind: CoreRule, Step: v.Violation.Step, Core: []string{v.Violation.Error()}}, nil
	}
	return nil, nil
}

// firstDifference compares two runs step by step.
func firstDifference(onFlink, onCore props.Verdict, steps int) *Difference {
	seenOnFlink, seenOnCore := answers(onFlink), answers(onCore)
	for i := range steps + 1 {
		a, b := seenOnFlink[i], seenOnCore[i]
		d := &Difference{Step: i, Flink: a, Core: b}
		aFailed, bFailed := failed(a), failed(b)
		switch {
		case aFailed != "" && bFailed != "":
			if aFailed != bFailed {
				d.Kind = OtherError
				return d
			}
			return nil
		case aFailed != "":
			d.Kind = FlinkFailed
			return d
		case bFailed != "":
			d.Kind = CoreFailed
			return d
		case !slices.Equal(a, b):
			d.Kind = Visible
			return d
		}
	}
	return nil
}

// answers are the answers of a run by step, failures first.
func answers(v props.Verdict) map[int][]string {
	by := map[int][]string{}
	for _, e := range v.Failures {
		by[e.Step] = append(by[e.Step], e.Answer())
	}
	for _, e := range v.History {
		by[e.Step] = append(by[e.Step], e.Answer())
	}
	return by
}

// failed is the answer that tells of a failure, "" if there is none.
func failed(answers []string) string {
	for _, a := range answers {
		if strings.HasPrefix(a, "! ") && !strings.HasPrefix(a, "! changed ") && !strings.HasPrefix(a, "! vanished ") {
			return a
		}
	}
	return ""
}

// String is the difference with the operation, for a person.
func (d *Difference) text(p Program) string {
	at := "the end of the program"
	if d.Step < len(p.Steps) {
		at = p.Steps[d.Step].Operation.String()
	}
	return fmt.Sprintf("%s, at %q\n  Flink    %s\n  sinkcore %s", d.Kind, at, lines(d.Flink), lines(d.Core))
}

func lines(answers []string) string {
	if len(answers) == 0 {
		return "(nothing)"
	}
	return strings.Join(answers, "\n           ")
}

var _ sim.Factory = (*follower)(nil)
