package bench_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"sinklab/bench"
	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// exactUnits are the metrics in virtual time, in which there is no noise.
const exactUnits = `Unit first-visible-ms better=lower assume=exact
Unit p50-visible-ms better=lower assume=exact
Unit p90-visible-ms better=lower assume=exact
Unit p99-visible-ms better=lower assume=exact
Unit max-visible-ms better=lower assume=exact
Unit invisible-records better=lower assume=exact
Unit oldest-invisible-ms better=lower assume=exact
Unit files/hour better=lower assume=exact
Unit bytes/file better=higher assume=exact
Unit empty-checkpoints better=lower assume=exact
Unit open-files better=lower assume=exact
Unit fsyncs/commit better=lower assume=exact
Unit dirsyncs/commit better=lower assume=exact
Unit renames/commit better=lower assume=exact
Unit fs-changes better=lower assume=exact
Unit rewritten-files/restart better=lower assume=exact
Unit rewritten-bytes/restart better=lower assume=exact
`

// settings are those of the article, and three more: a rollover just below the check
// interval, which avoids the wait for the next check; a small size limit; and "deadline",
// which stands for the Deadline that promises the worst latency of "tuned".
func settings() []bench.Setting {
	return append(bench.ArticleSettings(),
		bench.Setting{Name: "rollover59s", Policy: sinkcore.Default{Rollover: 59 * time.Second}, Check: time.Minute},
		bench.Setting{Name: "size64k", Policy: sinkcore.Default{Size: 64 << 10}, Check: time.Minute},
		bench.Setting{Name: "deadline", Policy: bench.ArticleSettings()[1].Policy, Check: bench.ArticleSettings()[1].Check},
	)
}

// visible is one row of BenchmarkVisible: a workload, and what its name says besides the policy.
type visible struct {
	arrivals, rate, outage string
	checkpoint             time.Duration
	buckets, subtasks      int
	workload               sim.Workload // without policy
}

func (v visible) name(policy string) string {
	return fmt.Sprintf("policy=%s/arrivals=%s/rate=%s/ckpt=%s/buckets=%d/subtasks=%d/outage=%s",
		policy, v.arrivals, v.rate, seconds(v.checkpoint), v.buckets, v.subtasks, v.outage)
}

// seconds prints a duration in whole seconds.
func seconds(d time.Duration) string { return strconv.Itoa(int(d/time.Second)) + "s" }

// row completes a row: an hour, with the offsets of the article.
func (v visible) row(arrivals sim.Arrivals) visible {
	v.outage = "none"
	v.workload = sim.Workload{
		Arrivals: arrivals, Buckets: v.buckets, Subtasks: v.subtasks, Duration: time.Hour,
		CheckpointInterval: v.checkpoint, FirstCheckpoint: 150 * time.Millisecond,
	}
	return v
}

// visibleRows are all workloads of BenchmarkVisible.
func visibleRows(tb testing.TB) (rows []visible) {
	for _, rate := range []int{1, 10, 100} {
		// The first record comes half an interval after the start, as in the article, so that
		// none falls on the millisecond of a check.
		interval := time.Second / time.Duration(rate)
		for _, checkpoint := range []time.Duration{2 * time.Second, 30 * time.Second} {
			for _, buckets := range []int{1, 16} {
				for _, subtasks := range []int{1, 4} {
					v := visible{arrivals: "constant", rate: strconv.Itoa(rate), checkpoint: checkpoint, buckets: buckets, subtasks: subtasks}
					rows = append(rows, v.row(sim.Constant{Interval: interval, First: interval / 2}))
				}
			}
		}
	}
	base := visible{rate: "10", checkpoint: 2 * time.Second, buckets: 1, subtasks: 1}
	onTimer := base
	onTimer.arrivals = "ontimer"
	onTimer = onTimer.row(sim.Constant{})
	onTimer.workload.FirstCheckpoint = 2 * time.Second
	rows = append(rows, onTimer)

	poisson, bursts := base, base
	poisson.arrivals, bursts.arrivals = "poisson", "bursts"
	rows = append(rows, poisson.row(sim.Poisson{Seed: 1}), bursts.row(sim.Bursts{First: 50 * time.Millisecond}))

	for _, length := range []time.Duration{10 * time.Second, 2 * time.Minute} {
		v := base
		v.arrivals = "constant"
		v = v.row(sim.Constant{First: 50 * time.Millisecond})
		v.outage = seconds(length)
		for _, at := range []time.Duration{10 * time.Minute, 30*time.Minute + 1250*time.Millisecond} {
			v.workload.Outages = append(v.workload.Outages, sim.Outage{From: at, To: at + length})
		}
		rows = append(rows, v)
	}
	for _, by := range []string{"origin", "day"} {
		stream := flights(tb, by)
		v := visible{arrivals: stream.Name, rate: "60x", checkpoint: 2 * time.Second, buckets: countBuckets(stream), subtasks: 1}
		v = v.row(stream)
		v.workload.Buckets, v.workload.Duration = 0, bench.FlightsDuration
		rows = append(rows, v)
	}
	return rows
}

func flights(tb testing.TB, by string) sim.Recorded {
	tb.Helper()
	file, err := os.Open("../testdata/flights/flights.csv")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	stream, err := bench.ReadFlights(file, by)
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}

func countBuckets(stream sim.Recorded) int {
	buckets := map[string]bool{}
	for _, a := range stream.Records {
		buckets[a.Bucket] = true
	}
	return len(buckets)
}

// BenchmarkVisible is when a reader sees what, and what it costs in files and calls, for
// policies and workloads. The rows with arrivals=constant, rate=10, ckpt=2s, one bucket and
// one subtask are the article's experiment.
func BenchmarkVisible(b *testing.B) {
	for _, v := range visibleRows(b) {
		for _, setting := range settings() {
			w := v.workload
			w.Policy, w.CheckInterval = setting.Policy, setting.Check
			if setting.Name == "deadline" {
				w.Policy = samePromise(w)
			}
			b.Run(v.name(setting.Name), func(b *testing.B) { measureVisible(b, w) })
		}
	}
}

// gridPoint is one setting of BenchmarkSettings.
type gridPoint struct {
	name     string
	workload sim.Workload
}

// grid pairs each setting of the default policy with the Deadline that promises what that
// one cannot exceed.
func grid() (points []gridPoint) {
	for _, checkpoint := range []time.Duration{2 * time.Second, 10 * time.Second, time.Minute} {
		for _, check := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
			for _, rollover := range []int{1, 5, 10, 30, 59, 60, 120, 300} {
				age := time.Duration(rollover) * time.Second
				w := sim.Article(sinkcore.Default{Rollover: age, Inactivity: age}, check)
				w.CheckpointInterval = checkpoint
				name := fmt.Sprintf("rollover=%ds/check=%s/ckpt=%s", rollover, seconds(check), seconds(checkpoint))
				points = append(points, gridPoint{"policy=rolling/" + name, w})
				w.Policy = samePromise(w)
				points = append(points, gridPoint{"policy=deadline/" + name, w})
			}
		}
		w := sim.Article(sinkcore.OnCheckpoint{}, time.Minute)
		w.CheckpointInterval = checkpoint
		points = append(points, gridPoint{"policy=oncheckpoint/rollover=none/check=none/ckpt=" + seconds(checkpoint), w})
	}
	return points
}

// samePromise is the Deadline with the worst latency of a workload's policy.
func samePromise(w sim.Workload) sinkcore.Deadline {
	s := sinkcore.Schedule{Check: w.CheckInterval, Checkpoint: w.CheckpointInterval, Duration: w.CheckpointDuration}
	worst, _ := sinkcore.WorstLatency(w.Policy, s)
	return sinkcore.Deadline{Within: worst, Checkpoint: s.Checkpoint, Duration: s.Duration}
}

// BenchmarkSettings is the same hour, the article's, for a grid of settings, from which
// the report draws what latency costs how many files. The rows with policy=deadline keep the
// worst latency that those with policy=rolling of the same other keys have.
func BenchmarkSettings(b *testing.B) {
	for _, p := range grid() {
		b.Run(p.name, func(b *testing.B) { measureVisible(b, p.workload) })
	}
}

// Deadline never makes more files than the best default policy that promises as much, and
// keeps the promise.
func TestDeadlineMakesNoMoreFiles(t *testing.T) {
	type key struct {
		checkpoint time.Duration
		worst      time.Duration
	}
	best, deadlines, saved := map[key]int64{}, map[key]int64{}, 0
	for _, p := range grid() {
		r, err := play(p.workload)
		if err != nil {
			t.Fatal(err)
		}
		worst, _ := sinkcore.WorstLatency(p.workload.Policy, sinkcore.Schedule{Check: p.workload.CheckInterval, Checkpoint: p.workload.CheckpointInterval})
		k := key{p.workload.CheckpointInterval, worst}
		switch p.workload.Policy.(type) {
		case sinkcore.Deadline:
			deadlines[k] = r.Files
			if r.Latency(1) > worst {
				t.Errorf("%s: a record waited %v, the promise is %v", p.name, r.Latency(1), worst)
			}
		default:
			if files, known := best[k]; !known || r.Files < files {
				best[k] = r.Files
			}
		}
	}
	for k, files := range deadlines {
		for other, least := range best {
			if other.checkpoint != k.checkpoint || other.worst > k.worst {
				continue
			}
			if files > least {
				t.Errorf("checkpoint %v, within %v: %d files, %d with a policy that promises %v", k.checkpoint, k.worst, files, least, other.worst)
			}
			if other.worst == k.worst && files < least {
				saved++
			}
		}
	}
	if len(deadlines) < 40 || saved == 0 {
		t.Errorf("%d promises tried, fewer files at %d of them; the grid does not tell much", len(deadlines), saved)
	}
}

// measureVisible plays a workload and reports all metrics. A run in which a record was
// lost, doubled or visible too early fails.
func measureVisible(b *testing.B, w sim.Workload) {
	var r sim.Result
	for b.Loop() {
		var err error
		if r, err = play(w); err != nil {
			b.Fatal(err)
		}
	}
	if r.Files == 0 {
		b.Fatal("nothing became visible, so there is nothing to report")
	}
	b.ReportMetric(0, "ns/op") // real time says nothing here; BenchmarkHour measures it
	for _, f := range bench.Figures(r) {
		b.ReportMetric(f.Value, f.Unit)
	}
}

// BenchmarkHour is how long a simulated hour of the article takes: 36,000 records and
// 1,800 checkpoints, the reading and checking of every file included.
func BenchmarkHour(b *testing.B) {
	for _, setting := range bench.ArticleSettings() {
		b.Run("policy="+setting.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := play(sim.Article(setting.Policy, setting.Check)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// play plays a workload in memory, with the same names of files every time.
func play(w sim.Workload) (sim.Result, error) {
	return w.Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
}
