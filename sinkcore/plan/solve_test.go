package plan_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// drawGoal draws what is given and bounds, some of which nothing keeps.
func drawGoal(t *rapid.T) plan.Goal {
	var g plan.Goal
	g.Settings = plan.Settings{
		Buckets: rapid.IntRange(1, 3).Draw(t, "buckets"), CheckpointInterval: some(t, 40, "checkpoint"), Duration: time.Second,
	}
	g.Settings.FirstCheckpoint = time.Duration(rapid.Int64Range(1, 2*g.Settings.CheckpointInterval.Milliseconds()).Draw(t, "first checkpoint")) * ms
	if rapid.Bool().Draw(t, "slow checkpoints") {
		g.Settings.CheckpointDuration = some(t, 60, "checkpoint duration")
	}
	switch rapid.IntRange(0, 3).Draw(t, "arrivals") {
	case 0:
		g.Settings.Arrivals = plan.Poisson{Interval: time.Duration(rapid.Int64Range(10, 20_000).Draw(t, "interval, µs")) * time.Microsecond}
	case 1:
		g.Settings.Arrivals = plan.Bursts{Size: rapid.IntRange(1, 30).Draw(t, "burst"), Every: 30*ms + some(t, 300, "every")}
	default:
		g.Settings.Arrivals = plan.Constant{Interval: time.Duration(rapid.Int64Range(10, 60_000).Draw(t, "interval, µs")) * time.Microsecond}
	}
	which := rapid.IntRange(1, 7).Draw(t, "bounds")
	if which&1 != 0 {
		g.Worst = some(t, 300, "worst")
	}
	if which&2 != 0 {
		g.P99 = some(t, 300, "p99")
	}
	if which&4 != 0 || which == 0 {
		g.FilesPerHour = float64(g.Settings.Buckets) * 3_600_000 / float64(rapid.IntRange(1, 300).Draw(t, "ms a file"))
	}
	if rapid.IntRange(0, 3).Draw(t, "bytes bounded") == 0 {
		g.FileBytes = float64(rapid.IntRange(1, 20_000).Draw(t, "bytes"))
	}
	if g.FilesPerHour == 0 {
		g.FilesPerHour = math.Inf(1)
	}
	g.Deadline = rapid.Bool().Draw(t, "deadline")
	g.Grain = rapid.SampledFrom([]time.Duration{0, 0, 5 * ms, 12 * ms}).Draw(t, "grain")
	return g
}

// grid is every policy with limits from a list, and every check interval of one; a Deadline
// only if it is allowed.
func grid(s plan.Settings, grain time.Duration, deadline bool, yield func(plan.Settings)) {
	s.Policy = sinkcore.OnCheckpoint{}
	yield(s)
	if deadline {
		p := sinkcore.Deadline{Checkpoint: max(s.CheckpointInterval, s.CheckpointDuration), Duration: s.CheckpointDuration}
		for n := range int64(400) {
			p.Within = p.Checkpoint + p.Duration + time.Duration(n)*ms
			s.Policy = p
			yield(s)
		}
	}
	var rollovers []int64
	for r := int64(1); r <= 330; r += max(1, r/8) {
		rollovers = append(rollovers, r)
	}
	for n := int64(1); n <= 330; n += max(1, n/10) {
		check := n * max(1, grain.Milliseconds())
		s.CheckInterval = time.Duration(check) * ms
		for _, r := range append(rollovers, check-1, check, check+1, 2*check-1, 2*check) {
			if r < 1 {
				continue
			}
			for _, p := range []sinkcore.Default{
				{Rollover: time.Duration(r) * ms, Inactivity: time.Hour},
				{Rollover: time.Duration(r) * ms, Inactivity: time.Duration(r+1) / 2 / ms * ms, Size: 5000},
			} {
				s.Policy = p
				yield(s)
			}
		}
	}
}

// No point of the grid is better than the solution, in any goal; and where there is none, no
// point keeps the goal, and none is better than the two nearest.
func TestTheGridIsNeverBetter(t *testing.T) {
	solved, impossible, proven := 0, 0, 0
	withChecks(t, 1000, func(t *rapid.T) {
		goal := drawGoal(t)
		soon := func(g plan.Guarantee) bool {
			return !g.Unbounded && (goal.Worst == 0 || g.Worst <= goal.Worst) && (goal.P99 == 0 || g.P99 <= goal.P99)
		}
		few := func(g plan.Guarantee) bool {
			return g.FilesPerHour <= goal.FilesPerHour*(1+1e-9) && g.BytesPerFile >= goal.FileBytes*(1-1e-9)
		}
		latency := func(g plan.Guarantee) time.Duration {
			if goal.Worst == 0 && goal.P99 > 0 {
				return g.P99
			}
			return g.Worst
		}
		solution, err := plan.Solve(goal)
		var none *plan.ImpossibleError
		switch {
		case err == nil:
			solved++
			g, err := plan.Guarantees(solution.Settings)
			if err != nil || g != solution.Guarantee {
				t.Fatalf("guaranteed %+v, %v; said to be %+v", g, err, solution.Guarantee)
			}
			if !soon(g) || !few(g) {
				t.Fatalf("%+v\ndoes not keep %+v: %+v", solution.Settings, goal, g)
			}
		case errors.As(err, &none):
			impossible++
			if _, bursts := goal.Settings.Arrivals.(plan.Bursts); none.Needed <= none.Allowed && !bursts {
				t.Fatalf("no proof: %v", err)
			}
			if none.Proven {
				proven++
			}
			if b := none.ByLatency; b != nil && !soon(b.Guarantee) {
				t.Fatalf("%+v is not soon enough", b)
			}
			if none.ByFiles == nil || !few(none.ByFiles.Guarantee) {
				t.Fatalf("%+v are not few enough", none.ByFiles)
			}
		default:
			t.Fatal(err)
		}
		grid(goal.Settings, goal.Grain, goal.Deadline, func(s plan.Settings) {
			g, err := plan.Guarantees(s)
			if err != nil {
				t.Fatal(err)
			}
			_, bursts := goal.Settings.Arrivals.(plan.Bursts)
			if none != nil {
				if soon(g) && few(g) && (none.Proven || !bursts) {
					t.Fatalf("%v\nbut %v check %v keeps %+v: %+v", err, s.Policy, s.CheckInterval, goal, g)
				}
				if bursts {
					return // see Solve: for bursts there may be better ones
				}
				if soon(g) && (none.ByLatency == nil || g.FilesPerHour < none.ByLatency.Guarantee.FilesPerHour*(1-1e-9)) {
					t.Fatalf("%v check %v: %+v\nfewer files than %+v", s.Policy, s.CheckInterval, g, none.ByLatency)
				}
				if few(g) && latency(g) < latency(none.ByFiles.Guarantee) {
					t.Fatalf("%v check %v: %+v\nsooner than %+v", s.Policy, s.CheckInterval, g, none.ByFiles)
				}
				return
			}
			if bursts || !soon(g) || !few(g) {
				return
			}
			fewer := g.FilesPerHour < solution.Guarantee.FilesPerHour*(1-1e-9)
			if goal.Worst == 0 && goal.P99 == 0 {
				fewer = g.Worst < solution.Guarantee.Worst
			}
			if fewer {
				t.Fatalf("%v check %v: %+v\nis better than %v check %v: %+v\nfor %+v", s.Policy, s.CheckInterval, g,
					solution.Settings.Policy, solution.Settings.CheckInterval, solution.Guarantee, goal)
			}
		})
	})
	if solved < 200 || impossible < 200 || proven < 100 {
		t.Errorf("%d goals solved, %d impossible, %d of them proven", solved, impossible, proven)
	}
}

// A Deadline may be later than the bound on the percentile.
func TestSolveForAPercentileWithADeadline(t *testing.T) {
	goal := plan.Goal{
		Settings: plan.Settings{
			Arrivals: plan.Constant{Interval: 2 * ms, First: 440 * ms}, RecordSize: 29,
			CheckpointInterval: 80 * ms, FirstCheckpoint: 4 * ms, CheckpointDuration: 5 * ms,
		},
		P99: 1037 * ms, FileBytes: 3.85, FilesPerHour: 134005, Deadline: true,
	}
	solution, err := plan.Solve(goal)
	if err != nil {
		t.Fatal(err)
	}
	if want := (sinkcore.Deadline{Within: 1045 * ms, Checkpoint: 80 * ms, Duration: 5 * ms}); solution.Settings.Policy != want {
		t.Errorf("%v, want %v", solution.Settings.Policy, want)
	}
	if g := solution.Guarantee; g.P99 > goal.P99 || g.FilesPerHour > 3462 {
		t.Errorf("%+v", g)
	}
}

// What is promised for a solution is kept: worst latency and files, to the record.
func TestSolutionsKeepTheirPromise(t *testing.T) {
	withChecks(t, 300, func(t *rapid.T) {
		goal := drawGoal(t)
		c, constant := goal.Settings.Arrivals.(plan.Constant)
		if !constant {
			return
		}
		c.First = 1
		goal.Settings.FirstCheckpoint = min(goal.Settings.FirstCheckpoint, goal.Settings.CheckpointInterval)
		goal.Settings.Arrivals, goal.Settings.Duration = c, 3*time.Second
		solution, err := plan.Solve(goal)
		if err != nil {
			return
		}
		r := simulate(t, solution.Settings, 0)
		if goal.Worst > 0 && r.Latency(1) > goal.Worst {
			t.Fatalf("a record waits %v\n%+v", r.Latency(1), solution.Settings)
		}
		if files := goal.FilesPerHour / 1200; float64(r.Files) > files+float64(goal.Settings.Buckets) {
			t.Fatalf("%d files, %v allowed\n%+v", r.Files, files, solution.Settings)
		}
	})
}

// What a reader of the article wants to know.
func TestSolveForTheArticle(t *testing.T) {
	s := article(nil, 0)
	solution, err := plan.Solve(plan.Goal{Settings: s, Worst: time.Minute, FilesPerHour: 100})
	if err != nil {
		t.Fatal(err)
	}
	if g := solution.Guarantee; g.Worst > time.Minute || g.FilesPerHour > 63 {
		t.Errorf("%v: %+v", solution.Settings.Policy, g)
	}
	r := simulate(t, solution.Settings, 0)
	if r.Latency(1) > time.Minute || r.Files > 63 {
		t.Errorf("%v: worst %v, %d files", solution.Settings.Policy, r.Latency(1), r.Files)
	}
	// In whole seconds.
	seconds, err := plan.Solve(plan.Goal{Settings: s, Worst: time.Minute, Grain: time.Second})
	if p := seconds.Settings.Policy.(sinkcore.Default); err != nil || p.Rollover%time.Second != 0 || seconds.Settings.CheckInterval%time.Second != 0 || seconds.Guarantee.FilesPerHour > 1.04*solution.Guarantee.FilesPerHour {
		t.Errorf("%+v, %v", seconds, err)
	}
	deadline, err := plan.Solve(plan.Goal{Settings: s, Worst: time.Minute, Deadline: true})
	if err != nil || deadline.Guarantee.FilesPerHour > solution.Guarantee.FilesPerHour {
		t.Errorf("%v, %v: no fewer files than %v", deadline, err, solution)
	}

	_, err = plan.Solve(plan.Goal{Settings: s, Worst: 10 * time.Second, FilesPerHour: 60})
	var none *plan.ImpossibleError
	if !errors.As(err, &none) || !errors.Is(err, plan.ErrImpossible) {
		t.Fatalf("10 s and 60 files an hour: %v", err)
	}
	if none.Needed != time.Minute || none.Allowed >= 10*time.Second || none.ByLatency == nil || none.ByFiles == nil {
		t.Errorf("%+v", none)
	}
	if text := err.Error(); !strings.Contains(text, "every 1m0s") || !strings.Contains(text, none.Allowed.String()) {
		t.Error(text)
	}
	_, err = plan.Solve(plan.Goal{Settings: s, Worst: time.Second})
	if !errors.As(err, &none) || none.Allowed != 0 || none.ByLatency != nil || none.ByFiles == nil {
		t.Errorf("sooner than a checkpoint: %v", err)
	}
	// Any of these checkpoint intervals may be chosen: the shorter makes it possible.
	solution, err = plan.Solve(plan.Goal{Settings: s, Worst: time.Second, CheckpointIntervals: []time.Duration{2 * time.Second, time.Second / 2}})
	if err != nil || solution.Settings.CheckpointInterval != time.Second/2 {
		t.Errorf("%+v, %v", solution, err)
	}
}

func TestGoalsThatMakeNoSense(t *testing.T) {
	for name, g := range map[string]plan.Goal{
		"no bound": {}, "negative": {Worst: -1}, "grain": {Worst: time.Minute, Grain: 1}, "nan": {FileBytes: math.NaN()}, "files": {FilesPerHour: -1},
		"outages":  {Worst: time.Minute, Settings: plan.Settings{Outages: []plan.Outage{{From: 1 * ms, To: 2 * ms}}}},
		"settings": {Worst: time.Minute, Settings: plan.Settings{Buckets: -1}},
	} {
		if _, err := plan.Solve(g); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for name, g := range map[string]plan.Goal{
		"worst":  {Worst: time.Minute, FilesPerHour: 100},
		"p99":    {P99: time.Hour, Settings: plan.Settings{CheckpointInterval: 10 * time.Minute}},
		"none":   {Worst: 10 * time.Second, FilesPerHour: 60},
		"chance": {P99: time.Minute, Settings: plan.Settings{Arrivals: plan.Poisson{}}},
	} {
		b.Run("goal="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := plan.Solve(g); err != nil && !errors.Is(err, plan.ErrImpossible) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPredict shows that the cost does not depend on the rate of records.
func BenchmarkPredict(b *testing.B) {
	for _, rate := range []int{10, 1_000_000} {
		s := article(sinkcore.Default{}, 0)
		s.RecordSize = 1 // so that no part is closed by size
		s.Arrivals = plan.Constant{Interval: time.Second / time.Duration(rate), First: 50 * ms}
		b.Run("records/s="+map[bool]string{true: "10", false: "1000000"}[rate == 10], func(b *testing.B) {
			for b.Loop() {
				if _, err := plan.Predict(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Nothing is called proven that other settings may do: few records leave gaps in which no part is
// open, and bursts leave longer ones.
func TestWhatIsProven(t *testing.T) {
	hourly := plan.Bursts{Size: 600, Every: time.Hour, Interval: ms}
	for name, c := range map[string]struct {
		goal   plan.Goal
		proven bool
	}{
		"many records":             {plan.Goal{Worst: 2 * time.Minute, FilesPerHour: 28}, true},
		"percentile":               {plan.Goal{P99: 2 * time.Minute, FilesPerHour: 28}, true},
		"sooner than a checkpoint": {plan.Goal{Worst: time.Second, Settings: plan.Settings{Arrivals: hourly}}, true},
		"few records":              {plan.Goal{Worst: 2 * time.Minute, FilesPerHour: 28, Settings: plan.Settings{Arrivals: plan.Constant{Interval: 50 * time.Second}}}, false},
		"chance, percentile":       {plan.Goal{P99: 2 * time.Minute, FilesPerHour: 28, Settings: plan.Settings{Arrivals: plan.Poisson{}}}, false},
		"two bursts in a file":     {plan.Goal{Worst: 8 * time.Minute, FileBytes: 120_000, Settings: plan.Settings{Arrivals: hourly, CheckpointInterval: time.Minute}}, false},
	} {
		c.goal.Settings.FirstCheckpoint = max(c.goal.Settings.CheckpointInterval, 2*time.Second) - ms
		_, err := plan.Solve(c.goal)
		var none *plan.ImpossibleError
		if !errors.As(err, &none) || none.Proven != c.proven {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "does not prove") == c.proven {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The few records of above: each file has three, which is fewer than 28 an hour.
	r := simulate(t, plan.Settings{
		Arrivals: plan.Constant{Interval: 50 * time.Second}, Policy: sinkcore.Default{Rollover: 116_001 * ms, Inactivity: time.Hour}, CheckInterval: 2 * time.Second,
		FirstCheckpoint: 1999 * ms, Duration: 10 * time.Hour,
	}, 0)
	if r.Latency(1) > 2*time.Minute || r.FilesPerHour() > 28 {
		t.Errorf("%v, %v files/hour", r.Latency(1), r.FilesPerHour())
	}
}

// A burst of 0.6 s an hour is one file, soon enough for any goal of minutes.
func TestSolveForABurstAnHour(t *testing.T) {
	given := plan.Settings{Arrivals: plan.Bursts{Size: 600, Every: time.Hour, Interval: ms}, CheckpointInterval: time.Minute, FirstCheckpoint: time.Minute - ms}
	for _, goal := range []plan.Goal{
		{Worst: 8 * time.Minute, FileBytes: 51_200}, {Worst: 8 * time.Minute, FilesPerHour: 2}, {P99: 8 * time.Minute, FilesPerHour: 1}, {FileBytes: 60_000}, {Worst: 61 * time.Second, FilesPerHour: 1},
	} {
		goal.Settings = given
		solution, err := plan.Solve(goal)
		if err != nil {
			t.Errorf("%+v: %v", goal, err)
			continue
		}
		if g := solution.Guarantee; g.FilesPerHour > 1 || g.Worst > 8*time.Minute {
			t.Errorf("%+v: %+v", goal, g)
		}
		s := solution.Settings
		s.Duration = 3 * time.Hour
		for _, first := range []time.Duration{ms, 29 * time.Second, time.Minute - ms} {
			for _, start := range []time.Duration{0, ms, 31 * time.Second, 59_402 * ms} {
				s.FirstCheckpoint, s.Arrivals = first, plan.Bursts{Size: 600, Every: time.Hour, Interval: ms, First: start}
				if r := simulate(t, s, 0); r.Files != 3 || r.Latency(1) > solution.Guarantee.Worst || goal.Worst > 0 && r.Latency(1) > goal.Worst {
					t.Errorf("%+v: %d files, a record waits %v\n%+v", goal, r.Files, r.Latency(1), s)
				}
			}
		}
	}
}
