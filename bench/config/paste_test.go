package config

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// What is printed is read as the same policy, check interval and checkpoint interval.
func TestPropWriteIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string) time.Duration {
			return time.Duration(rapid.OneOf(rapid.Int64Range(1, 100_000), rapid.Map(rapid.Int64Range(1, 500), func(n int64) int64 { return n * 60_000 })).Draw(t, name)) * time.Millisecond
		}
		s := plan.Settings{CheckInterval: ms("check"), CheckpointInterval: ms("checkpoint")}
		d := sinkcore.Default{Rollover: ms("rollover"), Inactivity: ms("inactivity"), Size: rapid.OneOf(rapid.Int64Range(1, 1<<40), rapid.Just[int64](128<<20)).Draw(t, "size")}
		s.Policy = d
		for _, form := range []Form{FlinkJava, FlinkSQL} {
			f := readBack(t, form, s)
			if f.Sinks[0].Policy != d || f.Sinks[0].Check != s.CheckInterval || f.Checkpoint != s.CheckpointInterval {
				t.Fatalf("%s: %v, %v, %v", form, f.Sinks[0].Policy, f.Sinks[0].Check, f.Checkpoint)
			}
		}
		s.Policy = sinkcore.OnCheckpoint{}
		if f := readBack(t, FlinkJava, s); f.Sinks[0].Policy != s.Policy || f.Checkpoint != s.CheckpointInterval {
			t.Fatalf("%+v", f)
		}
		if f := readBack(t, FlinkSQL, s); !closesFirst(f.Sinks[0].Policy, s.CheckpointInterval) || f.Checkpoint != s.CheckpointInterval {
			t.Fatalf("%+v", f)
		}
		deadline := sinkcore.Deadline{Checkpoint: s.CheckpointInterval, Duration: ms("duration"), Target: rapid.Int64Range(0, 1<<40).Draw(t, "target")}
		deadline.Within = 2*max(deadline.Checkpoint, deadline.Duration) + ms("more")
		s.Policy = deadline
		if f := readBack(t, FlinkJava, s); f.Sinks[0].Policy != deadline {
			t.Fatalf("%+v", f)
		}
		if _, err := Write(FlinkSQL, s); !errors.Is(err, sinkcore.ErrConfig) {
			t.Fatal(err)
		}
	})
}

// closesFirst tells whether a policy closes every part at each checkpoint, and none before.
func closesFirst(p sinkcore.RollingPolicy, every time.Duration) bool {
	l, err := plan.LimitsOf(p)
	return err == nil && l.AtCheckpoint && l.OlderThan == 0 && l.Rollover > every && l.Inactivity > every
}

func readBack(t *rapid.T, form Form, s plan.Settings) File {
	text, err := Write(form, s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(form, text)
	if err != nil || len(f.Sinks) != 1 || f.Sinks[0].Policy == nil {
		t.Fatalf("%+v, %v\n%s", f, err, text)
	}
	return f
}

// TestPropConnect: no record of the nearest connector waits longer than its bound, which is no
// longer than that of Flink's settings; and there are no more files than it says.
func TestPropConnect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := plan.Settings{
			Arrivals: plan.Constant{Interval: time.Duration(rapid.IntRange(20, 30_000).Draw(t, "interval")) * time.Millisecond},
			Buckets:  rapid.IntRange(1, 4).Draw(t, "buckets"), Subtasks: rapid.IntRange(1, 3).Draw(t, "subtasks"),
			CheckpointInterval: time.Duration(rapid.IntRange(100, 20_000).Draw(t, "checkpoint")) * time.Millisecond,
			CheckpointDuration: time.Duration(rapid.IntRange(0, 5000).Draw(t, "duration")) * time.Millisecond,
			CheckInterval:      time.Duration(rapid.IntRange(100, 60_000).Draw(t, "check")) * time.Millisecond,
			Policy:             sinkcore.Default{Rollover: time.Duration(rapid.IntRange(100, 300_000).Draw(t, "rollover")) * time.Millisecond},
			Duration:           20 * time.Minute,
		}
		g, err := plan.Guarantees(s)
		if err != nil {
			t.Fatal(err)
		}
		p := Connect(s, g, math.Inf(1))
		if p.Bound > g.Worst {
			t.Fatalf("bound %v, of Flink %v: %v", p.Bound, g.Worst, p.Connector)
		}
		w := Workload(s)
		if rapid.Bool().Draw(t, "stops") {
			w.Arrivals = sim.Recorded{Name: "stops", Records: []sim.Arrival{{At: rapid.Int64Range(1, 100_000).Draw(t, "at"), EventTime: sinkcore.NoTime}}}
		}
		o, err := p.Connector.Simulate(w)
		if err != nil || o.LongestWait > p.Bound {
			t.Fatalf("%v waits %v, bound %v: %v", p.Connector, o.LongestWait, p.Bound, err)
		}
		lanes := float64(s.Buckets * s.Subtasks)
		if most := p.FilesPerHour/3 + lanes; float64(o.Files) > most { // of 20 minutes, and one begun
			t.Fatalf("%v makes %d files, of %v at most", p.Connector, o.Files, most)
		}
	})
}

// Fewer files are asked for than the bound on latency allows: the rotation comes less often.
func TestConnectKeepsFiles(t *testing.T) {
	s := plan.Settings{Policy: sinkcore.OnCheckpoint{}}
	g, err := plan.Guarantees(s)
	if err != nil {
		t.Fatal(err)
	}
	p := Connect(s, g, 100)
	if p.FilesPerHour > 100 || p.FilesPerHour < 99 || p.Connector.RotateScheduleInterval != 36*time.Second {
		t.Errorf("%+v", p)
	}
}
