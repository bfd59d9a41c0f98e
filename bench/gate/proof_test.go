package gate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// The proof draws runs from noise that was recorded. The samples of one ratio in one run
// are measured one after another, with all other benchmarks in between, so here they are
// every so many samples of a contiguous piece of the recording; two runs are two pieces
// that do not overlap. Whatever drifts on the machine while benchmarks run is in it.

// apartBy is how many rounds of the recording, a sixth of a second each, go by between
// two samples of a run. A round of all benchmarks takes longer, which drifts less.
const apartBy = 10

// series is the recorded samples of one ratio, in the order in which they were measured.
type series struct {
	*unit
	samples []float64
}

func recordedNoise(t *testing.T) []series {
	t.Helper()
	content, err := os.ReadFile(noiseFile)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Read(bytes.NewReader(content), noiseFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []series
	for _, row := range run.rows {
		for _, name := range row.units {
			if run.unit(name).kind() == ratio {
				all = append(all, series{run.unit(name), row.samples[name]})
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no ratio was recorded")
	}
	return all
}

// design is a comparison in real life.
type design struct {
	ratios    int // in each run
	base, run int // rounds
}

// drawn is two runs of the same code, but for a slowdown put into one ratio of the second,
// one that has no least effect of its own.
func (d design) drawn(noise []series, random *rand.Rand, slowdown float64) (base, run string, slow string) {
	var sides [2]strings.Builder
	for i := range sides {
		for _, s := range noise {
			fmt.Fprintf(&sides[i], "Unit %s %s\n", s.name, s)
		}
		sides[i].WriteString("pkg: sinklab/bench\n")
	}
	slowed := random.IntN(d.ratios)
	for noise[slowed%len(noise)].least != "" {
		slowed = random.IntN(d.ratios)
	}
	for r := range d.ratios {
		name := fmt.Sprintf("BenchmarkDrawn/ratio=r%d", r)
		level := []float64{1, 1.5, 4, 30}[r%4] // ratios of every size
		source := noise[r%len(noise)]
		first, second := apart(len(source.samples), d.base*apartBy, d.run*apartBy, random)
		for i := range d.base {
			fmt.Fprintf(&sides[0], "%s-2 1 %.4g %s\n", name, level*source.samples[first+i*apartBy], source.name)
		}
		for i := range d.run {
			x := level * source.samples[second+i*apartBy]
			if r == slowed {
				x *= 1 + slowdown
				slow = name
			}
			fmt.Fprintf(&sides[1], "%s-2 1 %.4g %s\n", name, x, source.name)
		}
	}
	return sides[0].String(), sides[1].String(), slow
}

// apart draws the beginnings of two pieces that do not overlap.
func apart(length, a, b int, random *rand.Rand) (first, second int) {
	for {
		first, second = random.IntN(length-a+1), random.IntN(length-b+1)
		if first+a <= second || second+b <= first {
			return first, second
		}
	}
}

// judge goes the way of the command, from text to verdict.
func judge(t *testing.T, base, run string, options Options) *Report {
	t.Helper()
	old, err := Read(strings.NewReader(base), "base")
	if err != nil {
		t.Error(err)
		return &Report{}
	}
	now, err := Read(strings.NewReader(run), "run")
	if err != nil {
		t.Error(err)
		return &Report{}
	}
	report, err := Compare(old, now, options)
	if err != nil {
		t.Error(err)
		return &Report{}
	}
	return report
}

// alarms counts the comparisons that fail though nothing was put in.
func (d design) alarms(t *testing.T, noise []series, options Options) int {
	return counted(func(seed uint64) bool {
		base, run, _ := d.drawn(noise, rand.New(rand.NewPCG(1, seed)), 0)
		return !judge(t, base, run, options).OK()
	})
}

// found counts the comparisons that name the ratio into which a slowdown was put.
func (d design) found(t *testing.T, noise []series, slowdown float64, options Options) int {
	return counted(func(seed uint64) bool {
		base, run, slow := d.drawn(noise, rand.New(rand.NewPCG(2, seed)), slowdown)
		return slices.ContainsFunc(judge(t, base, run, options).Findings, func(f Finding) bool { return f.Kind == Regression && f.Benchmark == slow })
	})
}

// comparisons is how many are drawn.
const comparisons = 200

// counted counts the seeds for which something is true, on all processors.
func counted(is func(seed uint64) bool) int {
	var count atomic.Int64
	var wait sync.WaitGroup
	var next atomic.Uint64
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := next.Add(1); seed <= comparisons; seed = next.Add(1) {
				if is(seed) {
					count.Add(1)
				}
			}
		})
	}
	wait.Wait()
	return int(count.Load())
}

// The design of the proof: a baseline of twenty-four rounds and a run of eight.
var proven = design{ratios: 15, base: 24, run: 8}

// A run compared with another of the same code fails at most at the rate asked for, also
// at a rate that is asked for often, and when no least effect stands between chance and
// the verdict.
func TestFalseAlarms(t *testing.T) {
	noise := recordedNoise(t)
	// Without a least effect of its own the ratio that drifts cannot be told from a slower one.
	quiet := slices.DeleteFunc(slices.Clone(noise), func(s series) bool { return s.least != "" })
	for i, o := range []Options{{}, {Alpha: 0.1, Least: 1e-9}} {
		alarms := proven.alarms(t, [][]series{noise, quiet}[i], o)
		t.Logf("%+v: %d false alarms in %d", o, alarms, comparisons)
		full, err := o.validate()
		if err != nil {
			t.Fatal(err)
		}
		if float64(alarms) > full.Alpha*comparisons {
			t.Errorf("%+v: %d false alarms in %d comparisons", o, alarms, comparisons)
		}
	}
}

// A slowdown of 5 % in one ratio is found in nine of ten.
func TestSlowdownIsFound(t *testing.T) {
	found := proven.found(t, recordedNoise(t), 0.05, Options{})
	t.Logf("%d of %d", found, comparisons)
	if found < comparisons*9/10 {
		t.Errorf("a slowdown of 5 %% was found in %d of %d comparisons", found, comparisons)
	}
}

// TestPowerTable prints the tables of the package documentation:
//
//	SINKLAB_POWER=1 go test -run TestPowerTable -v ./bench/gate
func TestPowerTable(t *testing.T) {
	if os.Getenv("SINKLAB_POWER") == "" {
		t.Skip("SINKLAB_POWER=1 prints the tables")
	}
	noise := recordedNoise(t)
	for _, s := range noise {
		sorted := slices.Sorted(slices.Values(s.samples))
		n := len(sorted)
		middle := func(share float64) float64 {
			cut := int((1 - share) / 2 * float64(n))
			return 100 * (sorted[n-1-cut] - sorted[cut]) / sorted[n/2]
		}
		fmt.Printf("%s %s: %d samples, median %.4g, middle half %.1f%%, middle 90%% %.1f%%, correlation of neighbours %.2f\n",
			s.name, s, n, sorted[n/2], middle(0.5), middle(0.9), neighbours(s.samples))
	}
	fmt.Println("ratios  baseline  run  least  false alarms  3 %  5 %  10 %")
	for _, d := range []design{{15, 8, 8}, {15, 12, 12}, {15, 24, 6}, proven, {15, 24, 10}, {45, 8, 8}, {45, 12, 12}, {45, 24, 6}, {45, 24, 8}, {45, 24, 10}} {
		for _, least := range []float64{DefaultLeast, 0.05} {
			if least != DefaultLeast && d != proven {
				continue
			}
			o := Options{Least: least}
			fmt.Printf("%6d  %8d  %3d  %3.0f %%  %12d  %3d  %3d  %4d\n", d.ratios, d.base, d.run, 100*least,
				d.alarms(t, noise, o), d.found(t, noise, 0.03, o), d.found(t, noise, 0.05, o), d.found(t, noise, 0.10, o))
		}
	}
}

// neighbours is the correlation of each sample with the next: 0 if the noise has no
// memory.
func neighbours(s []float64) float64 {
	mean := 0.0
	for _, x := range s {
		mean += x / float64(len(s))
	}
	together, alone := 0.0, 0.0
	for i, x := range s {
		alone += (x - mean) * (x - mean)
		if i > 0 {
			together += (x - mean) * (s[i-1] - mean)
		}
	}
	return together / alone
}
