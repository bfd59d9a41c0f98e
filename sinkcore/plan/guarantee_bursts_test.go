package plan_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// drawBursts draws bursts whose silence is often longer than what closes parts.
func drawBursts(t *rapid.T) plan.Bursts {
	b := plan.Bursts{
		Size: rapid.IntRange(1, 40).Draw(t, "burst"), Interval: time.Duration(rapid.Int64Range(100, 8000).Draw(t, "within, µs")) * time.Microsecond,
		First: time.Duration(rapid.Int64Range(0, 100_000).Draw(t, "first, µs")) * time.Microsecond,
	}
	b.Every = time.Duration(b.Size)*b.Interval + some(t, 400, "silence")
	return b
}

// later is the same bursts with more silence between some, and fewer records in some.
func later(t *rapid.T, b plan.Bursts, end time.Duration) sim.Recorded {
	var records []sim.Arrival
	for start := b.First; start < end; start += b.Every {
		for n := range rapid.IntRange(1, b.Size).Draw(t, "records") {
			records = append(records, sim.Arrival{At: (start + time.Duration(n)*b.Interval).Milliseconds(), EventTime: sinkcore.NoTime})
		}
		start += rapid.SampledFrom([]time.Duration{0, 0, ms, 77 * ms}).Draw(t, "more silence")
	}
	return sim.Recorded{Name: "later", Records: records}
}

// Whenever bursts come, and however much silence is between them, no record waits longer than is
// guaranteed, and there are no more files.
func TestGuaranteesOfBurstsAreKept(t *testing.T) {
	idle, single, reached := 0, 0, 0
	withChecks(t, 3_000, func(t *rapid.T) {
		s := drawSettings(t)
		b := drawBursts(t)
		s.Arrivals, s.Duration = b, 2*time.Second
		every := max(s.CheckpointInterval, s.CheckpointDuration)
		s.FirstCheckpoint = time.Duration(rapid.Int64Range(1, every.Milliseconds()).Draw(t, "first checkpoint")) * ms
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		regular := rapid.IntRange(0, 3).Draw(t, "more silence") > 0
		if !regular {
			s.Arrivals = later(t, b, s.Duration)
		}
		r := simulate(t, s, 0)
		if w := r.Latency(1); !g.Unbounded && w > g.Worst {
			t.Fatalf("a record waits %v, guaranteed %v\n%+v", w, g.Worst, s)
		} else if !g.Unbounded && w == g.Worst {
			reached++
		}
		if !g.Unbounded && regular && r.Latency(.99) > g.P99 {
			t.Fatalf("99 of 100 wait %v, guaranteed %v\n%+v", r.Latency(.99), g.P99, s)
		}
		if !regular {
			return
		}
		lanes := s.Buckets * s.Subtasks
		bursts := float64(s.Duration/b.Every) + 1
		if most := g.FilesPerHour*b.Every.Hours()*bursts + float64(lanes); float64(r.Files) > most {
			t.Fatalf("%d files, guaranteed %v\n%+v", r.Files, most, s)
		}
		if p, ok := s.Policy.(sinkcore.Default); ok && g.Worst < p.Rollover {
			idle++
		}
		if g.FilesPerHour*b.Every.Hours() == float64(min(lanes, b.Size)) {
			single++
		}
	})
	if idle < 20 || single < 50 || reached < 100 {
		t.Errorf("inactivity decided in %d draws, a burst was one file in %d, the bound was reached in %d only", idle, single, reached)
	}
}

// A burst of 0.6 s an hour is closed by inactivity, long before the rollover.
func TestGuaranteesOfABurstAnHour(t *testing.T) {
	s := plan.Settings{
		Policy: sinkcore.Default{Rollover: 15 * time.Minute, Inactivity: 5 * time.Minute}, Arrivals: plan.Bursts{Size: 600, Every: time.Hour, Interval: ms},
		CheckpointInterval: time.Minute, FirstCheckpoint: time.Minute - ms, Duration: 3 * time.Hour,
	}
	g, err := plan.Guarantees(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := 599*ms + 5*time.Minute + time.Minute - ms + time.Minute - ms; g.Worst != want || g.P99 != want || g.FilesPerHour != 1 || g.BytesPerFile != 60_000 {
		t.Errorf("%+v, want %v and 1 file of 60000 bytes", g, want)
	}
	// The last record of a burst that comes a millisecond after a check is one too few old enough.
	s.Arrivals = plan.Bursts{Size: 600, Every: time.Hour, Interval: ms, First: 59_402 * ms}
	for _, first := range []time.Duration{ms, 20 * time.Second, time.Minute - ms, time.Minute} {
		s.FirstCheckpoint = first
		if w := simulate(t, s, 0).Latency(1); w > g.Worst || first == time.Minute-ms && w < g.Worst-2*ms {
			t.Errorf("the first checkpoint at %v: a record waits %v, guaranteed %v", first, w, g.Worst)
		}
	}
	// At each checkpoint there is one file, or two if it comes in the burst.
	s.Policy = sinkcore.OnCheckpoint{}
	if g, err := plan.Guarantees(s); err != nil || g.FilesPerHour != 2 || g.P99 != time.Minute {
		t.Errorf("%+v, %v", g, err)
	}
}
