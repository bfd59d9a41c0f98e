package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sinklab/bench/flink"
)

// needFlink skips a test where the real Flink cannot run, and says what is missing.
func needFlink(t *testing.T) {
	t.Helper()
	if _, err := flink.Build(t.Context()); errors.Is(err, flink.ErrTools) {
		t.Skip(err)
	}
}

// Without Java the commands say how to get it, and that is no finding.
func TestFlinkWithoutJava(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	trace := filepath.Join(t.TempDir(), "a.trace")
	if err := os.WriteFile(trace, []byte(hello), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"fuzz-flink"}, {"record-flink", trace}, {"findings", "--traces", filepath.Dir(trace)}} {
		status, out, errs := sinklab(t, "", args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, "needs Java 17 and Maven") {
			t.Errorf("%v: status %d, %q, %q", args, status, out, errs)
		}
	}
}

// What cannot be played is told before Flink is started.
func TestFlinkBadInput(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for want, args := range map[string][]string{
		"-n 0: must be at least 1":           {"fuzz-flink", "-n", "0"},
		"there is no scenario":               {"record-flink", write("empty", "\n")},
		"cannot play this: line 2":           {"record-flink", write("power", "open\npowerloss none\n")},
		"no such file":                       {"record-flink", filepath.Join(dir, "none")},
		"there is no trace in it":            {"findings", "--traces", dir},
		`line 1: "open compact=x"`:           {"record-flink", write("compact", "open compact=x\n")},
		"expected \"<FILE> ...\"; see sinkl": {"record-flink"},
	} {
		status, out, errs := sinklab(t, "", args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: status %d, %q, %q; want %s", args, status, out, errs, want)
		}
	}
}

// An answer that is not Flink's is shown with its line and makes the status 1; --check leaves
// the file alone, and without it the file has Flink's answers afterwards.
func TestRecordFlink(t *testing.T) {
	needFlink(t)
	file := filepath.Join(t.TempDir(), "a.trace")
	wrong := "# one\n" + hello + "+ part-u0-0: bye\n\n# two\n" + hello + "+ part-u0-0: hello\n"
	if err := os.WriteFile(file, []byte(wrong), 0o644); err != nil {
		t.Fatal(err)
	}
	want := file + ":6: scenario \"one\"\n\trecorded + part-u0-0: bye\n\tnow      + part-u0-0: hello\n2 scenarios, 1 with other answers than before\n"
	for _, args := range [][]string{{"record-flink", "--check", file}, {"record-flink", file}} {
		before, err := os.ReadFile(file)
		if err != nil || string(before) != wrong {
			t.Fatalf("%v, the file is\n%s", err, before)
		}
		if status, out, errs := sinklab(t, "", args...); status != statusFound || out != want || errs != "" {
			t.Errorf("%v: status %d, %q, %s", args, status, out, errs)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != strings.Replace(wrong, "bye", "hello", 1) {
		t.Errorf("%v, the file is\n%s", err, now)
	}
	if status, out, errs := sinklab(t, "", "record-flink", "--check", file); status != statusOK || out != "2 scenarios, 0 with other answers than before\n" {
		t.Errorf("status %d, %q, %s", status, out, errs)
	}
}

// The report says how much was played and what was found, for a person and for a program.
func TestFuzzFlink(t *testing.T) {
	needFlink(t)
	status, out, errs := sinklab(t, "", "fuzz-flink", "-n", "12", "--first", "10", "--json", "--dir", t.TempDir())
	var r flink.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK || errs != "" {
		t.Fatalf("status %d, %v, %s\n%s", status, err, errs, out)
	}
	if r.Programs != 12 || r.First != 10 || r.Seed != 1 || r.Operations == 0 || len(r.Differences) != 0 || len(r.Findings) == 0 {
		t.Errorf("%+v", r)
	}
	status, out, errs = sinklab(t, "", "fuzz-flink", "-n", "12", "--first", "10")
	if status != statusOK || errs != "" || !strings.HasPrefix(out, "seed 1, programs 10 to 21: ") || !strings.Contains(out, "compaction-loses-records") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
}

// What is not explained is printed with its program, and is what makes the status 1.
func TestFuzzFlinkReport(t *testing.T) {
	r := &flink.Report{Seed: 4, Programs: 2, Findings: []*flink.Found{
		{Kind: "compaction-loses-records", Compaction: true, Explained: true, Count: 3, Example: "known\n"},
		{Kind: "NoLoss", Count: 2, First: 1, Operations: 1, Detail: "r0 is lost", Example: "open\n"},
	}, Differences: []*flink.Found{{Kind: "visible", Count: 1, Detail: "another file", Example: "open a\n"}}}
	var b strings.Builder
	if err := printReport(&b, r); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{"seed 4, programs 0 to 1", "      1  visible ", "      3  compaction-loses-records\n", "      2  (for a reason", "NoLoss: 2 times, first in program 1, shrunk to 1 operations:\nr0 is lost\nopen\n", "another file\nopen a\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "known\n") || r.Unexplained() != 3 {
		t.Errorf("%d unexplained in\n%s", r.Unexplained(), out)
	}
}
