package plan_test

import (
	"math"
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
		"by chance": {plan.Settings{Arrivals: plan.Poisson{Interval: time.Second}}, []string{"the record that waits longest waits"}},
		"too many": {
			plan.Settings{Arrivals: plan.Poisson{Interval: time.Microsecond}, RecordSize: 1},
			[]string{"a record of a steady stream that arrives at the worst instant waits 119.999 s"},
		},
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
		switch rapid.IntRange(0, 3).Draw(t, "arrivals") {
		case 0:
			s.Arrivals = drawBursts(t)
		case 1:
			s.Arrivals = plan.Poisson{Interval: some(t, 20, "mean"), Seed: rapid.Uint64().Draw(t, "seed")}
		default:
			s.Arrivals = drawConstant(t)
		}
		if rapid.IntRange(0, 3).Draw(t, "any outages") == 0 {
			drawOutages(t, &s)
		}
		e, err := plan.Explain(s)
		if err != nil {
			t.Fatal(err)
		}
		if e.Sampled || e.Looked != s.Duration {
			t.Fatalf("not all was looked at: %+v", e)
		}
		seed := uint64(0)
		if p, poisson := s.Arrivals.(plan.Poisson); poisson {
			seed = p.Seed
		}
		r := simulate(t, s, seed)
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

// A stream of which nothing is visible as far as it can be gone through is told as a steady one,
// for which the guarantee is just kept.
func TestExplanationOfTooManyRecords(t *testing.T) {
	for _, p := range []sinkcore.RollingPolicy{
		sinkcore.OnCheckpoint{}, sinkcore.Default{Rollover: 9 * time.Second, Inactivity: time.Hour, Size: math.MaxInt64}, sinkcore.Deadline{Within: time.Minute, Checkpoint: 7 * time.Second},
	} {
		s := plan.Settings{
			Policy: p, CheckInterval: 5 * time.Second, CheckpointInterval: 7 * time.Second, FirstCheckpoint: 3 * time.Second, Duration: 10 * time.Minute,
			RecordSize: 1, Arrivals: plan.Poisson{Interval: 500 * time.Nanosecond},
		}
		e, err := plan.Explain(s)
		if err != nil {
			t.Fatal(err)
		}
		s.Arrivals = plan.Constant{Interval: 500 * time.Nanosecond}
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Sampled || e.Looked != s.Duration || e.Latency != g.Worst {
			t.Errorf("guaranteed %v, explained\n%s%+v", g.Worst, e, s)
		}
	}
	// What becomes visible in the time that can be gone through is told.
	e, err := plan.Explain(plan.Settings{Arrivals: plan.Poisson{Interval: ms}})
	if err != nil || e.Sampled || e.Looked < 30*time.Minute || e.Looked > 35*time.Minute {
		t.Errorf("%+v, %v", e, err)
	}
}

// A burst of 0.6 s an hour is closed by inactivity, and the story says so.
func TestExplanationOfABurstAnHour(t *testing.T) {
	s := plan.Settings{
		Policy: sinkcore.Default{Rollover: 15 * time.Minute, Inactivity: 5 * time.Minute}, Arrivals: plan.Bursts{Size: 600, Every: time.Hour, Interval: ms},
		CheckpointInterval: time.Minute, FirstCheckpoint: 150 * ms, Duration: 3 * time.Hour,
	}
	e, err := plan.Explain(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `policy=rolling rollover=900000 inactivity=300000: the record that waits longest waits 360.15 s
         0 s  written     the record is written, the first of its part file
      150 ms  checkpoint  from now to 300.15 s 6 checkpoints cannot publish the part, which is open
        60 s  check       the check finds the part 60 s old, 840 s short of the rollover of 900 s; last written to 59.401 s ago, 240.599 s short of the inactivity of 300 s: it stays open, the next check is 60 s later
       120 s  check       this check and 2 more, up to the one at 240 s, leave it open too
       300 s  check       the check finds the part 300 s old, rollover is 900 s; last written to 299.401 s ago, 599 ms short of the inactivity of 300 s: it stays open, the next check is 60 s later
       360 s  rolled      the check finds that nothing was written to the part for 359.401 s, and closes it
    360.15 s  prepared    a checkpoint starts and hands the part over
    360.15 s  committed   it is complete; the part is renamed, and readers see the record after 360.15 s
360.15 s = 300.599 s until the part may be closed + 59.401 s until that is seen + 150 ms until a checkpoint starts
`
	if got := e.String(); got != want || e.Reason != sinkcore.Inactivity || e.Latency != simulate(t, s, 0).Latency(1) {
		t.Errorf("closed by %v, got\n%swant\n%s", e.Reason, got, want)
	}
}

// A pause that is just long enough closes the part at the check that comes with the next record.
func TestExplanationOfAPauseThatIsJustLongEnough(t *testing.T) {
	s := plan.Settings{
		Policy: sinkcore.Default{Rollover: time.Hour, Inactivity: 10 * ms}, CheckInterval: 10 * ms, CheckpointInterval: 2 * ms,
		Arrivals: plan.Bursts{Size: 2, Interval: 5 * ms, Every: 15 * ms, First: 5 * ms}, Duration: time.Second,
	}
	e, err := plan.Explain(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := simulate(t, s, 0).Latency(1); e.Latency != want || e.Moments[len(e.Moments)-1].At < 20*ms {
		t.Errorf("played %v:\n%s", want, e)
	}
}

// A burst of fifty millions is told as one of few records that takes as long.
func TestExplanationOfALargeBurst(t *testing.T) {
	s := plan.Settings{
		Policy: sinkcore.Default{Rollover: 15 * time.Minute, Inactivity: 5 * time.Minute, Size: math.MaxInt64}, CheckpointInterval: time.Minute, FirstCheckpoint: 150 * ms,
		Arrivals: plan.Bursts{Size: 50_000_000, Every: time.Hour, Interval: 50 * time.Nanosecond}, Duration: 3 * time.Hour, Subtasks: 3,
	}
	many, err := plan.Explain(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Arrivals = plan.Bursts{Size: 2500, Every: time.Hour, Interval: ms}
	few, err := plan.Explain(s)
	if err != nil {
		t.Fatal(err)
	}
	if many.Sampled || many.Looked != s.Duration || many.Reason != sinkcore.Inactivity || many.Latency != few.Latency {
		t.Errorf("%+v\n%+v", many, few)
	}
}
