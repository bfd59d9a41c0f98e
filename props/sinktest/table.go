package sinktest

import (
	"errors"
	"fmt"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Status is what has become of a rule.
type Status uint8

// The statuses. Only the first means that the rule was tried and no program broke it.
const (
	Holds Status = iota
	Broken
	Untried // no program could have broken it
	Waived  // not promised, so not judged
)

var statusNames = [...]string{"holds", "broken", "untried", "waived"}

// String is one word in lower case.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Row is the verdict on one rule.
type Row struct {
	Rule     props.Rule
	Status   Status
	Programs int    // that could have broken the rule
	Reason   string // of a waiver

	// Of a broken rule: the shortest program found that breaks it, with the answers of
	// the sink, and what was seen.
	Program   sim.Scenario
	Violation *props.Violation

	// After lists the rules that break in the program before this one does, and without which
	// it was never seen to break. Mend those first: it may be that nothing else is wrong.
	After []props.Rule
}

// Table is the verdict on a kind of sinks.
type Table struct {
	Kind     string
	Programs int   // played
	Rows     []Row // one for each of props.Rules, in their order
}

// Row gives the row of a rule; the zero Row if there is no such rule.
func (t Table) Row(rule props.Rule) Row {
	for _, r := range t.Rows {
		if r.Rule == rule {
			return r
		}
	}
	return Row{}
}

// Broken lists the rules that are broken, in order.
func (t Table) Broken() []props.Rule {
	var rules []props.Rule
	for _, r := range t.Rows {
		if r.Status == Broken {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

// Err is nil if every rule holds or is waived; else it joins a [*RowError] for each
// other one.
func (t Table) Err() error {
	var all []error
	for _, r := range t.Rows {
		if r.Status == Broken || r.Status == Untried {
			all = append(all, &RowError{t.Kind, r})
		}
	}
	return errors.Join(all...)
}

// RowError is a rule that does not hold as an error. Unwrap gives the
// [*props.Violation], or [ErrUntried].
type RowError struct {
	Kind string
	Row  Row
}

// ErrUntried is the cause of the error for a rule that no program could have broken, so
// nothing is known about it. Play more programs, let the sink lack less, or waive the rule.
var ErrUntried = errors.New("no program has put the rule to the test")

// Error has the rule, what was seen, and the program that shows it.
func (e *RowError) Error() string {
	return "sink " + e.Kind + ": " + strings.TrimSuffix(e.Row.String(), "\n")
}

// Unwrap returns the cause.
func (e *RowError) Unwrap() error {
	if e.Row.Violation == nil {
		return ErrUntried
	}
	return e.Row.Violation
}

// String is the table as text: the rules, and for the broken ones the sentence, what was seen,
// and the program with its answers, to be given to [Play] again.
func (t Table) String() string {
	var b strings.Builder
	counts := [len(statusNames)]int{}
	for _, r := range t.Rows {
		counts[r.Status]++
	}
	fmt.Fprintf(&b, "sink %s, %d programs:", t.Kind, t.Programs)
	for s, n := range counts {
		if n > 0 || s < 2 {
			fmt.Fprintf(&b, " %d %s", n, Status(s))
		}
	}
	b.WriteString("\n")
	for _, r := range t.Rows {
		b.WriteString("\n")
		r.append(&b)
	}
	return b.String()
}

// String is the row as text, as in the table.
func (r Row) String() string {
	var b strings.Builder
	r.append(&b)
	return b.String()
}

// append writes the row.
func (r Row) append(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s", r.Rule, r.Status)
	switch r.Status {
	case Holds:
		fmt.Fprintf(b, ", tried by %d programs\n", r.Programs)
	case Waived:
		fmt.Fprintf(b, ": %s\n", r.Reason)
	case Untried:
		fmt.Fprintf(b, "\n    %s\n", sentence(r.Rule))
	case Broken:
		for i, rule := range r.After {
			b.WriteString([]string{", after ", ", "}[min(i, 1)] + string(rule))
		}
		when := "Seen"
		if r.Violation.Step >= len(r.Program.Steps) {
			// See props.Play.
			when = "Seen when the input ended and the last checkpoint completed"
		}
		fmt.Fprintf(b, "\n    %s\n    %s: %s\n", sentence(r.Rule), when, r.Violation.Detail)
		text, _ := r.Program.AppendText(nil) // it never fails
		for line := range strings.Lines(string(text)) {
			b.WriteString("        " + line)
		}
	}
}
