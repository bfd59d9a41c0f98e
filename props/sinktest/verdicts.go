package sinktest

import (
	"slices"

	"sinklab/props"
)

// candidates is how many programs are shrunk for one rule; the shortest result counts.
const candidates = 4

// Verdicts plays programs on a kind of sinks and tells of each rule whether it holds.
// The same kind gets the same table, byte for byte, unless the sink itself is not
// repeatable. The error wraps [ErrKind]; broken rules are in the table, see [Table.Err].
func Verdicts(k Kind) (Table, error) {
	k, err := k.validate()
	if err != nil {
		return Table{}, err
	}
	s := newSearch(k)
	for number := range k.Programs {
		if k.Progress != nil {
			k.Progress(number, k.Programs)
		}
		if err := s.try(draw(k, number), number%4 == 0); err != nil {
			return Table{}, err
		}
	}
	table := Table{Kind: k.Name, Programs: k.Programs}
	for _, r := range props.Rules {
		table.Rows = append(table.Rows, s.row(r.Rule))
	}
	return table, nil
}

// search collects programs that break rules.
type search struct {
	kind       Kind
	unpromised []props.Rule
	enough     []props.Rule           // not searched for any more
	first      map[props.Rule][]lines // programs in which no rule is broken before this one
	later      map[props.Rule][]lines // programs in which another one is
	programs   map[props.Rule]int     // that could have broken it
}

func newSearch(k Kind) *search {
	return &search{
		kind: k, unpromised: k.unpromised(), first: map[props.Rule][]lines{}, later: map[props.Rule][]lines{}, programs: map[props.Rule]int{},
	}
}

// try plays a program. What is known to be broken is passed over, so that it cannot
// hide for ever what breaks after it.
func (s *search) try(program lines, twice bool) error {
	scenario, err := parse(program)
	if err != nil {
		return err
	}
	v, err := s.kind.play(scenario, slices.Concat(s.unpromised, s.enough), twice)
	if err != nil {
		return err
	}
	for rule, n := range v.Exercised {
		if n > 0 {
			s.programs[rule]++
		}
	}
	if v.Violation == nil {
		return nil
	}
	rule := v.Violation.Rule
	if len(s.enough) == 0 || s.breaks(program, rule, s.unpromised) {
		s.first[rule] = append(s.first[rule], program)
	} else {
		s.later[rule] = append(s.later[rule], program)
	}
	// Programs in which it comes first are worth waiting for.
	if len(s.first[rule]) >= candidates || len(s.later[rule]) >= 8*candidates {
		s.enough = append(s.enough, rule)
	}
	return nil
}

// breaks tells whether a rule is the first to be broken among those not skipped. A sink
// that is not repeatable gets more than one try.
func (s *search) breaks(program lines, rule props.Rule, skip []props.Rule) bool {
	scenario, err := parse(program)
	if err != nil {
		return false
	}
	tries := 1
	if rule == props.Deterministic {
		tries = 8
	}
	for range tries {
		v, err := s.kind.play(scenario, skip, rule == props.Deterministic)
		if err == nil && v.Violation != nil && v.Violation.Rule == rule {
			return true
		}
	}
	return false
}

// others lists all rules but one.
func others(rule props.Rule) []props.Rule {
	var rules []props.Rule
	for _, r := range props.Rules {
		if r.Rule != rule {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

// row makes the verdict on a rule.
func (s *search) row(rule props.Rule) Row {
	r := Row{Rule: rule, Programs: s.programs[rule]}
	for _, w := range s.kind.Waived {
		if w.Rule == rule {
			r.Status, r.Reason = Waived, w.Reason
			return r
		}
	}
	found, skip := s.first[rule], s.unpromised
	if len(found) == 0 {
		found, skip = s.later[rule], others(rule)
	}
	if len(found) == 0 {
		if r.Programs == 0 {
			r.Status = Untried
		}
		return r
	}
	var best lines
	for _, program := range found[:min(len(found), candidates)] {
		short := shrink(program, func(l lines) bool { return s.kind.legal(l) && s.breaks(l, rule, skip) })
		if best == nil || simpler(short, best) {
			best = short
		}
	}
	r.Status = Broken
	s.explain(&r, best, skip)
	return r
}

// explain plays the program of a broken rule for its answers, and finds out which rules
// break before it.
func (s *search) explain(r *Row, program lines, skip []props.Rule) {
	scenario, err := parse(program)
	if err != nil {
		return
	}
	for range 8 { // again only if the sink is not repeatable
		v, err := s.kind.play(scenario, skip, r.Rule == props.Deterministic)
		if err == nil && v.Violation != nil && v.Violation.Rule == r.Rule {
			r.Program, r.Violation = v.Played, v.Violation
			break
		}
	}
	if r.Violation == nil {
		r.Program, r.Violation = scenario, &props.Violation{Rule: r.Rule, Step: len(program), Detail: "seen once and not again"}
	}
	if len(s.first[r.Rule]) > 0 {
		return
	}
	for before := s.unpromised; len(r.After) < len(props.Rules); {
		v, err := s.kind.play(scenario, before, false)
		if err != nil || v.Violation == nil || v.Violation.Rule == r.Rule {
			return
		}
		r.After = append(r.After, v.Violation.Rule)
		before = append(slices.Clone(before), v.Violation.Rule)
	}
}
