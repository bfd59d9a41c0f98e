package sinktest_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// A correct sink gets no false alarm in 5,000 programs, and each rule is put to the test.
func TestPropNoFalseAlarm(t *testing.T) {
	small := examples.Sinkcore(rolling)
	small.Programs, small.Seed = 3000, 7
	jobs := sinktest.Kind{Name: "jobs", Factory: sim.Core{}, Parallelism: 4, Open: "policy=rolling size=10 rollover=300 inactivity=200 check=100", Programs: 2000}
	for name, kind := range map[string]sinktest.Kind{"one subtask": small, "one to four subtasks": jobs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := sinktest.Verdicts(kind)
			if err != nil {
				t.Fatal(err)
			}
			if err := table.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Run passes for a correct sink.
func TestRun(t *testing.T) {
	kind := examples.Sinkcore(sinkcore.OnCheckpoint{})
	kind.Programs = 200
	sinktest.Run(t, kind)
}

// The same kind gets the same table, byte for byte; another seed plays other programs.
func TestVerdictsAreRepeatable(t *testing.T) {
	kind := examples.Naive()
	kind.Programs = 100
	text := func() string {
		table, err := sinktest.Verdicts(kind)
		if err != nil {
			t.Fatal(err)
		}
		return table.String()
	}
	first := text()
	if second := text(); second != first {
		t.Errorf("first\n%s\nthen\n%s", first, second)
	}
	if kind.Seed = 1; text() == first {
		t.Error("the seed makes no difference")
	}
}

// Shrinking keeps to the rule: with a frequent defect that one operation shows, and a rare
// one that takes six, each is explained by a program of its own.
func TestShrinkingKeepsTheRule(t *testing.T) {
	kind := plant(examples.FirstTarget(), planted{write: func(p *planted, record string, now int64) error {
		if err := p.Sink.Write(record, now); err != nil {
			return err
		}
		if strings.HasPrefix(record, "b/") {
			return errPlanted
		}
		return nil
	}})
	kind.Lacks = []sinktest.Feature{sinktest.Older} // restores of old checkpoints break it too
	table, err := sinktest.Verdicts(kind)
	if err != nil {
		t.Fatal(err)
	}
	frequent, rare := table.Row(props.Live), table.Row(props.NoLoss)
	if frequent.Status != sinktest.Broken || len(frequent.Program.Steps) != 2 {
		t.Errorf("the frequent one:\n%s", table)
	}
	if rare.Status != sinktest.Broken || len(rare.Program.Steps) != 6 || len(rare.After) > 0 {
		t.Errorf("the rare one:\n%s", table)
	}
}

// What is wrong with a table can be inspected.
func TestTableErr(t *testing.T) {
	kind := examples.Naive()
	kind.Programs = 100
	table, err := sinktest.Verdicts(kind)
	if err != nil {
		t.Fatal(err)
	}
	var row *sinktest.RowError
	if err := table.Err(); !errors.As(err, &row) || row.Row.Rule != props.Visibility {
		t.Errorf("got %v, want a RowError of Visibility", err)
	}
	var violation *props.Violation
	if !errors.As(table.Err(), &violation) || violation.Rule != props.Visibility {
		t.Errorf("got %v, want a violation of Visibility", violation)
	}
	kind = examples.Sinkcore(rolling)
	kind.Programs = 100
	kind.Lacks = []sinktest.Feature{sinktest.Faults, sinktest.PowerCuts}
	if table, err = sinktest.Verdicts(kind); err != nil {
		t.Fatal(err)
	}
	if err := table.Err(); !errors.Is(err, sinktest.ErrUntried) || table.Row(props.Surfaced).Status != sinktest.Untried {
		t.Errorf("got %v, want ErrUntried for Surfaced", err)
	}
}

// What a kind lacks it does not meet, and what it waives is not judged.
func TestLacksAndWaived(t *testing.T) {
	kind := examples.Naive()
	kind.Programs = 300
	kind.Lacks = []sinktest.Feature{
		sinktest.Faults, sinktest.PowerCuts, sinktest.Crashes, sinktest.Aborts, sinktest.Older, sinktest.Savepoints, sinktest.ClockSteps,
		sinktest.EndOfInput, sinktest.ManyBuckets,
	}
	kind.Waived = []sinktest.Waiver{{Rule: props.Visibility, Reason: "files show at the checkpoint"}}
	table, err := sinktest.Verdicts(kind)
	if err != nil {
		t.Fatal(err)
	}
	if broken := table.Broken(); len(broken) > 0 {
		t.Errorf("broken: %v\n%s", broken, table)
	}
	if row := table.Row(props.Visibility); row.Status != sinktest.Waived || row.Reason != "files show at the checkpoint" {
		t.Errorf("got %+v", row)
	}
}

// A panic of the sink breaks a rule, not the test.
func TestPanic(t *testing.T) {
	kind := plant(examples.Sinkcore(rolling), planted{write: func(*planted, string, int64) error { panic("oh") }})
	kind.Programs = 20
	table, err := sinktest.Verdicts(kind)
	if err != nil {
		t.Fatal(err)
	}
	if row := table.Row(props.Live); row.Status != sinktest.Broken || !strings.Contains(row.Violation.Detail, sinktest.ErrPanic.Error()+": oh") {
		t.Errorf("got %s", table)
	}
}

// A kind that cannot be tested is refused with the reason.
func TestKindErrors(t *testing.T) {
	good := examples.Sinkcore(rolling)
	for want, change := range map[string]func(k *sinktest.Kind){
		"New and Restore, or a Factory": func(k *sinktest.Kind) { k.Restore = nil },
		"Factory, and New":              func(k *sinktest.Kind) { k.Factory = sim.Core{} },
		"Parallelism and Open need":     func(k *sinktest.Kind) { k.Parallelism = 2 },
		"Parallelism 5":                 func(k *sinktest.Kind) { *k = sinktest.Kind{Factory: sim.Core{}, Parallelism: 5} },
		"Programs -1":                   func(k *sinktest.Kind) { k.Programs = -1 },
		"more than a line":              func(k *sinktest.Kind) { k.Name = "a\nb" },
		`no rule "Speed"`:               func(k *sinktest.Kind) { k.Waived = []sinktest.Waiver{{Rule: "Speed", Reason: "no"}} },
		"Order needs a reason":          func(k *sinktest.Kind) { k.Waived = []sinktest.Waiver{{Rule: props.Order}} },
		`no feature "legs"`:             func(k *sinktest.Kind) { k.Lacks = []sinktest.Feature{"legs"} },
		`Open "policy=odd"`:             func(k *sinktest.Kind) { *k = sinktest.Kind{Factory: sim.Core{}, Open: "policy=odd"} },
	} {
		kind := good
		change(&kind)
		if _, err := sinktest.Verdicts(kind); !errors.Is(err, sinktest.ErrKind) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := sinktest.AsFactory(kind); !errors.Is(err, sinktest.ErrKind) {
			t.Errorf("AsFactory: got %v, want ErrKind", err)
		}
	}
}

// A program can be played alone; one that makes no sense is refused.
func TestPlay(t *testing.T) {
	verdict, err := sinktest.Play(examples.Naive(), "open\nwrite r0\ncheckpoint 1\n")
	if err != nil || verdict.Violation == nil || verdict.Violation.Rule != props.Visibility || verdict.Violation.Step != 2 {
		t.Errorf("got %v, %v", verdict.Violation, err)
	}
	if _, err := sinktest.Play(examples.Naive(), "write r0"); !errors.Is(err, sim.ErrProgram) {
		t.Errorf("got %v, want ErrProgram", err)
	}
	if _, err := sinktest.Play(examples.Naive(), "jump"); !errors.Is(err, sim.ErrSyntax) {
		t.Errorf("got %v, want ErrSyntax", err)
	}
}

// notified is a sink that notes what it is told.
type notified struct {
	sinktest.Sink
	aborted *[]int64
}

func (n notified) Abort(checkpoint int64) error {
	*n.aborted = append(*n.aborted, checkpoint)
	return nil
}

// A sink that wants to know of aborts is told.
func TestAborter(t *testing.T) {
	var aborted []int64
	kind := examples.Sinkcore(rolling)
	start := kind.New
	kind.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		sink, err := start(s)
		return notified{sink, &aborted}, err
	}
	kind.Waived = []sinktest.Waiver{{Rule: props.Deterministic, Reason: "play once"}}
	verdict, err := sinktest.Play(kind, "open\nwrite r0\ncheckpoint 1\nabort 1\ncheckpoint 2\ncomplete 2\nabort 3\n")
	if err != nil || verdict.Violation != nil || !slices.Equal(aborted, []int64{1, 3}) {
		t.Errorf("told of %v; %v, %v", aborted, verdict.Violation, err)
	}
}

// A program that a sink does not see to be short of completions keeps them when it shrinks.
func TestShrinkingKeepsWhatIsLacked(t *testing.T) {
	kind := examples.Naive()
	kind.Lacks = []sinktest.Feature{sinktest.Aborts, sinktest.Savepoints, sinktest.Older}
	kind.Programs = 300
	table, err := sinktest.Verdicts(kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		if text := row.String(); strings.Count(text, "        checkpoint ") != strings.Count(text, "        complete ") {
			t.Errorf("a completion is missing:\n%s", text)
		}
	}
}

// A kind drives sim.Runner by its factory.
func TestAsFactory(t *testing.T) {
	factory, err := sinktest.AsFactory(examples.Naive())
	if err != nil {
		t.Fatal(err)
	}
	runner, err := sim.NewRunner(sim.Options{Fs: fsmem.New(fsmem.Options{}), Random: rand.NewChaCha8([32]byte{}), Factory: factory})
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := sim.Parse(strings.NewReader("open\nwrite a/r0\ncheckpoint 1\n"), sim.Operations())
	if err != nil {
		t.Fatal(err)
	}
	history, _, err := runner.Play(scenarios[0])
	if err != nil || len(history) != 1 || history[0].Answer() != "+ a/part-1: a/r0" {
		t.Errorf("got %v, %v", history, err)
	}
}

// Of several rules that a program breaks the one that was broken first is told; and of a
// sink that has failed nobody expects a latency or a number of files.
func TestFirstViolation(t *testing.T) {
	slow := plant(examples.Sinkcore(sinkcore.OnCheckpoint{}), planted{write: func(p *planted, record string, now int64) error {
		switch record {
		case "refused":
			return errPlanted
		case "lost":
			return nil
		}
		return p.Sink.Write(record, now)
	}})
	slow.Latency = func(checkpoint, duration time.Duration) time.Duration { return time.Millisecond }
	for program, want := range map[string]props.Rule{
		"open\nwrite r0\nwrite lost\nadvance 5\ncheckpoint 1\ncomplete 1": props.Latency,
		"open\nwrite r0\nwrite lost\ncheckpoint 1\ncomplete 1":            props.NoLoss,
	} {
		verdict, err := sinktest.Play(slow, program)
		if err != nil || verdict.Violation == nil || verdict.Violation.Rule != want {
			t.Errorf("%q: got %v, %v, want %s", program, verdict.Violation, err, want)
		}
	}
	verdict, err := sinktest.Play(slow, "open\nwrite refused")
	if err != nil || verdict.Exercised[props.FileCount] != 0 || verdict.Exercised[props.Latency] != 0 {
		t.Errorf("%v: judged all the same: %v", err, verdict.Exercised)
	}
}

// unstarted is a sink whose first Tick fails.
type unstarted struct {
	sinktest.Sink
	closed *int
}

func (u unstarted) Tick(int64) (int64, error) { return 0, errPlanted }

func (u unstarted) Close() error {
	*u.closed++
	return u.Sink.Close()
}

// A sink that cannot start is closed; one that panics when it starts breaks a rule.
func TestStart(t *testing.T) {
	kind, closed := examples.Naive(), 0
	start := kind.New
	kind.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		sink, err := start(s)
		return unstarted{sink, &closed}, err
	}
	verdict, err := sinktest.Play(kind, "open")
	if err != nil || verdict.Violation == nil || closed == 0 {
		t.Errorf("closed %d times; %v, %v", closed, verdict.Violation, err)
	}
	kind.New = func(sinktest.Setup) (sinktest.Sink, error) { panic("oh") }
	verdict, err = sinktest.Play(kind, "open")
	if err != nil || verdict.Violation == nil || !strings.Contains(verdict.Violation.Detail, "panicked: oh") {
		t.Errorf("%v, %v", verdict.Violation, err)
	}
}

// Whoever waits is told of each program before it is played.
func TestProgress(t *testing.T) {
	kind := examples.Sinkcore(rolling)
	kind.Programs = 4
	var told []int
	kind.Progress = func(played, of int) { told = append(told, played, of) }
	if _, err := sinktest.Verdicts(kind); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 4, 1, 4, 2, 4, 3, 4}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
