package gate

import (
	"fmt"
	"slices"
)

// Compare judges a run by a baseline. The error is not nil if they cannot be compared:
// a benchmark ran under another package or configuration line (ErrMixed), there are so few
// samples that no regression of a ratio could ever be told (ErrSamples), or only ratios are
// to be judged and the sides have none in common (ErrEmpty); then nothing was judged. Whether the run passes is Report.OK.
func Compare(base, run *Run, options Options) (*Report, error) {
	options, err := options.validate()
	if err != nil {
		return nil, err
	}
	wrong := &problems{file: run.file}
	report := &Report{Findings: []Finding{}, Alpha: options.Alpha, RatiosOnly: options.RatiosOnly}
	pairs := report.structure(base, run, wrong)
	var ratios []measured
	for _, pair := range pairs {
		switch pair.def.kind() {
		case exact:
			report.exact(pair)
		case ratio:
			ratios = append(ratios, measure(pair.benchmark, pair.def, pair.old, pair.new, options.Least))
		}
	}
	report.ratios(ratios, wrong)
	if options.RatiosOnly && len(ratios) == 0 {
		wrong.add(0, ErrEmpty, "no ratio that %s has too, with the same Unit line; there is nothing that could fail", base.file)
	}
	if err := wrong.err(); err != nil {
		return nil, err
	}
	report.sort()
	return report, nil
}

// pair is the samples of a benchmark in a unit that both sides have.
type pair struct {
	benchmark, unit string
	def             *unit // in the baseline
	old, new        []float64
}

// place is a benchmark and a unit that one side lacks.
type place struct{ benchmark, unit string }

// structure finds what one side lacks and what is described in two ways, and returns
// what is left to compare, in the order of the baseline.
func (r *Report) structure(base, run *Run, wrong *problems) []pair {
	differs := r.descriptions(base, run)
	var pairs []pair
	var missing, added []place
	for _, old := range base.rows {
		now := run.byName[old.name]
		if now == nil {
			r.add(Finding{Kind: MissingBenchmark, Benchmark: "Benchmark" + old.name, Detail: "the baseline has it"})
			continue
		}
		if a, b := rowConfig(old.config), rowConfig(now.config); !sameConfig(a, b) {
			wrong.add(0, ErrMixed, "Benchmark%s ran under %s, and in %s under %s", old.name, configText(b), base.file, configText(a))
		}
		for _, name := range old.units {
			switch {
			case now.samples[name] == nil:
				missing = append(missing, place{old.name, name})
			case !differs[name]:
				pairs = append(pairs, pair{"Benchmark" + old.name, name, base.unit(name), old.samples[name], now.samples[name]})
			}
		}
	}
	for _, now := range run.rows {
		old := base.byName[now.name]
		for _, name := range now.units {
			if run.unit(name).kind() == machine {
				r.NotJudged++
			}
			if old != nil && old.samples[name] == nil {
				added = append(added, place{now.name, name})
			}
		}
		if old == nil {
			r.add(Finding{Kind: NewBenchmark, Benchmark: "Benchmark" + now.name, Detail: "the baseline lacks it"})
		}
	}
	r.places(MissingUnit, missing, run, added, "the baseline has it")
	r.places(NewUnit, added, base, nil, "the baseline lacks it")
	return pairs
}

// descriptions finds units that the sides describe in two ways, among those that at least
// one side judges, and returns which.
func (r *Report) descriptions(base, run *Run) map[string]bool {
	differs := map[string]bool{}
	for _, old := range base.rows {
		for _, name := range old.units {
			if differs[name] || !run.has(name) {
				continue
			}
			was, is := base.unit(name), run.unit(name)
			if was.kind() == machine && is.kind() == machine || was.String() == is.String() {
				continue
			}
			differs[name] = true
			r.add(Finding{Kind: UnitDiffers, Unit: name, Detail: fmt.Sprintf("was %q, is %q", was, is)})
		}
	}
	return differs
}

// has tells whether any benchmark has the unit.
func (r *Run) has(name string) bool {
	return slices.ContainsFunc(r.rows, func(row *row) bool { return row.samples[name] != nil })
}

// places tells what one side lacks. A unit that the other side has nowhere is told once,
// with the one that may be its new name.
func (r *Report) places(kind Kind, lacking []place, other *Run, candidates []place, detail string) {
	told := map[string]bool{}
	for _, at := range lacking {
		if other.has(at.unit) {
			r.add(Finding{Kind: kind, Benchmark: "Benchmark" + at.benchmark, Unit: at.unit, Detail: detail})
			continue
		}
		if told[at.unit] {
			continue
		}
		told[at.unit] = true
		where := benchmarksOf(lacking, at.unit)
		text := fmt.Sprintf("%s in %s", detail, count(len(where), "benchmark"))
		if name := newName(where, candidates); name != "" {
			text += fmt.Sprintf("; is it %s now?", name)
		}
		r.add(Finding{Kind: kind, Unit: at.unit, Detail: text})
	}
}

// newName is the only unit that is new in these benchmarks and in no other, or "".
func newName(where []string, candidates []place) string {
	name := ""
	for _, c := range candidates {
		if c.unit == name || !slices.Equal(benchmarksOf(candidates, c.unit), where) {
			continue
		}
		if name != "" {
			return ""
		}
		name = c.unit
	}
	return name
}

func benchmarksOf(places []place, unit string) []string {
	var names []string
	for _, p := range places {
		if p.unit == unit {
			names = append(names, p.benchmark)
		}
	}
	slices.Sort(names)
	return names
}

// exact judges an exact metric. Within a side all samples are equal.
func (r *Report) exact(p pair) {
	old, now := p.old[0], p.new[0]
	if equal(old, now) {
		r.ExactEqual++
		return
	}
	r.add(Finding{Kind: ExactDiffers, Benchmark: p.benchmark, Unit: p.unit, Old: &old, New: &now, Worse: p.def.worse(old, now)})
}

// ratios judges all ratios together.
func (r *Report) ratios(all []measured, wrong *problems) {
	r.Ratios = len(all)
	p := make([]float64, len(all))
	few := 0
	for i, m := range all {
		p[i] = m.p
		if alpha := r.Alpha / float64(len(all)); smallestP(m.n1, m.n2) > alpha {
			if few++; few == 1 {
				wrong.add(0, ErrSamples, "%s %s has %d samples, and %d in the baseline; among %s no difference, however large, could be told at the rate %v; %d rounds on each side are enough, as are fewer against a longer baseline",
					m.benchmark, m.unit.name, m.n2, m.n1, count(len(all), "ratio"), r.Alpha, samplesNeeded(alpha))
			}
		}
	}
	for i, holds := range significant(p, r.Alpha) {
		r.ratio(all[i], holds)
	}
}

// ratio judges a ratio of which it is known whether chance may explain it.
func (r *Report) ratio(m measured, significant bool) {
	worse := m.unit.worse(m.old, m.new)
	finding := Finding{Benchmark: m.benchmark, Unit: m.unit.name, Old: &m.old, New: &m.new, Worse: worse, P: m.p, Least: m.least}
	switch {
	case significant && worse > m.least:
		finding.Kind = Regression
	case significant && worse < -m.least:
		finding.Kind = Improvement
	default:
		r.RatiosWithin++
		return
	}
	r.add(finding)
}
