package gate

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// Kind is what was found.
type Kind string

// The kinds of findings, worst first. An improvement is no failure, and with
// Options.RatiosOnly a regression is the only one.
const (
	MissingBenchmark Kind = "missing benchmark" // the baseline has it, the run does not
	MissingUnit      Kind = "missing unit"      // the same for a unit of one benchmark, or of all
	UnitDiffers      Kind = "unit differs"      // the Unit lines do not say the same; its values were not compared
	ExactDiffers     Kind = "exact differs"     // an exact metric is not what it was
	Regression       Kind = "regression"        // a ratio is worse, by more than its least effect and than chance
	NewBenchmark     Kind = "new benchmark"     // the baseline lacks it
	NewUnit          Kind = "new unit"          // the same for a unit of one benchmark, or of all
	Improvement      Kind = "improvement"       // a ratio is better, by more than its least effect and than chance
)

var order = []Kind{MissingBenchmark, MissingUnit, UnitDiffers, ExactDiffers, Regression, NewBenchmark, NewUnit, Improvement}

// Finding is one thing that differs between the sides.
type Finding struct {
	Kind      Kind     `json:"kind"`
	Benchmark string   `json:"benchmark,omitempty"` // as it is printed, without GOMAXPROCS; "" for a unit in all of them
	Unit      string   `json:"unit,omitempty"`      // "" for a whole benchmark
	Old       *float64 `json:"old,omitempty"`       // value of an exact metric, median of a ratio; nil if there is none
	New       *float64 `json:"new,omitempty"`
	Worse     float64  `json:"worse,omitempty"`  // by this share of Old, below 0 if it became better
	P         float64  `json:"p,omitempty"`      // of a ratio: chance that samples of one distribution differ as much
	Least     float64  `json:"least,omitempty"`  // of a ratio: the share that had to be exceeded
	Detail    string   `json:"detail,omitempty"` // in words, where values do not tell
}

// Report is the verdict on a run.
type Report struct {
	Findings     []Finding `json:"findings"`      // worst first
	ExactEqual   int       `json:"exact_equal"`   // exact metrics of a benchmark that are as in the baseline
	RatiosWithin int       `json:"ratios_within"` // ratios of a benchmark that differ by no more than their least effect, or chance
	Ratios       int       `json:"ratios"`        // ratios compared
	NotJudged    int       `json:"not_judged"`    // values of a benchmark that depend on the machine
	Alpha        float64   `json:"alpha"`         // rate of false alarms of the whole report
	RatiosOnly   bool      `json:"ratios_only"`   // nothing fails but a ratio that became worse
}

// OK tells whether the run passes: nothing was found that fails.
func (r *Report) OK() bool { return !slices.ContainsFunc(r.Findings, r.Fails) }

// Fails tells whether a finding of the report fails the run, or is only told.
func (r *Report) Fails(f Finding) bool {
	return f.Kind == Regression || f.Kind != Improvement && !r.RatiosOnly
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

// sort puts the worst first; equals stay in the order of the baseline.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), -cmp.Compare(a.Worse, b.Worse))
	})
}

// WriteText writes a line for each finding and one that sums up.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := writeFindings(out, r.Findings); err != nil {
		return err
	}
	fmt.Fprintf(out, "gate: %s equal, %s within their limits, %s not judged",
		count(r.ExactEqual, "exact value"), count(r.RatiosWithin, "ratio"), count(r.NotJudged, "machine-dependent value"))
	failed, better, told := 0, 0, 0
	for _, f := range r.Findings {
		switch {
		case r.Fails(f):
			failed++
		case f.Kind == Improvement:
			better++
		default:
			told++
		}
	}
	if better > 0 {
		fmt.Fprintf(out, ", %s", count(better, "improvement"))
	}
	if told > 0 {
		fmt.Fprintf(out, ", %s that cannot fail", count(told, "other difference"))
	}
	if failed > 0 {
		fmt.Fprintf(out, "; FAILED by %s", count(failed, "finding"))
	}
	fmt.Fprintln(out)
	return out.Flush()
}

func writeFindings(w io.Writer, findings []Finding) error {
	const padding = 2
	table := tabwriter.NewWriter(w, 0, 0, padding, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.Kind, cmp.Or(f.Benchmark, "(all benchmarks)"), cmp.Or(f.Unit, "(all units)"), f.text())
	}
	return table.Flush()
}

// text is the last column.
func (f Finding) text() string {
	if f.Old == nil || f.New == nil {
		return f.Detail
	}
	if f.Kind == ExactDiffers {
		return number(*f.Old) + " → " + number(*f.New)
	}
	direction := "worse"
	if f.Worse < 0 {
		direction = "better"
	}
	return fmt.Sprintf("%s → %s, %s %s (limit %s, p=%.2g)", short(*f.Old), short(*f.New), percent(max(f.Worse, -f.Worse)), direction, percent(f.Least), f.P)
}

// short prints a median with the digits that benchmark lines have.
func short(x float64) string {
	const digits = 4
	return strconv.FormatFloat(x, 'g', digits, 64)
}

func percent(share float64) string {
	const digits = 3
	return strconv.FormatFloat(100*share, 'g', digits, 64) + "%"
}

// count prints a number with commas and a noun.
func count(n int, noun string) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	if n != 1 {
		noun += "s"
	}
	return digits + " " + noun
}
