package props

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// ms makes a duration.
func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// drawPolicy draws a built-in policy with settings of at most a few seconds.
func drawPolicy(t *rapid.T) sinkcore.RollingPolicy {
	limits := sinkcore.Default{
		Rollover:   ms(rapid.IntRange(1, 3000).Draw(t, "rollover")),
		Inactivity: ms(rapid.IntRange(1, 3000).Draw(t, "inactivity")),
	}
	if rapid.Bool().Draw(t, "sized") {
		limits.Size = int64(rapid.IntRange(1, 20*timelineRecord).Draw(t, "size"))
	}
	deadline := sinkcore.Deadline{Checkpoint: ms(rapid.IntRange(1, 2000).Draw(t, "interval")), Duration: ms(rapid.IntRange(0, 2000).Draw(t, "longest"))}
	deadline.Within = max(deadline.Checkpoint, deadline.Duration) + deadline.Duration + ms(rapid.IntRange(0, 5000).Draw(t, "slack"))
	return rapid.SampledFrom([]sinkcore.RollingPolicy{
		deadline, limits, sinkcore.OnCheckpoint{}, sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: limits}, sinkcore.AnyOf{First: limits, Second: limits},
	}).Draw(t, "policy")
}

func drawTimeline(t *rapid.T) Timeline {
	l := Timeline{
		Policy: drawPolicy(t),
		Schedule: sinkcore.Schedule{
			Check:      ms(rapid.IntRange(1, 2000).Draw(t, "check")),
			Checkpoint: ms(rapid.IntRange(1, 2000).Draw(t, "checkpoint")),
		},
	}
	l.FirstCheckpoint = int64(rapid.IntRange(0, int(l.Schedule.Checkpoint.Milliseconds())).Draw(t, "first"))
	// A checkpoint that takes longer than the interval would stretch it.
	l.Schedule.Duration = ms(rapid.IntRange(0, int(l.Schedule.Checkpoint.Milliseconds())).Draw(t, "duration"))
	if p, ok := l.Policy.(sinkcore.Deadline); ok && rapid.Bool().Draw(t, "told") {
		slack := p.Within - max(p.Checkpoint, p.Duration) - p.Duration
		p.Checkpoint, p.Duration = l.Schedule.Checkpoint, l.Schedule.Duration
		p.Within = p.Checkpoint + p.Duration + slack
		l.Policy = p
	}
	at := int64(0)
	for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 4000), 1, 40).Draw(t, "gaps") {
		at += int64(gap)
		l.Arrivals = append(l.Arrivals, at)
	}
	from := time.Duration(0)
	for _, o := range rapid.SliceOfN(rapid.IntRange(1, 5000), 0, 3).Draw(t, "outages") {
		from += ms(o)
		to := from + ms(rapid.IntRange(0, 3000).Draw(t, "outage"))
		l.Outages = append(l.Outages, sim.Outage{From: from, To: to})
		from = to
	}
	return l
}

// No record is later than the closed form of its policy says, with outages allowed for,
// and the number of files is what the closed form says.
func TestPropLatency(t *testing.T) {
	latencies, counts, outages := 0, 0, 0
	withChecks(t, 3000, func(t *rapid.T) {
		l := drawTimeline(t)
		v, err := l.Run()
		if err != nil {
			t.Fatal(err)
		}
		if violation := l.CheckLatency(v); violation != nil {
			t.Fatal(violation)
		}
		if violation := l.CheckFiles(v); violation != nil {
			t.Fatal(violation)
		}
		latencies++
		if len(l.Outages) > 0 {
			outages++
		} else if _, _, known := l.FileBounds(0); known {
			counts++
		}
	})
	t.Logf("rule Latency: %d programs, %d of them with outages; rule FileCount: %d programs", latencies, outages, counts)
	if latencies == 0 || counts == 0 || outages == 0 {
		t.Error("a rule was not exercised")
	}
}

// The closed form is tight: for each policy there are arrivals that wait for it to
// within a millisecond.
func TestPropLatencyIsTight(t *testing.T) {
	withChecks(t, 500, func(t *rapid.T) {
		policy := drawPolicy(t)
		switch p := policy.(type) {
		case sinkcore.Default:
			// Steady records, so that neither size nor inactivity comes first.
			p.Size, p.Inactivity = 0, p.Rollover
			policy = p
		case sinkcore.AnyOf:
			t.Skip("the smaller of two, each of which is tried by itself")
		}
		check := int64(rapid.IntRange(1, 2000).Draw(t, "check"))
		every := int64(rapid.IntRange(2, 2000).Draw(t, "checkpoint"))
		l := Timeline{Policy: policy, Schedule: sinkcore.Schedule{Check: ms(int(check)), Checkpoint: ms(int(every))}}
		l.Schedule.Duration = ms(rapid.IntRange(0, int(every)).Draw(t, "duration"))
		if p, ok := policy.(sinkcore.Deadline); ok {
			// Young enough at a checkpoint, to the millisecond.
			worst, _ := sinkcore.WorstLatency(p, l.Schedule)
			late := (worst - l.Schedule.Checkpoint - l.Schedule.Duration).Milliseconds()
			l.Arrivals = []int64{every * 2}
			l.FirstCheckpoint = (l.Arrivals[0] + late) % every
		} else if d, ok := policy.(sinkcore.Default); ok {
			// The first record finds itself a millisecond too young at a check. The next
			// check comes a millisecond after a checkpoint.
			rollover := d.Rollover.Milliseconds()
			young := (rollover + check - 1) / check * check
			l.Arrivals = []int64{young - rollover + 1}
			for at := l.Arrivals[0]; at < young+check; at += max(1, rollover/2) {
				l.Arrivals = append(l.Arrivals, at)
			}
			l.FirstCheckpoint = (young + check - 1) % every
		} else {
			l.Arrivals = []int64{every * 3}
			l.FirstCheckpoint = every // the record of the instant of a checkpoint comes after it
		}
		v, err := l.Run()
		if err != nil {
			t.Fatal(err)
		}
		worst, bounded := sinkcore.WorstLatency(policy, l.Schedule)
		if !bounded || v.Latencies[0] < worst.Milliseconds()-1 || v.Latencies[0] > worst.Milliseconds() {
			t.Fatalf("the first record waited %d ms, the bound is %v (%v, %v): %v", v.Latencies[0], worst, bounded, policy, l)
		}
	})
}
