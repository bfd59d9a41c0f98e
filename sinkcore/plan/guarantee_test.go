package plan_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// Whenever constant arrivals begin, and wherever they pause, no record waits longer than the
// guarantee says; of those that begin with the job and never pause none waits longer than the
// smaller figure, and there are no more files.
func TestGuaranteesAreKept(t *testing.T) {
	reached, steady, paused := 0, 0, 0
	withChecks(t, 5_000, func(t *rapid.T) {
		s := drawSettings(t)
		c := drawConstant(t)
		begins := rapid.Bool().Draw(t, "the stream begins with the job")
		c.First = time.Duration(rapid.Int64Range(1, int64(c.Interval)).Draw(t, "first record"))
		if !begins {
			c.First = time.Duration(rapid.Int64Range(1, int64(2*time.Second)).Draw(t, "late first record"))
		}
		s.Arrivals, s.FirstCheckpoint = c, min(s.FirstCheckpoint, s.CheckpointInterval)
		s.Duration = 5 * time.Second
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		if g.Unbounded {
			t.Fatalf("no bound for %v", s.Policy)
		}
		if !begins && rapid.IntRange(0, 4).Draw(t, "pauses") == 0 {
			s.Arrivals = withPauses(t, c, 2*time.Second)
			s.Duration = 3 * time.Second
			r := simulate(t, s, 0)
			if w := r.Latency(1); w > g.Worst {
				t.Fatalf("a record waits %v, guaranteed %v\n%+v", w, g.Worst, s)
			} else if w == g.Worst {
				paused++
			}
			return
		}
		p, err := plan.Predict(s)
		if err != nil {
			t.Fatal(err)
		}
		bound := g.Worst
		if begins {
			bound = g.SteadyWorst
		}
		if p.Worst.High > bound {
			t.Fatalf("a record waits %v, guaranteed %v\n%+v", p.Worst, bound, s)
		}
		if p.Worst.High == bound && begins {
			steady++
		} else if p.Worst.High == bound {
			reached++
		}
		// In the long run: a lane has one file more at most than the rate says.
		lanes := s.Buckets * s.Subtasks
		if most := g.FilesPerHour/3600*s.Duration.Seconds() + float64(lanes); float64(p.Files.High) > most {
			t.Fatalf("%v files, guaranteed %v\n%+v", p.Files, most, s)
		}
	})
	if reached < 100 || steady < 100 || paused < 10 {
		t.Errorf("the worst latency was reached in %d draws, that of steady streams in %d, with pauses in %d only", reached, steady, paused)
	}
}

// withPauses is constant arrivals up to an instant, after some of which nothing comes for a
// time.
func withPauses(t *rapid.T, c plan.Constant, end time.Duration) sim.Recorded {
	var records []sim.Arrival
	for at := c.First; at < end; at += c.Interval {
		records = append(records, sim.Arrival{At: at.Milliseconds(), EventTime: sinkcore.NoTime})
		if len(records)%16 == 1 {
			at += rapid.SampledFrom([]time.Duration{0, 1, 20, 150, 500}).Draw(t, "scale") * time.Duration(rapid.IntRange(0, int(ms)).Draw(t, "pause"))
		}
	}
	return sim.Recorded{Name: "paused", Records: records}
}

// Two streams that begin late, the first when a part that begins then waits for a whole check
// interval more than one that follows another.
func TestGuaranteesForStreamsThatBeginLate(t *testing.T) {
	for _, s := range []plan.Settings{
		{
			Policy: sinkcore.Default{Rollover: 55 * time.Second}, CheckInterval: 6 * time.Second, FirstCheckpoint: 1999 * ms,
			Arrivals: plan.Constant{Interval: 10 * ms, First: 5001 * ms}, Duration: 5 * time.Minute,
		},
		{
			Policy: sinkcore.Default{Rollover: 13 * ms, Inactivity: 50 * ms}, CheckInterval: 40 * ms, CheckpointInterval: 5 * ms, FirstCheckpoint: 34 * ms,
			Arrivals: plan.Constant{Interval: ms, First: 790 * ms}, Buckets: 5, Subtasks: 4, Duration: 5 * time.Second,
		},
	} {
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		w := simulate(t, s, 0).Latency(1)
		if w > g.Worst {
			t.Errorf("a record waits %v, guaranteed %v\n%+v", w, g.Worst, s)
		}
		if w <= g.SteadyWorst {
			t.Errorf("a record waits %v, no more than %v: this is not the case that was meant\n%+v", w, g.SteadyWorst, s)
		}
	}
}

// With many records the 99th percentile of a long time is that of the guarantee.
func TestThePercentileIsTheGuaranteedOne(t *testing.T) {
	withChecks(t, 2000, func(t *rapid.T) {
		s := plan.Settings{
			CheckInterval: some(t, 60, "check"), CheckpointInterval: some(t, 60, "checkpoint"),
			Arrivals: plan.Constant{Interval: 100 * time.Microsecond}, Duration: 200 * time.Second,
		}
		s.FirstCheckpoint = time.Duration(rapid.Int64Range(1, s.CheckpointInterval.Milliseconds()).Draw(t, "first")) * ms
		if rapid.Bool().Draw(t, "slow checkpoints") {
			s.CheckpointDuration = some(t, 80, "checkpoint duration")
		}
		switch rapid.IntRange(0, 2).Draw(t, "policy") {
		case 0:
			s.Policy = sinkcore.OnCheckpoint{}
		case 1:
			// Not within two milliseconds of a multiple, or the guarantee knows no percentile.
			r := rapid.Int64Range(3, 120).Filter(func(r int64) bool { return (r+1)%s.CheckInterval.Milliseconds() > 1 }).Draw(t, "rollover")
			s.Policy = sinkcore.Default{Rollover: time.Duration(r) * ms, Inactivity: time.Hour}
		case 2:
			// A whole number of intervals more than the least leaves room for the gap.
			s.CheckpointInterval += 5 * ms
			p := sinkcore.Deadline{Checkpoint: s.CheckpointInterval, Duration: s.CheckpointDuration}
			p.Within = p.Duration + time.Duration(rapid.IntRange(1, 4).Draw(t, "intervals"))*max(p.Checkpoint, p.Duration)
			s.Policy = p
		}
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Predict(s)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(p.P99.Low-g.P99)) > float64(1*ms)+.01*float64(g.P99) {
			t.Fatalf("p99 %v, guaranteed %v\n%+v", p.P99, g.P99, s)
		}
	})
}

// Few records wait in the worst of places: 99 of 100 wait no longer than the guarantee says, wherever
// they come in the time between two checkpoints.
func TestThePercentileOfFewRecords(t *testing.T) {
	near := 0
	withChecks(t, 1000, func(t *rapid.T) {
		s := drawSettings(t)
		c := drawConstant(t)
		c.First = min(c.First, c.Interval) // with the job
		s.Arrivals, s.Duration = c, 100*time.Second
		s.Policy = rapid.SampledFrom([]sinkcore.RollingPolicy{
			sinkcore.OnCheckpoint{}, sinkcore.Default{Rollover: some(t, 200, "rollover"), Inactivity: time.Hour},
			sinkcore.Deadline{Checkpoint: 60 * ms, Duration: 80 * ms, Within: 160*ms + some(t, 100, "slack")},
		}).Draw(t, "one policy")
		s.FirstCheckpoint = min(s.FirstCheckpoint, s.CheckpointInterval)
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Predict(s)
		if err != nil {
			t.Fatal(err)
		}
		// A lane's first records, and a file more or less at the end, are not the long run.
		lanes := time.Duration(s.Buckets * s.Subtasks)
		edge := float64(2*g.Worst+2*lanes*c.Interval) / float64(s.Duration) * .02
		if w := p.Latency(.99 - edge).Low; w > g.P99 {
			t.Fatalf("99 of 100 wait %v, guaranteed %v\n%+v", w, g.P99, s)
		} else if w > g.P99-c.Interval-ms {
			near++
		}
	})
	if near < 100 {
		t.Errorf("the percentile is near the guaranteed one in %d draws only", near)
	}
}
