package plan_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// No policy shows all records in time with fewer files, and Deadline needs no more.
func TestNoPolicyMakesFewerFiles(t *testing.T) {
	tight := 0
	withChecks(t, 5_000, func(t *rapid.T) {
		s := drawSettings(t)
		if rapid.Bool().Draw(t, "by chance") {
			s.Arrivals = plan.Poisson{Interval: time.Duration(rapid.Int64Range(200, 30_000).Draw(t, "interval, µs")) * time.Microsecond}
		} else {
			s.Arrivals = drawConstant(t)
		}
		r := simulate(t, s, 1)
		within := int64(0) // of the slowest record, that which is still waiting included
		for _, v := range r.Records {
			if v.Visible >= 0 {
				within = max(within, v.Visible-v.Arrived)
			} else {
				within = max(within, s.Duration.Milliseconds()-v.Arrived+1)
			}
		}
		least, err := plan.LeastFiles(s, time.Duration(within)*ms)
		if errors.Is(err, plan.ErrImpossible) {
			if _, constant := s.Arrivals.(plan.Constant); constant {
				t.Fatalf("all records were visible within %d ms\n%+v", within, s)
			}
			return // other arrivals could have been too late
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Files < least {
			t.Fatalf("%d files, the least is %d for %d ms\n%+v", r.Files, least, within, s)
		}
		if least > 0 && r.Files == least {
			tight++
		}
	})
	if tight < 500 {
		t.Errorf("the least number was reached in %d draws only", tight)
	}
}

// A Deadline that knows its checkpoints makes the least number of files; the last of each
// lane may become visible before it has to.
func TestDeadlineMakesTheLeastFiles(t *testing.T) {
	withChecks(t, 3_000, func(t *rapid.T) {
		s := drawSettings(t)
		s.Arrivals = drawConstant(t)
		s.FirstCheckpoint = min(s.FirstCheckpoint, s.CheckpointInterval)
		p := sinkcore.Deadline{Checkpoint: s.CheckpointInterval, Duration: s.CheckpointDuration}
		p.Within = max(p.Checkpoint, p.Duration) + p.Duration + some(t, 120, "slack") - ms
		s.Policy, s.Duration = p, 2*time.Second
		least, err := plan.LeastFiles(s, p.Within)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plan.Predict(s)
		if err != nil {
			t.Fatal(err)
		}
		if got.Worst.High > p.Within || got.Files.Low < least || got.Files.High > least+int64(s.Buckets*s.Subtasks) {
			t.Fatalf("%v files, worst %v; the least for %v is %d\n%+v", got.Files, got.Worst, p.Within, least, s)
		}
	})
}

func TestLeastFilesOfTheArticle(t *testing.T) {
	s := article(nil, 0)
	for within, want := range map[time.Duration]int64{
		120100 * ms:     29, // what the default keeps, in as many files
		12100 * ms:      299,
		2 * time.Second: 1800, // OnCheckpoint makes as many
	} {
		if got, err := plan.LeastFiles(s, within); err != nil || got != want {
			t.Errorf("%v: %d, %v; want %d", within, got, err, want)
		}
	}
	if _, err := plan.LeastFiles(s, 1999*ms); !errors.Is(err, plan.ErrImpossible) {
		t.Errorf("in less than the checkpoint interval: %v", err)
	}
	s.Outages = []plan.Outage{{From: time.Second, To: 2 * time.Second}}
	if _, err := plan.LeastFiles(s, time.Minute); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("with an outage: %v", err)
	}
}
