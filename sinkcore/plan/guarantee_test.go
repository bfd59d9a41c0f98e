package plan_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// Whenever constant arrivals begin, no record waits longer than the guarantee says, and
// there are no more files.
func TestGuaranteesAreKept(t *testing.T) {
	reached := 0
	withChecks(t, 5_000, func(t *rapid.T) {
		s := drawSettings(t)
		c := drawConstant(t)
		// The stream runs when the job starts: no lane waits longer than a gap for its first.
		c.First = time.Duration(rapid.Int64Range(1, int64(c.Interval)).Draw(t, "first record"))
		s.Arrivals, s.FirstCheckpoint = c, min(s.FirstCheckpoint, s.CheckpointInterval)
		s.Duration = 5 * time.Second
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Predict(s)
		if err != nil {
			t.Fatal(err)
		}
		if g.Unbounded {
			t.Fatalf("no bound for %v", s.Policy)
		}
		if p.Worst.High > g.Worst {
			t.Fatalf("a record waits %v, guaranteed %v\n%+v", p.Worst, g.Worst, s)
		}
		if p.Worst.High == g.Worst {
			reached++
		}
		// In the long run: a lane has one file more at most than the rate says.
		lanes := s.Buckets * s.Subtasks
		if most := g.FilesPerHour/3600*s.Duration.Seconds() + float64(lanes); float64(p.Files.High) > most {
			t.Fatalf("%v files, guaranteed %v\n%+v", p.Files, most, s)
		}
	})
	if reached < 250 {
		t.Errorf("the worst latency was reached in %d draws only", reached)
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
