package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// sinklab runs the command line and returns what it printed.
func sinklab(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, streams{strings.NewReader(stdin), &out, &errs})
	return status, out.String(), errs.String()
}

func flinkTraces(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/flink/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	return files
}

const hello = "open policy=oncheckpoint\nwrite hello\ncheckpoint 1\ncomplete 1\n"

// Playing a recorded trace prints it again: the answers made here are Flink's.
func TestReplayPrints(t *testing.T) {
	for _, file := range flinkTraces(t) {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		status, out, errs := sinklab(t, "", "replay", file)
		if status != statusOK || errs != "" || out != string(want) {
			t.Errorf("%s: status %d, %s, output of %d bytes differs from the file", file, status, errs, len(out))
		}
	}
}

// The summary counts scenarios and answers over all files.
func TestReplayCheck(t *testing.T) {
	status, out, _ := sinklab(t, "", append([]string{"replay", "--check"}, flinkTraces(t)...)...)
	if want := "577 scenarios, 3953 answers, 0 differ\n"; status != statusOK || out != want {
		t.Errorf("status %d, %q; want 0, %q", status, out, want)
	}
}

// A difference is shown with the scenario, the line, the expected and the got answer,
// one for each scenario that differs, and makes the status 1.
func TestReplayDifferences(t *testing.T) {
	in := "# wrong\n" + hello + "+ part-u0-0: goodbye\n+ part-u0-1: more\n# missing\n" + hello + "# surplus\nopen\n\n+ part-u0-0: ghost\n# right\n" + hello + "+ part-u0-0: hello\n"
	status, out, errs := sinklab(t, in, "replay", "--check", "-")
	want := `standard input:6: scenario "wrong"
	expected + part-u0-0: goodbye
	got      + part-u0-0: hello
standard input:12: scenario "missing"
	expected (nothing)
	got      + part-u0-0: hello
standard input:16: scenario "surplus"
	expected + part-u0-0: ghost
	got      (nothing)
4 scenarios, 4 answers, 3 differ
`
	if status != statusFound || out != want || errs != "" {
		t.Errorf("status %d, stderr %q, got\n%s\nwant\n%s", status, errs, out, want)
	}
	status, out, _ = sinklab(t, in, "replay", "--check", "--json", "-")
	var summary struct{ Scenarios, Answers, Differ int }
	if err := json.Unmarshal([]byte(out), &summary); err != nil || status != statusFound || summary.Scenarios != 4 || summary.Answers != 4 || summary.Differ != 3 {
		t.Errorf("status %d, %v, %s", status, err, out)
	}
}

// The events of a trace come as JSON, one a line.
func TestReplayJSON(t *testing.T) {
	status, out, _ := sinklab(t, hello+"restore 1\n", "replay", "--json", "-")
	var event struct {
		Line      int
		Operation string
		Kind      string
		Label     string
		Records   []string
		Time      int64 `json:"time_ms"`
	}
	if err := json.Unmarshal([]byte(out), &event); err != nil || status != statusOK {
		t.Fatalf("status %d, %v, %q", status, err, out)
	}
	if event.Line != 4 || event.Operation != "complete 1" || event.Kind != "visible" || event.Label != "part-u0-0" || len(event.Records) != 1 {
		t.Errorf("%+v", event)
	}
}

func regressScripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/regress/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return files
}

// Scripts with crashes, faults and recoveries are played to their end, also over errors,
// and print again what is recorded in them.
func TestReplayPrintsScripts(t *testing.T) {
	for _, file := range regressScripts(t) {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		status, out, errs := sinklab(t, "", "replay", file)
		if status != statusOK || errs != "" || out != string(want) {
			t.Errorf("%s: status %d, %s, the output of %d bytes differs from the file", file, status, errs, len(out))
		}
	}
	status, out, _ := sinklab(t, "", append([]string{"replay", "--check"}, regressScripts(t)...)...)
	if status != statusOK || !strings.HasSuffix(out, " 0 differ\n") {
		t.Errorf("status %d, %s", status, out)
	}
}

// A scenario of trace operations ends at an error, as it always has; one with an
// operation of props goes on. Each is decided for itself.
func TestReplayGoesOnAfterAnErrorOnlyWithOperationsOfProps(t *testing.T) {
	const refused = "open policy=oncheckpoint\nwrite _a/r1\n! sinkcore: write: subtask 0: bucket \"_a\": bucket id refused: " +
		"readers skip the segment \"_a\", which begins with \".\" or \"_\"\n"
	in := "# ends\n" + refused + "write r2\ncheckpoint 1\ncomplete 1\n\n# goes on\n" + refused + "write r2\ncheckpoint 1\ncomplete 1\n+ part-u0-0: r2\nrecover\n"
	want := strings.Replace(in, "write r2\ncheckpoint 1\ncomplete 1\n\n", "\n", 1)
	if status, out, errs := sinklab(t, in, "replay", "-"); status != statusOK || out != want {
		t.Errorf("status %d, %s, got\n%s\nwant\n%s", status, errs, out, want)
	}
	if status, out, _ := sinklab(t, in, "replay", "--check", "-"); status != statusOK || out != "2 scenarios, 3 answers, 0 differ\n" {
		t.Errorf("status %d, %s", status, out)
	}
}

// Errors of a scenario with operations of props are JSON events too, in the order of the
// steps.
func TestReplayJSONOfScripts(t *testing.T) {
	in := "open policy=oncheckpoint\nwrite r1\nadvance 500\ncheckpoint 1\nfault rename nth=1 error=EIO\ncomplete 1\nrecover\n"
	status, out, _ := sinklab(t, in, "replay", "--json", "-")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var failed, seen struct {
		Line  int
		Kind  string
		Error string
		Time  int64 `json:"time_ms"`
	}
	if status != statusOK || len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &failed) != nil || json.Unmarshal([]byte(lines[1]), &seen) != nil {
		t.Fatalf("status %d, %s", status, out)
	}
	if failed.Line != 6 || failed.Kind != "failed" || failed.Time != 500 || !strings.Contains(failed.Error, "input/output error") || seen.Line != 7 || seen.Kind != "visible" {
		t.Errorf("%s", out)
	}
}

// failing is the sink whose completions do nothing and return err.
type failing struct {
	sim.Core
	err error
}

func (f failing) New(fsys afero.Fs, random io.Reader, s sim.Settings, now int64) (sim.Sink, error) {
	sink, err := f.Core.New(fsys, random, s, now)
	return failingSink{sink, f.err}, err
}

type failingSink struct {
	sim.Sink
	err error
}

func (s failingSink) Complete(int64, int) error { return s.err }

// A rule that is broken is an answer after the others of its step, or of the last one if
// it shows only at the end.
func TestABrokenRuleIsAnAnswer(t *testing.T) {
	scenarios, err := sim.Parse(strings.NewReader(hello+"heal\n"), props.Operations())
	if err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		hello + "heal\n! rule NoLoss: after the end these records are not visible: hello\n":         nil,
		hello + "! no\n! rule Live: \"complete 1\" failed although nothing disturbs it: no\nheal\n": errors.New("no"),
	} {
		v, err := props.Play(scenarios[0], props.Options{Factory: failing{err: err}})
		if err != nil {
			t.Fatal(err)
		}
		o := outcomeOf(v)
		text, _ := o.played.AppendText(nil)
		if last := o.history[len(o.history)-1]; string(text) != want || !o.broken || last.Kind != sim.Failed || !strings.Contains(want, last.Answer()) {
			t.Errorf("broken %v, %v, got\n%s\nwant\n%s", o.broken, o.history, text, want)
		}
		if !errors.Is(foundIf(o.broken), errFound) {
			t.Error("the exit status would be 0")
		}
	}
}

// Bad input gives status 2 and says where and what, on standard error.
func TestBadInput(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.trace")
	if err := os.WriteFile(bad, []byte("open\nfly 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"", []string{"replay", bad}, bad + `:2: "fly 1": unknown operation "fly"`},
		{hello + "restore 7\n", []string{"replay", "-"}, `standard input:5: "restore 7": the scenario makes no sense: there is no checkpoint 7`},
		{hello + "restore 7\n", []string{"replay", "--check", "-"}, `standard input:5: "restore 7"`},
		{"open\ncrash 0 before\n", []string{"replay", "-"}, `standard input:2: "crash 0 before"`},
		{"open\nfault fly\n", []string{"replay", "--check", "-"}, `standard input:2: "fault fly"`},
		{"recover\n", []string{"replay", "-"}, `standard input:1: "recover": the scenario makes no sense: no sink is open`},
		{"open\nrestore 7\nheal\n", []string{"replay", "--json", "-"}, `standard input:2: "restore 7": the scenario makes no sense: there is no checkpoint 7`},
		{"", []string{"replay", "-"}, "standard input: there is no scenario in it"},
		{"", []string{"replay", "nofile.trace"}, "nofile.trace: no such file"},
		{"", []string{"replay"}, `expected "<FILE> ..."`},
		{"", []string{"replay", "--chekc", "-"}, `unknown flag --chekc, did you mean "--check"?`},
		{"", []string{"replya"}, `unexpected argument replya, did you mean "replay"?`},
		{"", nil, "see sinklab --help"},
	} {
		status, out, errs := sinklab(t, c.in, c.args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: status %d, printed %q, said %q; want 2, nothing, %q", c.args, status, out, errs, c.want)
		}
	}
}

// Help goes to standard output and is no error.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"replay", "--help"}} {
		status, out, errs := sinklab(t, "", args...)
		if status != statusOK || errs != "" || !strings.Contains(out, "Exit status") {
			t.Errorf("%q: status %d, %q, %q", args, status, out, errs)
		}
	}
}

// The example of README.md prints what README.md shows.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := sinklab(t, hello, "replay", "-")
	if shown := "    " + strings.ReplaceAll(strings.TrimSuffix(out, "\n"), "\n", "\n    "); !strings.Contains(string(readme), shown) {
		t.Errorf("README.md does not show\n%s", shown)
	}
}
