package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// benchModule makes a module under git with a benchmark whose figure is in its first revision
// 1 and in the directory 2, and goes there.
func benchModule(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	benchmark := func(n string) string {
		return "package bench\n\nimport \"testing\"\n\nfunc BenchmarkVisible(b *testing.B) { b.ReportMetric(" + n + ", \"files/hour\") }\n"
	}
	write("go.mod", "module tried\n\ngo 1.26\n")
	write("bench/doc.go", "package bench\n")
	write("bench/bench_test.go", benchmark("1"))
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	write("bench/bench_test.go", benchmark("2"))
}

// The other revision is measured beside what is in the directory, and its checkout is gone
// afterwards.
func TestBenchBase(t *testing.T) {
	benchModule(t)
	status, out, errs := sinklab(t, "", "bench", "--base", "HEAD", "--rounds", "1", "--json")
	var said struct{ Files []string }
	if err := json.Unmarshal([]byte(out), &said); status != statusOK || errs != "" || err != nil || strings.Join(said.Files, " ") != "out/base.txt out/bench.txt" {
		t.Fatalf("status %d, %q, %q, %v", status, out, errs, err)
	}
	for file, want := range map[string]string{"out/base.txt": "1.000 files/hour", "out/bench.txt": "2.000 files/hour"} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, %v; want %q", file, text, err, want)
		}
	}
	if left, err := exec.Command("git", "worktree", "list").Output(); err != nil || strings.Count(string(left), "\n") != 1 {
		t.Errorf("checkouts left: %s, %v", left, err)
	}
}

// Bad input is told, with what to do; a benchmark that fails is a finding, with its output.
func TestBenchRefuses(t *testing.T) {
	benchModule(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{"--rounds", "0"}, statusBadInput, "--rounds 0"},
		{[]string{"--base", "nix"}, statusBadInput, `"nix"`},
		{[]string{"--base", "HEAD", "--out", "x", "--base-out", "./x"}, statusBadInput, "same file"},
		{[]string{"--base", "HEAD", "--out", "x", "--base-out", filepath.Join(here, "x")}, statusBadInput, "same file"},
		{[]string{"--out", "bench"}, statusBadInput, "is a directory"},
		{[]string{"--out", "go.mod/x"}, statusBadInput, "not a directory"},
		{[]string{"--only", "Nix"}, statusBadInput, "Nix"},
		{[]string{"--only", "("}, statusBadInput, "parsing regexp"},
	} {
		status, out, errs := sinklab(t, "", append([]string{"bench"}, c.args...)...)
		if status != c.status || out != "" || !strings.Contains(errs, c.text) {
			t.Errorf("%v: status %d, %q, %q; want %d, %q", c.args, status, out, errs, c.status, c.text)
		}
	}
	if err := os.WriteFile("bench/bench_test.go", []byte("package bench\n\nimport \"testing\"\n\nfunc BenchmarkVisible(b *testing.B) { b.Fatal(\"record 7 is lost\") }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := sinklab(t, "", "bench"); status != statusFound || !strings.Contains(errs, "record 7 is lost") {
		t.Errorf("status %d, %q; want 1 and what failed", status, errs)
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a run without results has left some")
	}
	t.Chdir(t.TempDir())
	if status, _, errs := sinklab(t, "", "bench"); status != statusBadInput || !strings.Contains(errs, "module's directory") {
		t.Errorf("elsewhere: status %d, %q", status, errs)
	}
}
