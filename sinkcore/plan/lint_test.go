package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

func lint(t fataler, s plan.Settings) []plan.Finding {
	t.Helper()
	found, err := plan.Lint(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return found
}

func rules(found []plan.Finding) (out []plan.Rule) {
	for _, f := range found {
		out = append(out, f.Rule)
	}
	return out
}

// The finding for Flink's defaults has the figures of the article: 120.1 s and 29 files an
// hour, which a rollover of 59 s makes 60.1 s and 59.
func TestLintFindsTheResonanceOfTheDefaults(t *testing.T) {
	found := lint(t, article(nil, 0))
	if got, want := rules(found), []plan.Rule{plan.Resonance, plan.InactivityNever}; !slices.Equal(got, want) {
		t.Fatalf("found %v, want %v", got, want)
	}
	f := found[0]
	if p := f.Better.Policy.(sinkcore.Default); p.Rollover != 59*time.Second {
		t.Errorf("better: %v", p)
	}
	want := []plan.Cost{
		{Name: "worst latency with these arrivals, s", Now: 120.1, Later: 60.1}, {Name: "files/hour with these arrivals", Now: 29, Later: 59},
		{Name: "worst latency of a steady stream, s", Now: 120.149, Later: 60.15}, {Name: "most files/hour", Now: 60, Later: 60},
	}
	if !slices.Equal(f.Costs, want) {
		t.Errorf("costs %v, want %v", f.Costs, want)
	}
	for _, part := range []string{"resonance: ", "60 ", "better: Rollover 59s", "see: Flink DefaultRollingPolicy"} {
		if !strings.Contains(f.String(), part) {
			t.Errorf("%q is not in\n%s", part, f)
		}
	}
	if again := lint(t, f.Better); slices.Contains(rules(again), plan.Resonance) {
		t.Errorf("the better setting has it too: %v", again)
	}
}

// Query 10 of the Nexmark benchmark writes to files with a rollover and a check interval of
// a minute. Its guides have checkpoints each 3 min and each 30 s, eight subtasks, and for this
// query 468 thousand and 904 thousand records a second.
func TestLintFindsTheResonanceOfNexmark(t *testing.T) {
	s := plan.Settings{
		// Flink SQL's limits where the query gives none.
		Policy:   sinkcore.Default{Rollover: time.Minute, Inactivity: 30 * time.Minute},
		Arrivals: plan.Constant{Interval: time.Second / 467_700}, RecordSize: 100, Subtasks: 8,
		CheckInterval: time.Minute, CheckpointInterval: 3 * time.Minute,
	}
	if got := rules(lint(t, s)); !slices.Contains(got, plan.Resonance) || !slices.Contains(got, plan.CheckpointAboveRollover) {
		t.Errorf("guide 1: found %v", got)
	}
	s.Arrivals, s.CheckpointInterval = plan.Constant{Interval: time.Second / 904_320}, 30*time.Second
	if got := rules(lint(t, s)); !slices.Contains(got, plan.Resonance) {
		t.Errorf("guide 2: found %v", got)
	}
	// Each minute has a bucket of its own, which gets no more when it is over: its last part
	// is not full, whatever the rate.
	s.Arrivals = plan.Bursts{Size: 904_320 * 60, Every: time.Hour, Interval: time.Second / 904_320}
	if got := rules(lint(t, s)); !slices.Contains(got, plan.Resonance) {
		t.Errorf("buckets of a minute: found %v", got)
	}
	// So few bytes that no part is full.
	s.Arrivals = plan.Constant{Interval: time.Second / 904_320}
	s.RecordSize = 1
	found := lint(t, s)
	if !slices.Contains(rules(found), plan.Resonance) || !strings.Contains(found[0].What, "the first pause does it") {
		t.Errorf("small records: found %v", found)
	}
}

// Each rule finds what it is for, and not what is well; and its better setting is.
func TestEachRuleFindsWhatItIsFor(t *testing.T) {
	fast := plan.Constant{Interval: time.Millisecond}
	well := sinkcore.Default{Rollover: 55 * time.Second, Inactivity: 30 * time.Second}
	for _, c := range []struct {
		rule plan.Rule
		bad  plan.Settings
	}{
		{plan.Resonance, plan.Settings{Policy: sinkcore.Default{Rollover: 2 * time.Minute, Inactivity: time.Minute / 2}}},
		{plan.Resonance, plan.Settings{Policy: sinkcore.Default{Rollover: 59950 * ms, Inactivity: time.Minute / 2}, Arrivals: plan.Poisson{}}},
		{plan.Resonance, plan.Settings{Policy: sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 5 * time.Second}, CheckInterval: time.Second}},
		{plan.RolloverBelowCheck, plan.Settings{Policy: sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 5 * time.Second}}},
		{plan.RolloverBelowCheck, plan.Settings{Policy: sinkcore.Default{Inactivity: 30 * time.Second}, CheckInterval: 48 * time.Hour}},
		{plan.InactivityNever, plan.Settings{Policy: sinkcore.Default{Rollover: 55 * time.Second, Inactivity: 55 * time.Second}}},
		{plan.InactivityAlways, plan.Settings{Policy: sinkcore.Default{Rollover: time.Hour, Inactivity: time.Minute}, Arrivals: plan.Constant{Interval: 5 * time.Minute}}},
		{plan.SizeNever, plan.Settings{Policy: sinkcore.Default{Size: 1 << 30, Rollover: 55 * time.Second, Inactivity: time.Minute / 2}}},
		{plan.SizeNever, plan.Settings{Policy: sinkcore.Deadline{Within: time.Minute, Checkpoint: 2 * time.Second, Target: 1 << 30}}},
		{plan.SizeEveryCheckpoint, plan.Settings{Policy: sinkcore.Default{Size: 1000, Rollover: 55 * time.Second, Inactivity: time.Minute / 2}, Arrivals: fast}},
		{plan.SizeEveryCheckpoint, plan.Settings{Policy: sinkcore.Deadline{Within: time.Minute, Checkpoint: 2 * time.Second, Target: 1000}, Arrivals: fast}},
		{plan.CheckpointAboveRollover, plan.Settings{Policy: well, CheckpointInterval: 10 * time.Minute}},
		{plan.SlowCheckpoint, plan.Settings{Policy: well, CheckpointDuration: 5 * time.Second}},
		{plan.SlowCheckpoint, plan.Settings{Policy: sinkcore.Deadline{Within: 30 * time.Second, Checkpoint: 2 * time.Second}, CheckpointDuration: 5 * time.Second}},
		{plan.ManyFiles, plan.Settings{Policy: sinkcore.OnCheckpoint{}, Buckets: 100, Arrivals: fast}},
		{plan.IdleUnbounded, plan.Settings{Policy: onlySize{}, Arrivals: fast}},
		{plan.IdleUnbounded, plan.Settings{Policy: sinkcore.Default{Rollover: 1 << 62 / ms * ms, Inactivity: 1 << 62 / ms * ms}}},
	} {
		found := lint(t, c.bad)
		i := slices.IndexFunc(found, func(f plan.Finding) bool { return f.Rule == c.rule })
		if i < 0 {
			t.Errorf("%s: found %v in %v", c.rule, rules(found), c.bad.Policy)
			continue
		}
		f := found[i]
		if f.What == "" || f.Change == "" || f.Source == "" || (len(f.Costs) == 0) != (c.rule == plan.SizeNever) || f.Option == "" {
			t.Errorf("%s: incomplete: %+v", c.rule, f)
		}
		if c.rule != plan.SizeNever && !f.Costs[0].Unbounded && f.Costs[0].Later >= f.Costs[0].Now {
			t.Errorf("%s: the better setting is no better: %v", c.rule, f)
		}
		if again := rules(lint(t, f.Better)); slices.Contains(again, c.rule) {
			t.Errorf("%s: the better setting has it too: %v", c.rule, f)
		}
	}
	for name, s := range map[string]plan.Settings{
		"rollover 55 s":  {Policy: well},
		"on checkpoint":  {Policy: sinkcore.OnCheckpoint{}},
		"deadline":       {Policy: sinkcore.Deadline{Within: time.Minute, Checkpoint: 2 * time.Second}},
		"size and age":   {Policy: sinkcore.Default{Size: 3000, Rollover: 55 * time.Second, Inactivity: time.Minute / 2}},
		"a file a burst": {Policy: sinkcore.Default{Rollover: time.Hour, Inactivity: time.Minute}, CheckInterval: time.Second, Arrivals: plan.Bursts{Every: 10 * time.Minute}},
	} {
		if found := lint(t, s); found != nil {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// What is found would be better with the better setting, by the figure that comes first; or, for
// a resonance, by the latency that is possible.
func TestEachFindingHasAGain(t *testing.T) {
	seen := map[plan.Rule]int{}
	withChecks(t, 4_000, func(t *rapid.T) {
		s := drawSettings(t)
		s.Arrivals = drawConstant(t)
		if rapid.Bool().Draw(t, "large records") {
			s.RecordSize = rapid.IntRange(1, 2000).Draw(t, "large record")
		}
		for _, f := range lint(t, s) {
			seen[f.Rule]++
			now, err := plan.Guarantees(s)
			then, err2 := plan.Guarantees(f.Better)
			if err != nil || err2 != nil {
				t.Fatalf("%v, %v", err, err2)
			}
			if f.Rule == plan.SizeNever {
				// It claims no gain. Nothing is any different without the size.
				if now != then {
					t.Fatalf("%v is never reached, but without it\n%+v is\n%+v", s.Policy, now, then)
				}
				continue
			}
			if c := f.Costs[0]; !c.Unbounded && c.Later >= c.Now && (f.Rule != plan.Resonance || then.SteadyWorst >= now.SteadyWorst) {
				t.Fatalf("no gain from %+v to %+v\n%v", s, f.Better, f)
			}
		}
	})
	for _, r := range []plan.Rule{plan.Resonance, plan.RolloverBelowCheck, plan.SizeEveryCheckpoint, plan.CheckpointAboveRollover, plan.SlowCheckpoint, plan.SizeNever} {
		if seen[r] < 20 {
			t.Errorf("%s was found %d times only", r, seen[r])
		}
	}
}

// The rollover of 59 s has the room already that a resonance would be told to make, and a record
// that is larger than the size is a file of its own with any.
func TestLintHasNothingToSayWhereNothingHelps(t *testing.T) {
	s := article(sinkcore.Default{Rollover: 59 * time.Second, Inactivity: ms}, 0)
	if found := rules(lint(t, s)); slices.Contains(found, plan.Resonance) {
		t.Errorf("inactivity 1 ms: found %v", found)
	}
	s = article(sinkcore.Default{Size: 50, Rollover: 55 * time.Second, Inactivity: 30 * time.Second}, 0)
	s.RecordSize, s.Arrivals = 1000, plan.Constant{Interval: 1500 * ms}
	if found := rules(lint(t, s)); slices.Contains(found, plan.SizeEveryCheckpoint) {
		t.Errorf("large records: found %v", found)
	}
}

// A size that is never reached is told with what that rests on, in figures that can be read, and no
// other size is advised that is not reached either. One that keeps Flink's own from being reached
// does something, and is not told.
func TestLintSizeNeverSaysWhatIsTrue(t *testing.T) {
	s := plan.Settings{Policy: sinkcore.Default{Size: 256 << 20, Rollover: 899 * time.Second, Inactivity: 5 * time.Minute}, Buckets: 2}
	found := lint(t, s)
	if got := rules(found); !slices.Equal(got, []plan.Rule{plan.SizeNever}) {
		t.Fatalf("found %v", got)
	}
	f := found[0]
	for _, part := range []string{"with 10 records/s of 100 bytes for 2 parts at a time", "450 kB of records at most", "a size of 256 MiB is never reached, as that takes 6.21 days"} {
		if !strings.Contains(f.What, part) {
			t.Errorf("%q is not in %q", part, f.What)
		}
	}
	if strings.Contains(f.What, "e+0") || strings.Contains(f.Change, "128") {
		t.Errorf("%v", f)
	}
	// 150 MB come until the time limits close a part, which Flink's own size would cut.
	s = plan.Settings{Policy: sinkcore.Default{Size: 1 << 40, Rollover: 149 * time.Second, Inactivity: time.Minute}, RecordSize: 10_000, Arrivals: plan.Constant{Interval: 10 * ms}}
	if got := rules(lint(t, s)); slices.Contains(got, plan.SizeNever) {
		t.Errorf("more than Flink's own: found %v", got)
	}
}

// Findings come by what they cost: records that are not seen, latency, files, and what does
// nothing.
func TestLintTellsTheWorstFirst(t *testing.T) {
	for _, c := range []struct {
		s    plan.Settings
		want []plan.Rule
	}{
		{plan.Settings{Policy: sinkcore.Default{Size: 1 << 30, Rollover: time.Minute, Inactivity: time.Minute}, CheckpointInterval: 10 * time.Minute},
			[]plan.Rule{plan.Resonance, plan.InactivityNever, plan.CheckpointAboveRollover, plan.SizeNever}},
		{plan.Settings{Policy: sinkcore.Default{Size: 1 << 10, Rollover: 1 << 62 / ms * ms, Inactivity: 1 << 62 / ms * ms}, Arrivals: plan.Constant{Interval: ms}, CheckpointDuration: 5 * time.Second},
			[]plan.Rule{plan.IdleUnbounded, plan.SlowCheckpoint, plan.SizeEveryCheckpoint, plan.ManyFiles}},
	} {
		if got := rules(lint(t, c.s)); !slices.Equal(got, c.want) {
			t.Errorf("%v: found %v, want %v", c.s.Policy, got, c.want)
		}
	}
}

// onlySize is a policy of the user's own that can state its limits.
type onlySize struct{ sinkcore.OnCheckpoint }

func (onlySize) Limits() plan.Limits { return plan.Limits{Bytes: 1 << 20} }
func (onlySize) String() string      { return "policy=onlysize" }

// What Solve recommends is well.
func TestLintHasNothingToSayOfSolutions(t *testing.T) {
	solved := 0
	withChecks(t, 20_000, func(t *rapid.T) {
		goal := drawGoal(t)
		goal.FilesPerHour = min(goal.FilesPerHour, plan.ManyFilesPerHour)
		// Of the sizes that people have, too.
		unit := time.Duration(rapid.SampledFrom([]int64{1, 1000, 60_000}).Draw(t, "unit"))
		goal.Worst, goal.P99 = unit*goal.Worst, unit*goal.P99
		goal.Settings.CheckpointInterval, goal.Settings.FirstCheckpoint = unit*goal.Settings.CheckpointInterval, unit*goal.Settings.FirstCheckpoint
		goal.Settings.CheckpointDuration *= unit
		solution, err := plan.Solve(goal)
		if err != nil {
			return
		}
		solved++
		if found := lint(t, solution.Settings); found != nil {
			t.Fatalf("%+v\nis recommended for %+v, but\n%v", solution.Settings, goal, found)
		}
	})
	if solved < 2000 {
		t.Errorf("only %d goals were solved", solved)
	}
}
