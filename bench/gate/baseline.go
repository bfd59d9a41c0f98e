package gate

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// WriteBaseline writes of a run what later runs are judged by: its exact metrics, each
// once, and all samples of its ratios, with the Unit lines and the configuration it was
// measured under. Of what depends on the machine it writes one sample, which is never
// judged; it is there so that a run is found out that has not measured it. The same run
// gives the same bytes, with benchmarks and units in alphabetical order, so that two
// baselines can be compared as text; what is written is a benchmark file that Read takes.
func (r *Run) WriteBaseline(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	out := benchfmt.NewWriter(buffered)
	for _, u := range r.measuredUnits() {
		for _, record := range u.metadata() {
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	rows := slices.Clone(r.rows)
	slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(a.name, b.name) })
	for _, row := range rows {
		for _, result := range r.baselineLines(row) {
			if err := out.Write(result); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}

// measuredUnits are the units of which the run has values, in alphabetical order.
func (r *Run) measuredUnits() []*unit {
	var units []*unit
	for _, row := range r.rows {
		for _, name := range row.units {
			if u := r.unit(name); !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	slices.SortFunc(units, func(a, b *unit) int { return strings.Compare(a.name, b.name) })
	return units
}

// baselineLines are the lines of a row with what is kept of them.
func (r *Run) baselineLines(row *row) []*benchfmt.Result {
	var lines []*benchfmt.Result
	written := map[string]bool{} // all but ratios are written once
	for _, l := range row.lines {
		result := &benchfmt.Result{Config: row.config, Name: benchfmt.Name(row.full), Iters: l.iterations}
		for _, v := range l.values {
			if r.unit(v.unit).kind() != ratio && written[v.unit] {
				continue
			}
			written[v.unit] = true
			result.Values = append(result.Values, benchfmt.Value{Value: v.number, Unit: v.unit})
		}
		slices.SortFunc(result.Values, func(a, b benchfmt.Value) int { return strings.Compare(a.Unit, b.Unit) })
		if len(result.Values) > 0 {
			lines = append(lines, result)
		}
	}
	return lines
}

// Changes is what a new baseline changes.
type Changes struct {
	Findings     []Finding `json:"findings"`      // as in a Report, but that every ratio beyond its least effect is told, be it by chance or not
	ExactEqual   int       `json:"exact_equal"`   // exact metrics of a benchmark that stay
	RatiosWithin int       `json:"ratios_within"` // ratios of a benchmark whose median stays within its least effect
	Exact        int       `json:"exact"`         // exact metrics of a benchmark in the new baseline
	Ratios       int       `json:"ratios"`        // the same for ratios
}

// CompareBaselines tells what a new baseline changes; old is nil if there was none. The
// error is not nil if the new one is of no use: it has so few samples that a run with as
// many could never fail because of a ratio (ErrSamples).
func CompareBaselines(old, now *Run) (*Changes, error) {
	if _, err := Compare(now, now, Options{}); err != nil {
		return nil, err
	}
	c := &Changes{Findings: []Finding{}}
	for _, row := range now.rows {
		for _, name := range row.units {
			switch now.unit(name).kind() {
			case exact:
				c.Exact++
			case ratio:
				c.Ratios++
			}
		}
	}
	if old == nil {
		return c, nil
	}
	report := &Report{Findings: []Finding{}}
	// A benchmark that runs under another package is no problem here: the new one holds.
	for _, pair := range report.structure(old, now, &problems{}) {
		switch pair.def.kind() {
		case exact:
			report.exact(pair)
		case ratio:
			report.ratio(measure(pair.benchmark, pair.def, pair.old, pair.new, DefaultLeast), true)
		}
	}
	report.sort()
	c.Findings, c.ExactEqual, c.RatiosWithin = report.Findings, report.ExactEqual, report.RatiosWithin
	return c, nil
}

// Drops tells whether the new baseline lacks a benchmark or a unit of the old one, as that
// of a run of some of the benchmarks does. What is not in a baseline is not missed by a later
// gate, so the caller asks before it replaces the old one.
func (c *Changes) Drops() bool {
	return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Kind == MissingBenchmark || f.Kind == MissingUnit })
}

// WriteText writes a line for each finding and one that sums up.
func (c *Changes) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := writeFindings(out, c.Findings); err != nil {
		return err
	}
	fmt.Fprintf(out, "baseline: %s and %s; as before %s and %s; %s\n",
		count(c.Exact, "exact value"), count(c.Ratios, "ratio"),
		count(c.ExactEqual, "exact value"), count(c.RatiosWithin, "ratio"), count(len(c.Findings), "change"))
	return out.Flush()
}
