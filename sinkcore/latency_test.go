package sinkcore_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

// timeline drives a job millisecond by millisecond and notes how long each record waits
// until it is visible.
type timeline struct {
	policy                      sinkcore.RollingPolicy
	check, checkpoint, duration int64    // milliseconds
	firstBarrier                int64    // when the first checkpoint starts
	order                       []string // what comes first within a millisecond
	writes                      func(now int64) bool
}

func (l timeline) worst(t interface{ Fatal(...any) }, until int64) int64 {
	c := config(l.policy)
	c.CheckInterval = time.Duration(l.check) * ms
	job, err := sinkcore.NewJob(newDisk(), random(1), c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	type completion struct{ at, id int64 }
	var completions []completion
	var barriers int64
	var written []int64 // when each record was
	visible, worst := 0, int64(0)
	for now := int64(0); now <= until; now++ {
		for _, what := range l.order {
			switch what {
			case "write":
				if !l.writes(now) {
					continue
				}
				written = append(written, now)
				err = job.Write(0, "r", sinkcore.NoTime, sinkcore.NoTime, now)
			case "tick":
				if now >= job.NextTick() {
					_, err = job.Tick(now)
				}
			case "barrier":
				if now < l.firstBarrier || (now-l.firstBarrier)%l.checkpoint != 0 {
					continue
				}
				barriers++
				_, err = job.Checkpoint(barriers, now)
				completions = append(completions, completion{now + l.duration, barriers})
			case "complete":
				for len(completions) > 0 && completions[0].at == now && err == nil {
					var published []sinkcore.Committable
					published, err = job.Complete(completions[0].id)
					completions = completions[1:]
					for _, p := range published {
						// One bucket: parts come in order, and so do their records.
						for range p.Records {
							worst = max(worst, now-written[visible])
							visible++
						}
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, at := range written[visible:] {
		worst = max(worst, until-at)
	}
	return worst
}

// bounded draws settings with the bound in milliseconds.
func bounded(t *rapid.T, l *timeline) (bound int64) {
	l.policy = builtIn(2).Draw(t, "policy")
	l.check = rapid.Int64Range(1, 12).Draw(t, "check")
	l.checkpoint = rapid.Int64Range(1, 12).Draw(t, "checkpoint")
	l.duration = rapid.Int64Range(0, l.checkpoint).Draw(t, "duration") // a longer one would hold up the next
	d, ok := sinkcore.WorstLatency(l.policy, sinkcore.Schedule{
		Check: time.Duration(l.check) * ms, Checkpoint: time.Duration(l.checkpoint) * ms, Duration: time.Duration(l.duration) * ms,
	})
	if !ok {
		t.Fatalf("no bound for %s", l.policy)
	}
	return d.Milliseconds()
}

func TestNoRecordWaitsLongerThanTheWorstLatency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l timeline
		bound := bounded(t, &l)
		if bound > 1000 {
			t.Skip("a limit of a minute")
		}
		l.firstBarrier = rapid.Int64Range(0, l.checkpoint-1).Draw(t, "first barrier")
		l.order = rapid.Permutation([]string{"write", "tick", "barrier"}).Draw(t, "order")
		l.order = append(l.order, "complete")
		gaps := rapid.SliceOfN(rapid.Int64Range(1, 30), 20, 20).Draw(t, "gaps")
		var arrivals = map[int64]bool{}
		at := int64(0)
		for _, gap := range gaps {
			at += gap
			arrivals[at] = true
		}
		l.writes = func(now int64) bool { return arrivals[now] }
		if worst := l.worst(t, at+bound+2); worst > bound {
			t.Fatalf("a record waited %d ms, the bound is %d", worst, bound)
		}
	})
}

// There are arrivals for which a record waits exactly so long as the bound says.
func TestTheWorstLatencyIsReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l timeline
		bound := bounded(t, &l)
		if bound > 1000 {
			t.Skip("a limit of a minute")
		}
		l.order = []string{"barrier", "write", "tick", "complete"}
		var first int64 // when the record is written that waits longest
		if late, ok := deadlineOnly(l.policy, l.checkpoint, l.duration, bound); ok {
			// Young enough at a barrier, to the millisecond.
			first = 7
			l.firstBarrier = (first + late) % l.checkpoint
			if l.policy.RollOnCheckpoint(sinkcore.PartInfo{CreationTime: first, LastUpdate: first, Size: 2 * (bound + 1), Records: 1}, first) == sinkcore.Size {
				t.Skip("a size limit comes first")
			}
			// A record a millisecond, lest the part be idle.
			l.writes = func(now int64) bool { return now >= first && now < first+bound }
			if worst := l.worst(t, first+bound); worst != bound {
				t.Fatalf("%v: the longest wait was %d ms, the bound is %d", l.policy, worst, bound)
			}
			return
		}
		if l.policy.RollOnCheckpoint(sinkcore.PartInfo{}, 0) == sinkcore.AtCheckpoint {
			// Just after a barrier.
			l.firstBarrier, first = 0, 0
		} else {
			// One millisecond too young at a check, and the next check just after a
			// barrier; kept from being idle by a record just before each check.
			rollover := bound - l.check + 1 - l.checkpoint - l.duration
			second := (rollover/l.check + 2) * l.check
			first = second - l.check - rollover + 1
			l.firstBarrier = second % l.checkpoint
			if size := l.policy.RollOnCheckpoint(sinkcore.PartInfo{Size: 2 * (second - first + 1)}, 0); size != sinkcore.None {
				t.Skip("the size limit comes first")
			}
		}
		l.writes = func(now int64) bool { return now == first || now > first && now < first+bound && now%l.check == 0 }
		if worst := l.worst(t, first+bound); worst != bound {
			t.Fatalf("the longest wait was %d ms, the bound is %d", worst, bound)
		}
	})
}

// deadlineOnly tells whether it is a Deadline that makes the bound, and how old a part may be
// at a checkpoint that leaves it open.
func deadlineOnly(p sinkcore.RollingPolicy, checkpoint, duration, bound int64) (late int64, ok bool) {
	switch p := p.(type) {
	case sinkcore.Deadline:
		return bound - checkpoint - duration, true
	case sinkcore.AnyOf:
		s := sinkcore.Schedule{Check: ms, Checkpoint: time.Duration(checkpoint) * ms, Duration: time.Duration(duration) * ms}
		for _, q := range []sinkcore.RollingPolicy{p.First, p.Second} {
			if _, inner := deadlineOnly(q, checkpoint, duration, bound); !inner {
				continue
			}
			if d, _ := sinkcore.WorstLatency(q, s); d.Milliseconds() == bound {
				return bound - checkpoint - duration, true
			}
		}
	}
	return 0, false
}

func TestWorstLatencyOfTheArticle(t *testing.T) {
	for _, test := range []struct {
		policy sinkcore.RollingPolicy
		check  time.Duration
		want   time.Duration
	}{
		{sinkcore.Default{}, 0, 121_999 * ms},
		{sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 5 * time.Second}, 2 * time.Second, 13_999 * ms},
		{sinkcore.OnCheckpoint{}, 0, 2 * time.Second},
		{sinkcore.Deadline{Within: time.Minute, Checkpoint: 2 * time.Second}, 0, time.Minute},
		{sinkcore.Deadline{Within: time.Minute, Checkpoint: time.Second, Duration: 3 * time.Second}, 0, 56 * time.Second},
		{sinkcore.AnyOf{First: sinkcore.Default{}, Second: sinkcore.OnCheckpoint{}}, 0, 2 * time.Second},
	} {
		s := sinkcore.Schedule{Check: test.check, Checkpoint: 2 * time.Second}
		if got, ok := sinkcore.WorstLatency(test.policy, s); !ok || got != test.want {
			t.Errorf("%s: %v, %v; want %v", test.policy, got, ok, test.want)
		}
		// The method says the same as the function.
		method := test.policy.(interface {
			WorstLatency(sinkcore.Schedule) (time.Duration, bool)
		})
		if got, ok := method.WorstLatency(s); !ok || got != test.want {
			t.Errorf("%s, the method: %v, %v; want %v", test.policy, got, ok, test.want)
		}
		if got, ok := method.WorstLatency(sinkcore.Schedule{}); ok {
			t.Errorf("%s, the method without checkpoints: %v", test.policy, got)
		}
	}
}

func TestWorstLatencyHasNoBoundWithoutCheckpointsOrForAPolicyThatStatesNone(t *testing.T) {
	s := sinkcore.Schedule{Checkpoint: time.Second}
	for name, test := range map[string]struct {
		policy sinkcore.RollingPolicy
		s      sinkcore.Schedule
	}{
		"no checkpoints":          {sinkcore.OnCheckpoint{}, sinkcore.Schedule{}},
		"a user's policy":         {afterRecords(1), s},
		"two of them":             {sinkcore.AnyOf{First: afterRecords(1), Second: afterRecords(2)}, s},
		"no policy":               {nil, s},
		"longer than 292 years":   {sinkcore.Default{Rollover: 1<<63 - 1}, s},
		"a duration of 292 years": {sinkcore.OnCheckpoint{}, sinkcore.Schedule{Checkpoint: time.Second, Duration: 1<<63 - 1}},
	} {
		if got, ok := sinkcore.WorstLatency(test.policy, test.s); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	mixed := sinkcore.AnyOf{First: afterRecords(1), Second: sinkcore.OnCheckpoint{}}
	if got, ok := sinkcore.WorstLatency(mixed, s); !ok || got != time.Second {
		t.Errorf("one of two states a bound: %v, %v", got, ok)
	}
}
