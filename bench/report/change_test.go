package report

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"
)

// What is different is told, and what is not is counted.
func TestChange(t *testing.T) {
	c := reportOf(t, fixture(), other()).Change
	if len(c.Exact) != 1 || c.Exact[0].Unit != "open-files" || !strings.Contains(c.Exact[0].Benchmark, "policy=tuned") {
		t.Errorf("exact: %+v", c.Exact)
	}
	if len(c.Only) != 15 || !strings.HasPrefix(c.Only[0], "bench.txt: Settings/policy=rolling/rollover=30s/check=1s") {
		t.Errorf("only: %q", c.Only)
	}
	if back := compare(read(t, other()), read(t, fixture())); len(back.Only) != 15 {
		t.Errorf("only, the other way round: %q", back.Only)
	}
	exactMetrics := 0
	for key := range samples(fixture()) {
		if !slices.Contains([]string{"ns/record", "x-bufio", "x-walk", "MB/s"}, key[1]) {
			exactMetrics++
		}
	}
	if c.Equal != exactMetrics-1-15 {
		t.Errorf("%d equal, want %d", c.Equal, exactMetrics-16)
	}
	if len(c.Changed) != 15 {
		t.Fatalf("%d in real time", len(c.Changed))
	}
	for _, d := range c.Changed {
		want := .25 // the other run was faster by a factor of 0.8
		verdict := -1
		if d.Unit == "MB/s" {
			want = -.2
		}
		if d.Change == nil || abs(*d.Change-want) > .05 || !d.Significant || d.verdict() != verdict || d.Interval[0] > *d.Change || d.Interval[1] < *d.Change {
			t.Errorf("%+v", d)
		}
	}
}

// Significant changes come first, and of those the largest.
func TestChangesAreInOrder(t *testing.T) {
	var text strings.Builder
	for i, factor := range []float64{1, 1.1, 3, .2, 1} {
		for n := range 6 {
			benchmarkLine(&text, "A/n="+string(rune('a'+i)), []Figure{{Unit: "ns", Value: 100*factor + float64(n)}})
		}
	}
	base := strings.Builder{}
	for i := range 5 {
		for n := range 6 {
			benchmarkLine(&base, "A/n="+string(rune('a'+i)), []Figure{{Unit: "ns", Value: 100 + float64(n)}})
		}
	}
	for n := range 6 { // a large change that means nothing, for the samples are all over the place
		benchmarkLine(&text, "A/n=f", []Figure{{Unit: "ns", Value: []float64{1, 5000, 2, 4000, 3, 6000}[n]}})
		benchmarkLine(&base, "A/n=f", []Figure{{Unit: "ns", Value: []float64{1, 2, 3, 4, 5000, 6000}[n]}})
	}
	var order []string
	for _, d := range compare(read(t, text.String()), read(t, base.String())).Changed {
		order = append(order, d.Benchmark)
	}
	if want := []string{"A/n=d", "A/n=c", "A/n=b", "A/n=f", "A/n=a", "A/n=e"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// The interval says the same as the test: it leaves out no change exactly if the test finds
// one.
func TestIntervalAgreesWithTheTest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	found := [2]int{}
	for range 2000 {
		old, new := make([]float64, 4+random.IntN(5)), make([]float64, 4+random.IntN(5))
		factor := 1 + .3*random.Float64()
		for i := range old {
			old[i] = 100 + 20*random.NormFloat64()
		}
		for i := range new {
			new[i] = factor * (100 + 20*random.NormFloat64())
		}
		if slices.Min(old) <= 0 || slices.Min(new) <= 0 {
			continue
		}
		a, b := benchmath.NewSample(slices.Clone(old), &benchmath.DefaultThresholds), benchmath.NewSample(slices.Clone(new), &benchmath.DefaultThresholds)
		comparison := benchmath.AssumeNothing.Compare(a, b)
		interval := changeInterval(old, new, comparison.Alpha)
		if interval == nil {
			t.Fatalf("no interval of %d and %d samples", len(old), len(new))
		}
		differs := comparison.P <= comparison.Alpha
		if outside := interval[0] > 0 || interval[1] < 0; outside != differs {
			t.Fatalf("p is %v, and the interval %v: %v %v", comparison.P, interval, old, new)
		}
		if differs {
			found[1]++
		} else {
			found[0]++
		}
	}
	if found[0] < 100 || found[1] < 100 {
		t.Errorf("%d and %d say little", found[0], found[1])
	}
}

// Too few samples have no interval, and neither has a change from zero; the data stays JSON.
func TestWithoutInterval(t *testing.T) {
	file := func(value string) string { return "BenchmarkA-2 1 " + value + " x-a\nBenchmarkB-2 1 0 x-b\n" }
	c := compare(read(t, file("5")), read(t, file("4")))
	for _, d := range c.Changed {
		if d.Interval != nil || d.Significant || (d.Benchmark == "B") != (d.Change == nil) {
			t.Errorf("%+v", d)
		}
	}
	groups := ratioGroups(read(t, file("5")))
	if len(groups) != 2 || groups[0].Ratios[0].Interval != nil {
		t.Errorf("%+v", groups)
	}
	for _, value := range []any{c, groups} {
		if _, err := json.Marshal(value); err != nil {
			t.Error(err)
		}
	}
	if _, found := c.picture(); !found {
		t.Error("no picture")
	}
	for _, g := range groups {
		g.picture().svg(wide)
	}
}

// A run differs from itself in nothing.
func TestNoChange(t *testing.T) {
	c := reportOf(t, fixture(), fixture()).Change
	significant := slices.IndexFunc(c.Changed, func(d Delta) bool { return d.Significant })
	if len(c.Exact) != 0 || len(c.Only) != 0 || significant >= 0 || c.Equal == 0 {
		t.Errorf("%+v", c)
	}
}
