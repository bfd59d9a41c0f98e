package plan_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// The cause of the article's 120 s is a check that finds the part 50 ms too young.
func TestExplanationOfTheArticle(t *testing.T) {
	e, err := plan.Explain(article(sinkcore.Default{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	const want = `policy=default: the record that waits longest waits 120.1 s
       50 ms  written     the record is written, the first of its part file
      150 ms  checkpoint  from now to 118.15 s 60 checkpoints cannot publish the part, which is open
        60 s  check       the check finds the part 59.95 s old, 50 ms short of the rollover of 60 s: it stays open, the next check is 60 s later
       120 s  rolled      the check finds the part 119.95 s old, and closes it
    120.15 s  prepared    a checkpoint starts and hands the part over
    120.15 s  committed   it is complete; the part is renamed, and readers see the record after 120.1 s
120.1 s = 60 s until the part may be closed + 59.95 s until that is seen + 150 ms until a checkpoint starts
`
	if got := e.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Each way in which a part is closed is told, and what an outage does.
func TestExplanations(t *testing.T) {
	sparse := plan.Constant{Interval: 10 * time.Minute}
	for name, c := range map[string]struct {
		s    plan.Settings
		want []string
	}{
		"size": {article(sinkcore.Default{Size: 5000}, 0), []string{"the part has 5100 bytes, and the next record closes it"}},
		"size at a checkpoint": {
			plan.Settings{Arrivals: plan.Constant{Interval: time.Second, First: 500 * ms}, Policy: sinkcore.Default{Size: 199}, CheckpointInterval: 2 * time.Second},
			[]string{"the checkpoint finds that the part has 200 bytes"},
		},
		"checkpoint": {article(sinkcore.OnCheckpoint{}, 0), []string{"the checkpoint closes the part, as it does every part"}},
		"deadline":   {article(sinkcore.Deadline{Within: 10 * time.Second, Checkpoint: 2 * time.Second}, 0), []string{"4 checkpoints cannot publish", "10 s old, more than 8 s"}},
		"inactivity": {plan.Settings{Arrivals: sparse, Policy: sinkcore.Default{Rollover: time.Hour}}, []string{"nothing was written to the part for 60 s"}},
		"idle not long enough": {
			plan.Settings{Arrivals: plan.Constant{Interval: 10 * time.Minute, First: 10*time.Minute + 1*ms}, Policy: sinkcore.Default{Rollover: time.Hour}},
			[]string{"the check finds the part 59.999 s old, rollover is 3600 s; last written to 59.999 s ago, 1 ms short of the inactivity of 60 s"},
		},
		"many checks": {article(sinkcore.Default{}, time.Second), []string{"this check and 57 more, up to the one at 59 s, find it too young too"}},
		"resumed": {
			plan.Settings{Arrivals: sparse, Outages: []plan.Outage{{From: 650 * time.Second, To: 700 * time.Second}}},
			[]string{"at 700 s it goes on with the part", "100 s until the outage is over"},
		},
		"sent again": {
			plan.Settings{Arrivals: sparse, Outages: []plan.Outage{{From: 601 * time.Second, To: 700 * time.Second}}},
			[]string{"the record arrives", "at 700 s the source sends it again", "the record is written, the first"},
		},
		"by chance":  {plan.Settings{Arrivals: plan.Poisson{}}, []string{"a record that arrives at the worst instant waits 119.999 s"}},
		"too early":  {plan.Settings{Duration: time.Second}, []string{"the first checkpoint is not complete before the end"}},
		"no record":  {plan.Settings{Arrivals: sparse, Duration: time.Minute}, []string{"no record arrives"}},
		"never ripe": {plan.Settings{Duration: time.Minute}, []string{"no part is closed, handed over by a checkpoint and published"}},
	} {
		e, err := plan.Explain(c.s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(e.String(), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, e)
			}
		}
	}
}

// What is told of the record is what happens to it, and it fits on a screen.
func TestExplanationIsWhatHappens(t *testing.T) {
	withChecks(t, 2_000, func(t *rapid.T) {
		s := drawSettings(t)
		s.Arrivals = drawConstant(t)
		if rapid.IntRange(0, 3).Draw(t, "any outages") == 0 {
			drawOutages(t, &s)
		}
		e, err := plan.Explain(s)
		if err != nil {
			t.Fatal(err)
		}
		r := simulate(t, s, 0)
		if strings.Count(e.String(), "\n") >= 20 {
			t.Fatalf("20 lines or more:\n%s", e)
		}
		if r.Visible == 0 {
			if e.Latency >= 0 {
				t.Fatalf("nothing is visible, and yet\n%s", e)
			}
			return
		}
		if e.Latency != r.Latency(1) {
			t.Fatalf("%v, simulated %v:\n%s", e.Latency, r.Latency(1), e)
		}
		visit := r.Records[e.Record]
		at := func(kind plan.Kind) int64 {
			for _, m := range e.Moments {
				if m.Kind == kind {
					return m.At.Milliseconds()
				}
			}
			return -1
		}
		if visit.Visible-visit.Arrived != e.Latency.Milliseconds() || at(plan.Committed) != visit.Visible {
			t.Fatalf("record %d: %+v\n%s", e.Record, visit, e)
		}
		// One of the parts that became visible then has just this life.
		found := false
		for _, p := range r.Parts {
			found = found || p.Visible == visit.Visible && p.Closed == at(plan.Rolled) && p.Handed == at(plan.Prepared) && p.Opened == at(plan.Written)
		}
		if !found {
			t.Fatalf("no part has the life of\n%sin %+v", e, r.Parts)
		}
		if sum := e.Outage + e.Due + e.Check + e.Checkpoint + e.Completion; sum != e.Latency {
			t.Fatalf("the parts sum up to %v:\n%s", sum, e)
		}
		last := time.Duration(0)
		for _, m := range e.Moments {
			if m.At < last {
				t.Fatalf("not in order:\n%s", e)
			}
			last = m.At
		}
	})
}

// For arrivals by chance the record is one for which the guarantee is just kept.
func TestExplanationOfArrivalsByChance(t *testing.T) {
	withChecks(t, 1_000, func(t *rapid.T) {
		s := drawSettings(t)
		s.Policy = rapid.SampledFrom([]sinkcore.RollingPolicy{
			sinkcore.OnCheckpoint{},
			sinkcore.Default{Rollover: some(t, 120, "rollover"), Inactivity: time.Hour},
			sinkcore.Deadline{Within: 160*ms + some(t, 120, "slack"), Checkpoint: 60 * ms, Duration: 80 * ms},
		}).Draw(t, "one policy")
		s.Buckets, s.Subtasks, s.CheckpointDuration = 1, 1, min(s.CheckpointDuration, s.CheckpointInterval)
		s.FirstCheckpoint = min(s.FirstCheckpoint, s.CheckpointInterval)
		s.Duration = 10 * time.Second
		// So few that a gap may be as long as it likes, and yet enough to go on.
		s.Arrivals = plan.Poisson{Interval: 20 * ms}
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		e, err := plan.Explain(s)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Sampled || e.Latency != g.Worst {
			t.Fatalf("guaranteed %v, explained\n%s%+v", g.Worst, e, s)
		}
	})
}
