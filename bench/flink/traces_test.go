package flink

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sinklab/props"
)

// The engine is shared, since it takes a second to start.
var shared struct {
	module *Module
	engine *Engine
	err    error
	asked  bool
}

func TestMain(m *testing.M) {
	status := m.Run()
	if shared.engine != nil && shared.engine.Close() != nil && status == 0 {
		status = 1
	}
	os.Exit(status)
}

// realFlink returns the real Flink, or skips the test and says what is missing.
func realFlink(t *testing.T) *Engine {
	t.Helper()
	if !shared.asked {
		shared.asked = true
		shared.module, shared.err = Build(context.Background())
		if shared.err == nil {
			shared.engine, shared.err = Start(context.Background(), shared.module, Options{})
		}
	}
	if errors.Is(shared.err, ErrTools) {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.engine
}

func readTraces(t *testing.T, file string) []Program {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	programs, err := Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return programs
}

// Flink still gives the answers that were recorded, as make traces records them.
func TestTraces(t *testing.T) {
	e := realFlink(t)
	files, err := filepath.Glob("../../testdata/flink/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		for _, p := range readTraces(t, file) {
			played, err := e.Record(p)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, p.Name, err)
			}
			if want, got := p.Text(), played.Text(); want != got {
				t.Errorf("%s: %s: recorded\n%s\nnow\n%s", file, p.Name, want, got)
			}
		}
	}
}

// Random programs are the same on both; the known loss with compaction is found without help,
// and shrinks to eight operations or fewer.
func TestFuzz(t *testing.T) {
	r, err := Fuzz(context.Background(), realFlink(t), FuzzOptions{Programs: 60, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Concat(r.Differences, r.Findings) {
		if !f.Explained {
			t.Errorf("%s, %d times, first in program %d: %s\n%s", f.Kind, f.Count, f.First, f.Detail, f.Example)
		}
	}
	at := slices.IndexFunc(r.Findings, func(f *Found) bool { return f.Kind == "compaction-loses-records" })
	if at < 0 || r.Findings[at].Operations > 8 || !strings.Contains(r.Findings[at].Example, "! rule NoLoss") {
		t.Errorf("the loss with compaction was not found, or is long: %+v", r.Findings)
	}
	if r.Programs != 60 || r.Operations == 0 || r.Files == 0 || r.Spread == 0 {
		t.Errorf("these programs try little: %+v", r)
	}
}

// Where Flink lets chance decide, sinkcore differs unless it is told how the dice fell: so the
// comparison sees differences, and the order is what explains these.
func TestChance(t *testing.T) {
	e := realFlink(t)
	// Both subtasks have a part of bucket a open. The first one in the order of the
	// subtasks stays open in sinkcore; Flink takes either.
	p := parseOne(t, `open policy=default parallelism=2
write a/r0 0
write a/r1 1
checkpoint 1
restore 1 1
checkpoint 2
complete 2
`)
	differ := 0
	for range 40 {
		run, err := e.Play(p)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := Compare(p, run); err != nil || d != nil {
			t.Fatalf("%v, %v", err, d)
		}
		run.restores = nil
		d, err := Compare(p, run)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			differ++
			if d.Kind != Visible {
				t.Errorf("the difference is %s", d.text(p))
			}
		}
	}
	if differ == 0 || differ == 40 {
		t.Errorf("of 40 runs %d differ from sinkcore's own order; Flink's is a matter of chance", differ)
	}
}

// An order that is not Flink's is a difference of its own kind.
func TestSpread(t *testing.T) {
	e := realFlink(t)
	p := parseOne(t, "open parallelism=2\nwrite a/r0 0\nwrite a/r1 1\ncheckpoint 1\nrestore 1 1\n")
	run, err := e.Play(p)
	if err != nil {
		t.Fatal(err)
	}
	run.restores[0].writers[0] = run.restores[0].writers[0][:1]
	if d, err := Compare(p, run); err != nil || d == nil || d.Kind != Spread {
		t.Errorf("%v, %v", err, d)
	}
}

// Each finding has a trace, breaks its rule for its reason on the real Flink with the answers
// that were recorded, and breaks none on sinkcore where sinkcore can play it.
func TestFindings(t *testing.T) {
	var names []string
	for _, f := range Findings {
		names = append(names, f.Name)
		file := filepath.Join("../../testdata/flink/findings", f.Name+".trace")
		programs := readTraces(t, file)
		if len(programs) != 1 || programs[0].Name != f.Name || programs[0].Compaction.On() != f.Compaction {
			t.Errorf("%s: want one scenario named %s", file, f.Name)
			continue
		}
		p := programs[0]
		if !f.Compaction {
			v, err := props.Play(p.Scenario, props.Options{})
			if err != nil || v.Violation != nil {
				t.Errorf("%s on sinkcore: %v, %v", f.Name, err, v.Violation)
			}
		}
	}
	e := realFlink(t)
	for _, name := range names {
		p := readTraces(t, filepath.Join("../../testdata/flink/findings", name+".trace"))[0]
		run, err := e.Play(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := Explain(p, run); got == nil || got.Name != name {
			t.Errorf("%s: found %+v, %v", name, got, run.Violation)
			continue
		}
		if want, got := p.Text(), run.Answered(p).Text(); want != got {
			t.Errorf("%s: recorded\n%s\nnow\n%s", name, want, got)
		}
	}
}

// A rule that is broken for another reason than the known ones is not explained.
func TestExplain(t *testing.T) {
	p := parseOne(t, "open compact=1\nwrite r0\n")
	if f := Explain(p, Run{Verdict: props.Verdict{Violation: &props.Violation{Rule: props.NoLoss}}}); f != nil {
		t.Errorf("a loss without a cause is explained as %s", f.Name)
	}
	lost := Run{Verdict: props.Verdict{Violation: &props.Violation{Rule: props.NoLoss}}, notes: []string{"replaced"}}
	if f := Explain(p, lost); f == nil || f.Name != "compaction-loses-records" {
		t.Errorf("explained as %+v", f)
	}
	p.Compaction = Compaction{}
	if f := Explain(p, lost); f != nil {
		t.Errorf("without compaction it is explained as %s", f.Name)
	}
	if f := Explain(p, Run{}); f != nil {
		t.Errorf("no broken rule is explained as %s", f.Name)
	}
}

// The running job loses what the finding says, and nothing without compaction.
func TestFailingJob(t *testing.T) {
	realFlink(t)
	if testing.Short() {
		t.Skip("a job takes ten seconds")
	}
	for _, compaction := range []bool{false, true} {
		r, err := RunFailingJob(context.Background(), shared.module, compaction)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if compaction {
			want = 200
		}
		if len(r.Lost) != want || r.Visible != r.Written-want || r.Twice != 0 {
			t.Errorf("compaction %v: %d written, %d visible, %d twice, lost %v", compaction, r.Written, r.Visible, r.Twice, r.Lost)
		}
	}
}

// What Flink throws is an answer; that its process is gone is an error, and stays one.
func TestEngineDies(t *testing.T) {
	realFlink(t)
	ctx, cancel := context.WithCancel(context.Background())
	e, err := Start(ctx, shared.module, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	p := parseOne(t, "open policy=oncheckpoint\nwrite r0\ncheckpoint 1\ncomplete 1\n")
	if run, err := e.Play(p); err != nil || len(run.History) != 1 {
		t.Fatalf("%v, %v", err, run.History)
	}
	if run, err := e.Play(parseOne(t, "open\nwrite x:y/r0\n")); err != nil || len(run.Failures) == 0 {
		t.Errorf("a bucket that Flink cannot name: %v, %v", err, run.Failures)
	}
	cancel()
	for range 2 {
		if _, err := e.Play(p); !errors.Is(err, ErrEngine) {
			t.Errorf("its process is dead: %v", err)
		}
	}
	if err := e.Close(); err != nil {
		t.Errorf("closing what is dead: %v", err)
	}
}
