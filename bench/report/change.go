package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// Change is how the run differs from the one that it is compared with.
type Change struct {
	Base    string   `json:"base"`    // name of the other file
	Changed []Delta  `json:"changed"` // in real time, significant ones first, larger ones first
	Exact   []Delta  `json:"exact"`   // in virtual time, those that differ at all
	Equal   int      `json:"exact_equal"`
	Only    []string `json:"only"` // metrics that one of the two files lacks, with the file's name

	// ByChance is how many of Changed would count as significant if nothing had changed.
	ByChance float64 `json:"significant_by_chance"`
}

// Delta is one benchmark's change in one unit.
type Delta struct {
	Benchmark   string    `json:"benchmark"`
	Unit        string    `json:"unit"`
	Old         float64   `json:"old"`    // median
	New         float64   `json:"new"`    // median
	Change      *float64  `json:"change"` // (new-old)/old; absent if old is 0 or the sign changes
	Interval    []float64 `json:"interval,omitempty"`
	P           float64   `json:"p"` // of Mann and Whitney's test; 0 for an exact metric
	Significant bool      `json:"significant"`
	Better      string    `json:"better"` // lower, higher, or empty if the file does not say

	label string
	full  string // the benchmark's name in the new file
}

// compare compares metric by metric. Files of different machines may be compared: names are
// the same without the number of processors.
func compare(run, base *Run) *Change {
	change := &Change{Base: base.name, Changed: []Delta{}, Exact: []Delta{}, Only: []string{}}
	labels := shortNames(run.metrics)
	for _, m := range run.metrics {
		old := base.byKey[m.metricKey]
		if old == nil {
			change.Only = append(change.Only, fmt.Sprintf("%s: %s %s", run.name, m.benchmark, m.unit))
			continue
		}
		d := delta(old, m)
		d.label = labels[m.metricKey]
		switch {
		case !m.exact:
			change.Changed = append(change.Changed, d)
			change.ByChance += benchmath.DefaultThresholds.CompareAlpha
		case d.Old != d.New:
			change.Exact = append(change.Exact, d)
		default:
			change.Equal++
		}
	}
	for _, m := range base.metrics {
		if run.byKey[m.metricKey] == nil {
			change.Only = append(change.Only, fmt.Sprintf("%s: %s %s", base.name, m.benchmark, m.unit))
		}
	}
	slices.SortStableFunc(change.Changed, func(a, b Delta) int {
		return cmp.Or(boolFirst(a.Significant, b.Significant), cmp.Compare(b.size(), a.size()))
	})
	return change
}

func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// delta compares two samples.
func delta(old, new *metric) Delta {
	d := Delta{Benchmark: new.benchmark, Unit: new.unit, Better: betterWord(new.better), full: new.full}
	d.Old, d.New = old.summary().Center, new.summary().Center
	if d.Old > 0 && d.New >= 0 || d.Old < 0 && d.New <= 0 {
		share := d.New/d.Old - 1
		d.Change = &share
	}
	if new.exact {
		d.Significant = d.Old != d.New
		return d
	}
	comparison := benchmath.AssumeNothing.Compare(old.sample(), new.sample())
	d.P, d.Significant = comparison.P, comparison.P < comparison.Alpha && d.Old != d.New
	d.Interval = changeInterval(old.samples, new.samples, comparison.Alpha)
	return d
}

// changeInterval is the interval of the change that belongs to the Mann-Whitney test: the
// factors by which the old samples can be multiplied without the test telling them from the
// new ones (Hodges and Lehmann, 1963). Its ends are quotients of a new and an old sample. It
// is nil if the samples are too few or not all positive.
func changeInterval(old, new []float64, alpha float64) []float64 {
	var quotients []float64
	for _, o := range old {
		for _, n := range new {
			if o <= 0 || n <= 0 {
				return nil
			}
			quotients = append(quotients, n/o)
		}
	}
	slices.Sort(quotients)
	var u interface{ CDF(float64) float64 } = stats.UDist{N1: len(old), N2: len(new)}
	if len(old) > stats.MannWhitneyExactLimit || len(new) > stats.MannWhitneyExactLimit {
		n, m := float64(len(old)), float64(len(new)) // the test itself goes over to this
		u = stats.NormalDist{Mu: n * m / 2, Sigma: math.Sqrt(n * m * (n + m + 1) / 12)}
	}
	// So many quotients does the test exclude at each end.
	outside := sort.Search(len(quotients)/2, func(n int) bool { return u.CDF(float64(n)) > alpha/2 })
	if outside == 0 {
		return nil
	}
	return []float64{quotients[outside-1] - 1, quotients[len(quotients)-outside] - 1}
}

// size is how large a change is, whatever its direction: doubling is as large as halving.
func (d Delta) size() float64 {
	if d.Change == nil {
		return 0
	}
	return math.Abs(math.Log(max(1+*d.Change, 1e-9)))
}

// verdict is 1 for a change to the better, -1 for one to the worse, 0 if the file does not
// say which is which or nothing changed.
func (d Delta) verdict() int {
	switch {
	case d.New == d.Old || d.Better == "":
		return 0
	case (d.New < d.Old) == (d.Better == "lower"):
		return 1
	}
	return -1
}

// drawn is how many changes the picture shows; the table has all of them.
const drawn = 40

// picture shows the largest changes, or nothing if there is none in real time.
func (c *Change) picture() (picture, bool) {
	var rows []row
	significant, better, worse := 0, 0, 0
	for _, d := range c.Changed {
		if d.Significant {
			significant++
			switch d.verdict() {
			case 1:
				better++
			case -1:
				worse++
			}
		}
		if d.Change == nil || len(rows) == drawn {
			continue
		}
		r := row{label: d.label + " " + d.Unit, value: 100 * *d.Change, text: percent(*d.Change), ink: inkMuted, filled: d.Significant}
		for _, bound := range d.Interval {
			r.interval = append(r.interval, 100*bound)
		}
		if d.Significant {
			r.ink = [3]ink{inkWorse, inkText, inkBetter}[d.verdict()+1]
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return picture{}, false
	}
	say := fmt.Sprintf("Of %s in real time %d differ significantly from %s: %d better, %d worse. If nothing had changed about %s would seem to.",
		count(len(c.Changed), "metric"), significant, c.Base, better, worse, short(c.ByChance))
	if len(rows) < len(c.Changed) {
		say += fmt.Sprintf(" Shown are %d, the table has all.", len(rows))
	}
	return rowPicture(rows, rowAxis{
		title: "Change against " + c.Base, xLabel: "change, %", say: say,
		legend: []legend{{ink: inkBetter, text: "better"}, {ink: inkWorse, text: "worse"}, {ink: inkMuted, text: "not significant (hollow)"}},
		tick:   signed,
	}), true
}

// signed labels the axis of changes.
func signed(v float64) string {
	if v > 0 {
		return "+" + short(v)
	}
	return short(v)
}
