package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"sinklab/bench"
	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

// fixture is a benchmark file as make bench writes it: the exact rows from real runs in virtual
// time, printed by package testing, and rows in real time from a random source.
var fixture = sync.OnceValue(func() string {
	var b strings.Builder
	for _, f := range bench.Figures(sim.Result{Commits: 1, Files: 1}) {
		fmt.Fprintf(&b, "Unit %s better=lower assume=exact\n", f.Unit)
	}
	b.WriteString("Unit x-bufio better=lower least=10%\nUnit ns/record better=lower\nUnit x-walk better=lower\nUnit MB/s better=higher\n")
	b.WriteString("goos: linux\ngoarch: amd64\npkg: sinklab/bench\ncpu: a <fast> & quiet one\n")
	for _, s := range bench.ArticleSettings() {
		benchmarkLine(&b, "Visible/policy="+s.Name+"/arrivals=constant/rate=10/ckpt=2s/buckets=1/subtasks=1/outage=none", exact(sim.Article(s.Policy, s.Check)))
	}
	w := sim.Article(sinkcore.Default{}, time.Minute)
	w.Buckets = 4
	benchmarkLine(&b, "Visible/policy=default/arrivals=constant/rate=10/ckpt=2s/buckets=4/subtasks=1/outage=none", exact(w))
	for _, rollover := range []int{1, 10, 30, 60} {
		for _, check := range []int{1, 60} {
			age := time.Duration(rollover) * time.Second
			w := sim.Article(sinkcore.Default{Rollover: age, Inactivity: age}, time.Duration(check)*time.Second)
			w.Duration = 10 * time.Minute
			benchmarkLine(&b, fmt.Sprintf("Settings/policy=rolling/rollover=%ds/check=%ds/ckpt=2s", rollover, check), exact(w))
		}
	}
	w = sim.Article(sinkcore.OnCheckpoint{}, time.Minute)
	w.Duration = 10 * time.Minute
	benchmarkLine(&b, "Settings/policy=oncheckpoint/rollover=none/check=none/ckpt=2s", exact(w))
	for _, p := range peers.All() {
		o, err := p.Simulate(peers.Workload{Duration: time.Hour})
		if err != nil {
			panic(err)
		}
		if o.Files > 0 {
			benchmarkLine(&b, "Peers/peer="+p.Name()+"/rate=10", []Figure{{Unit: "files/hour", Value: o.FilesPerHour()}, {Unit: "p99-visible-ms", Value: float64(o.Latency(.99).Milliseconds())}})
		}
	}
	b.WriteString(noisy(1, 1))
	b.WriteString("PASS\nok  \tsinklab/bench\t1.234s\n")
	return b.String()
})

// noisy is rows in real time, six rounds of them, slower by a factor.
func noisy(seed uint64, factor float64) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(seed, 0))
	for range 6 {
		for i, name := range []string{"Write/fs=mem/size=100", "Write/fs=mem/size=1000", "Write/fs=disk/size=100", "Commit/pending=10000"} {
			ns := factor * float64(i+1) * (100 + 5*random.Float64())
			benchmarkLine(&b, name, []Figure{{Unit: "ns/record", Value: ns}, {Unit: "x-bufio", Value: ns / 123}, {Unit: "MB/s", Value: 1e5 / ns}})
		}
		for i, open := range []string{"1", "1000", "100000"} {
			benchmarkLine(&b, "Tick/open="+open, []Figure{{Unit: "x-walk", Value: factor / math.Pow(300, float64(i)) * (1 + .05*random.Float64())}})
		}
	}
	return b.String()
}

// benchmarkLine prints a benchmark line as package testing does.
func benchmarkLine(b *strings.Builder, name string, figures []Figure) {
	extra := map[string]float64{"ns/op": 0}
	for _, f := range figures {
		extra[f.Unit] = f.Value
	}
	fmt.Fprintf(b, "Benchmark%s-2\t%s\n", name, testing.BenchmarkResult{N: 1, Extra: extra})
}

func exact(w sim.Workload) []Figure {
	r, err := w.Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
	if err != nil {
		panic(err)
	}
	return bench.Figures(r)
}

// read reads a file that has to be well-formed.
func read(t *testing.T, text string) *Run {
	t.Helper()
	run, err := Read(strings.NewReader(text), "bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// reportOf makes the report of a file, compared with another one unless that is empty, with
// watches.
func reportOf(t *testing.T, text, base string, watched ...Watched) *Report {
	t.Helper()
	var other *Run
	if base != "" {
		other = read(t, base)
		other.name = "base.txt"
	}
	r, err := New(read(t, text), other, watched...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func htmlOf(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// other is a run to compare the fixture with: a benchmark is gone, an exact figure differs,
// everything in real time is faster.
var other = sync.OnceValue(func() string {
	exactPart, _, _ := strings.Cut(fixture(), "BenchmarkWrite")
	var kept []string
	for l := range strings.Lines(exactPart) {
		if strings.Contains(l, "rollover=30s/check=1s") {
			continue
		}
		if strings.Contains(l, "policy=tuned") {
			l = strings.Replace(l, " open-files", "1 open-files", 1)
		}
		kept = append(kept, l)
	}
	return strings.Join(kept, "") + noisy(2, .8)
})
