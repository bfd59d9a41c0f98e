package plan_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

func TestSettingsThatMakeNoSense(t *testing.T) {
	const long = math.MaxInt64 / ms * ms
	for word, s := range map[string]plan.Settings{
		"policy rollover":                  {Policy: sinkcore.Default{Rollover: -ms}},
		"AnyOf":                            {Policy: sinkcore.AnyOf{}},
		"CheckInterval":                    {CheckInterval: -ms},
		"CheckpointInterval":               {CheckpointInterval: ms / 2},
		"FirstCheckpoint":                  {FirstCheckpoint: -ms},
		"CheckpointDuration":               {CheckpointDuration: -ms},
		"Duration":                         {Duration: 20 * 365 * 24 * time.Hour},
		"CheckInterval 2562047h47m16":      {CheckInterval: long},
		"CheckpointInterval 2562047h47m16": {CheckpointInterval: long, FirstCheckpoint: ms},
		"FirstCheckpoint 2562047h47m16":    {FirstCheckpoint: long},
		"CheckpointDuration 2562047h47m16": {CheckpointDuration: long},
		"RecordSize":                       {RecordSize: -1},
		"Buckets":                          {Buckets: 1 << 20, Subtasks: 2},
		"Subtasks":                         {Subtasks: -1},
		"BufferSize":                       {BufferSize: -1},
		"outage 1":                         {Outages: []plan.Outage{{From: 1 * ms, To: 3 * ms}, {From: 2 * ms, To: 4 * ms}}},
		"can be predicted":                 {Arrivals: sim.Recorded{Name: "some"}},
		"is negative":                      {Arrivals: plan.Constant{Interval: -1}},
		"-1ns":                             {Arrivals: plan.Poisson{Interval: -1}},
		"before the next":                  {Arrivals: plan.Bursts{Size: 100, Interval: time.Second}},
		"a burst of -1":                    {Arrivals: plan.Bursts{Size: -1}},
		"records arrive":                   {Arrivals: plan.Constant{Interval: 1}, Duration: 24 * time.Hour},
	} {
		for name, f := range map[string]func(plan.Settings) error{
			"Validate":   plan.Settings.Validate,
			"Predict":    func(s plan.Settings) error { _, err := plan.Predict(s); return err },
			"Explain":    func(s plan.Settings) error { _, err := plan.Explain(s); return err },
			"Lint":       func(s plan.Settings) error { _, err := plan.Lint(s); return err },
			"Guarantees": func(s plan.Settings) error { _, err := plan.Guarantees(s); return err },
			"LeastFiles": func(s plan.Settings) error { _, err := plan.LeastFiles(s, time.Minute); return err },
		} {
			if err := f(s); !errors.Is(err, sinkcore.ErrConfig) || !strings.Contains(err.Error(), word) {
				t.Errorf("%s of %s: %v", name, word, err)
			}
		}
	}
	if _, err := plan.LeastFiles(plan.Settings{}, -ms); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("a negative latency: %v", err)
	}
}

// The longest times and the largest size that a policy takes are no limits, and the smaller of
// two sizes counts.
func TestTheLargestLimits(t *testing.T) {
	const long = math.MaxInt64 / ms * ms
	limits, err := plan.LimitsOf(sinkcore.AnyOf{First: sinkcore.Default{Size: math.MaxInt64}, Second: sinkcore.Default{Size: 300}})
	if err != nil || limits.Bytes != 301 {
		t.Errorf("%+v, %v", limits, err)
	}
	if limits, err := plan.LimitsOf(sinkcore.Default{Size: math.MaxInt64}); err != nil || limits.Bytes != math.MaxInt64 {
		t.Errorf("%+v, %v", limits, err)
	}
	for _, p := range []sinkcore.RollingPolicy{
		sinkcore.Default{Size: math.MaxInt64, Rollover: long, Inactivity: long},
		sinkcore.Deadline{Within: long, Checkpoint: 2 * time.Second},
	} {
		s := plan.Settings{Policy: p}
		g, err := plan.Guarantees(s)
		if err != nil || !g.Unbounded || g.Worst != 0 || g.FilesPerHour != 0 && g.FilesPerHour > 1 {
			t.Errorf("%v: %+v, %v", p, g, err)
		}
		for _, a := range []plan.Arrivals{plan.Constant{}, plan.Poisson{}} {
			s.Arrivals = a
			if e, err := plan.Explain(s); err != nil || e.Latency >= 0 {
				t.Errorf("%v: %v, %v", p, e, err)
			}
			if _, err := plan.Lint(s); err != nil {
				t.Errorf("%v: %v", p, err)
			}
		}
		if p, err := plan.Predict(plan.Settings{Policy: p}); err != nil || p.Files.High != 0 {
			t.Errorf("%+v, %v", p, err)
		}
	}
	// One of the two is a limit.
	g, err := plan.Guarantees(plan.Settings{Policy: sinkcore.Default{Rollover: time.Minute, Inactivity: long}})
	if err != nil || g.Worst != 2*time.Minute+2*time.Second-ms-2*time.Second {
		t.Errorf("%+v, %v", g, err)
	}
}

// The zero value is that of a simulated workload, and arrivals print as the simulator's do.
func TestZeroSettingsAreTheZeroWorkload(t *testing.T) {
	p, err := plan.Predict(plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r := simulate(t, plan.Settings{}, 0)
	if r.Files != p.Files.Low || r.Latency(1) != p.Worst.Low || r.Visible != p.Visible.Low {
		t.Errorf("predicted %v files, %v; simulated %d, %v", p.Files, p.Worst, r.Files, r.Latency(1))
	}
	for _, a := range []plan.Arrivals{
		plan.Constant{}, plan.Constant{Interval: time.Second / 3, First: 1}, plan.Bursts{}, plan.Bursts{Size: 2, Every: time.Second, Interval: 3 * ms, First: time.Minute},
	} {
		want, err := sim.ParseArrivals(a.String())
		if err != nil || want.String() != a.String() {
			t.Errorf("%q is read as %v, %v", a, want, err)
		}
	}
}

// unknown is a policy that says nothing of how it behaves.
type unknown struct{ sinkcore.OnCheckpoint }

func (unknown) String() string { return "policy=unknown" }

// oracle is a policy that predicts itself.
type oracle struct{ unknown }

func (oracle) Predict(s plan.Settings) (plan.Prediction, error) {
	var p plan.Prediction
	p.Worst.High = s.CheckpointInterval
	return p, nil
}

// tenSeconds is a policy that states its limits, two of them.
type tenSeconds struct{ sinkcore.Default }

func (tenSeconds) Limits() plan.Limits {
	return plan.Limits{Rollover: 10 * time.Second, AtCheckpoint: true, OlderThan: 4 * time.Second}
}

func TestPoliciesOfOthers(t *testing.T) {
	for _, p := range []sinkcore.RollingPolicy{unknown{}, sinkcore.AnyOf{First: unknown{}, Second: sinkcore.OnCheckpoint{}}, sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: unknown{}}} {
		s := plan.Settings{Policy: p}
		_, predicted := plan.Predict(s)
		_, explained := plan.Explain(s)
		_, linted := plan.Lint(s)
		_, guaranteed := plan.Guarantees(s)
		for _, err := range []error{predicted, explained, linted, guaranteed} {
			if !errors.Is(err, plan.ErrUnknownPolicy) || !strings.Contains(err.Error(), "policy=unknown") {
				t.Errorf("%v: %v", p, err)
			}
		}
	}
	p, err := plan.Predict(plan.Settings{Policy: oracle{}})
	if err != nil || p.Worst.High != 2*time.Second {
		t.Errorf("%+v, %v", p, err)
	}
	if b := p.Latency(.5); b.Low != 0 || b.High != 2*time.Second {
		t.Errorf("a quantile of a policy that predicts itself: %v", b)
	}
	limits, err := plan.LimitsOf(sinkcore.AnyOf{First: sinkcore.Default{Size: 9, Inactivity: time.Second}, Second: tenSeconds{}})
	want := plan.Limits{Bytes: 10, Rollover: 10 * time.Second, Inactivity: time.Second, AtCheckpoint: true, OlderThan: 4 * time.Second}
	if err != nil || limits != want {
		t.Errorf("%+v, %v", limits, err)
	}
	if limits, err := plan.LimitsOf(nil); err != nil || limits.Rollover != time.Minute {
		t.Errorf("no policy: %+v, %v", limits, err)
	}
}

// Settings with more files than can be gone through are refused, not waited for.
func TestTooManyFiles(t *testing.T) {
	s := plan.Settings{
		// Each file has another place between the checks: gap and check have nothing in common.
		Policy: sinkcore.Default{Rollover: ms, Inactivity: ms}, CheckInterval: ms, CheckpointInterval: 7919 * ms * 1000,
		Arrivals: plan.Constant{Interval: 1_000_003 * time.Nanosecond}, Duration: 300 * time.Hour,
	}
	if _, err := plan.Predict(s); !errors.Is(err, plan.ErrTooLong) {
		t.Errorf("%v", err)
	}
}

func TestBoundsPrint(t *testing.T) {
	for want, got := range map[string]plan.Bounds[int64]{"3": {3, 3}, "3 to 5": {3, 5}} {
		if got.String() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// Programs read explanations as JSON, with words for the kinds of moments.
func TestExplanationAsJSON(t *testing.T) {
	e, err := plan.Explain(article(sinkcore.OnCheckpoint{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(text), `"Kind":"prepared"`) {
		t.Errorf("%s, %v", text, err)
	}
	if plan.Kind(-1).String() != "unknown" {
		t.Error("a kind that is none has a name")
	}
}

// Where open parts would have to be added up over millions of files there are bounds for
// them, and all else is exact still.
func TestOpenPartsOfMillionsOfFiles(t *testing.T) {
	s := plan.Settings{
		Buckets: 1000, Arrivals: plan.Constant{Interval: 10 * ms}, Policy: sinkcore.Default{Rollover: 2 * time.Second},
		CheckInterval: time.Second, Duration: 24 * time.Hour,
	}
	p, err := plan.Predict(s)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Exact || !p.Files.Exact() || p.Files.Low < 4_000_000 || p.OpenParts.Exact() || p.OpenParts.High != 1000 {
		t.Errorf("%+v", p)
	}
}
