package sim_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

func parse(t testing.TB, text string) sim.Scenario {
	t.Helper()
	scenarios, err := sim.Parse(strings.NewReader(text), sim.Operations())
	if err != nil || len(scenarios) != 1 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	return scenarios[0]
}

// playText plays a scenario and returns it as a trace with its answers.
func playText(t testing.TB, r *sim.Runner, text string) string {
	t.Helper()
	_, played, err := r.Play(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := played.AppendText(nil)
	return string(b)
}

// A step that makes no sense is the scenario's fault, not an answer of the sink.
func TestProgramErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"write a", `line 1: "write a": the scenario makes no sense: no sink is open`},
		{"open\nwrite a 1", `line 2: "write a 1": the scenario makes no sense: there are 1 subtasks, counted from 0`},
		{"open\nrestore 1", `there is no checkpoint 1`},
		{"open now=4000000000000000000\nadvance 9000000000000000000", `the clock would overflow`},
	} {
		_, _, err := newRunner(t).Play(parse(t, c.text))
		var program *sim.ProgramError
		if !errors.As(err, &program) || !errors.Is(err, sim.ErrProgram) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// An error of the sink is the answer of the operation; what follows is skipped up to
// the next open.
func TestFailureEndsScenario(t *testing.T) {
	got := playText(t, newRunner(t), "open policy=rolling size=1\nwrite ../r0\nwrite r1\nopen policy=oncheckpoint\nwrite r2\ncheckpoint 1\ncomplete 1\n")
	want := "open policy=rolling size=1\nwrite ../r0\n" +
		"! sinkcore: write: subtask 0: bucket \"..\": bucket id refused: it has the segment \"..\"\n" +
		"open policy=oncheckpoint\nwrite r2\ncheckpoint 1\ncomplete 1\n+ part-u0-0: r2\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Restoring a checkpoint whose open file a newer one has committed is refused.
func TestRestoreOfCommittedFile(t *testing.T) {
	got := playText(t, newRunner(t), "open policy=rolling size=3\nwrite a1\ncheckpoint 1\nwrite a2\nwrite a3\ncheckpoint 2\ncomplete 2\nrestore 1\n")
	if want := "! in-progress file missing\n"; !strings.HasSuffix(got, "restore 1\n"+want) {
		t.Errorf("got\n%s", got)
	}
}

// The history tells what became visible, when and by which step.
func TestHistory(t *testing.T) {
	history, _, err := newRunner(t).Play(parse(t, "open policy=oncheckpoint now=1000\nwrite b/x\nwrite y\nadvance 250\ncheckpoint 1\nadvance 50\ncomplete 1\n"))
	if err != nil || len(history) != 2 {
		t.Fatalf("%v, %v", history, err)
	}
	for i, want := range []struct{ label, record string }{{"part-u0-0", "y"}, {"b/part-u1-0", "b/x"}} {
		e := history[i]
		if e.Step != 6 || e.At != 1300 || e.Kind != sim.Visible || e.Label != want.label || len(e.Records) != 1 || e.Records[0] != want.record {
			t.Errorf("event %d is %+v, want %v", i, e, want)
		}
	}
}

// A visible file that somebody changes or removes is noticed, on a file system that
// counts its generations and on one that does not.
func TestChangedAndVanished(t *testing.T) {
	for name, fsys := range map[string]afero.Fs{"fsmem": fsmem.New(fsmem.Options{}), "MemMapFs": afero.NewMemMapFs()} {
		t.Run(name, func(t *testing.T) {
			syntax := sim.Operations()
			syntax["meddle"] = func(args []string) (sim.Operation, error) { return meddle{args[0], fsys}, nil }
			runner, err := sim.NewRunner(sim.Options{Fs: fsys, Random: rand.NewChaCha8([32]byte{})})
			if err != nil {
				t.Fatal(err)
			}
			scenarios, err := sim.Parse(strings.NewReader("open policy=oncheckpoint\nwrite a\ncheckpoint 1\ncomplete 1\nmeddle change\nmeddle remove\n"), syntax)
			if err != nil {
				t.Fatal(err)
			}
			history, _, err := runner.Play(scenarios[0])
			if err != nil || len(history) != 3 || history[1].Kind != sim.Changed || history[2].Kind != sim.Vanished {
				t.Fatalf("%+v, %v", history, err)
			}
		})
	}
}

// meddle is an operation of another package's own: it does what no sink may.
type meddle struct {
	how string
	fs  afero.Fs
}

func (m meddle) String() string { return "meddle " + m.how }

func (m meddle) Play(*sim.Runner) error {
	names, err := afero.Glob(m.fs, "sink/part-*")
	if err != nil {
		return err
	}
	for _, name := range names {
		if m.how == "remove" {
			err = errors.Join(err, m.fs.Remove(name))
		} else {
			err = errors.Join(err, afero.WriteFile(m.fs, name, []byte("other\n"), 0o644))
		}
	}
	return err
}

// A directory that holds anything is not the runner's to empty.
func TestForeignDirectory(t *testing.T) {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "sink/precious", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	runner, err := sim.NewRunner(sim.Options{Fs: fsys, Random: rand.NewChaCha8([32]byte{})})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := runner.Play(parse(t, "open")); !errors.Is(err, sim.ErrProgram) {
		t.Errorf("got %v, want ErrProgram", err)
	}
	if ok, err := afero.Exists(fsys, "sink/precious"); !ok || err != nil {
		t.Error("the file is gone")
	}
}

// Same program, same history, byte for byte; other buffer sizes change nothing.
func TestDeterministic(t *testing.T) {
	text := "open policy=rolling size=9 rollover=300 check=100 parallelism=2\nwrite a/1\nwrite b/2 1\nwrite a/3\nadvance 350\n" +
		"checkpoint 1\ncomplete 1\nwrite a/4\nwrite b/5\ncheckpoint 2\nrestore 2 3\nwrite b/6 2\nend\ncheckpoint 3\ncomplete 3\n"
	var first []byte
	for _, size := range []int{0, 1, 7} {
		fsys := fsmem.New(fsmem.Options{})
		runner, err := sim.NewRunner(sim.Options{Fs: fsys, Random: rand.NewChaCha8([32]byte{}), BufferSize: size})
		if err != nil {
			t.Fatal(err)
		}
		history, _, err := runner.Play(parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, e := range history {
			b.WriteString(e.Path + " " + e.Answer() + "\n")
		}
		if first == nil {
			first = b.Bytes()
		} else if !bytes.Equal(first, b.Bytes()) {
			t.Errorf("buffer size %d:\n%s\nwant\n%s", size, b.Bytes(), first)
		}
		if n := len(fsys.OpenHandles()); n != 0 {
			t.Errorf("%d handles are left open", n)
		}
	}
	if !bytes.Contains(first, []byte("b/6")) {
		t.Errorf("the last record is missing:\n%s", first)
	}
}

// A runner needs its file system and its random bytes.
func TestRunnerOptions(t *testing.T) {
	if _, err := sim.NewRunner(sim.Options{}); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("got %v, want ErrConfig", err)
	}
}
