package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if want := "532 scenarios, 3266 answers, 0 differ\n"; status != statusOK || out != want {
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
		{"", []string{"replay", "-"}, "standard input: there is no scenario in it"},
		{"", []string{"replay", "nofile.trace"}, "nofile.trace: no such file"},
		{"", []string{"replay"}, `expected "<FILE> ..."`},
		{"", []string{"replay", "--chekc", "-"}, `unknown flag --chekc, did you mean "--check"?`},
		{"", []string{"rplay"}, `unexpected argument rplay, did you mean "replay"?`},
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
