package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore/live"
)

// writeFile writes an input file and returns its name and that of an output directory
// that is not there yet.
func writeFile(t *testing.T, text string) (input, out string) {
	t.Helper()
	dir := t.TempDir()
	input = filepath.Join(dir, "input")
	if err := os.WriteFile(input, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return input, filepath.Join(dir, "out")
}

// visibleLines are the lines that a reader sees below dir, sorted.
func visibleLines(t *testing.T, dir string) (lines []string) {
	t.Helper()
	for _, pattern := range []string{"[^.]*", "[^.]*/[^.]*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
		}
	}
	slices.Sort(lines)
	return lines
}

func wantLines(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := visibleLines(t, dir); !slices.Equal(got, want) {
		t.Errorf("visible: %q; want %q", got, want)
	}
}

// The same command again goes on with what is new; in a pipe nothing is printed.
func TestWriteGoesOnWhereItWas(t *testing.T) {
	input, out := writeFile(t, "a\nb\n")
	for _, more := range []string{"", "c\n", "d"} {
		f, err := os.OpenFile(input, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(more); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if status, stdout, stderr := sinklab(t, "", "write", input, "--dir", out); status != statusOK || stdout+stderr != "" {
			t.Errorf("status %d, %q, %q", status, stdout, stderr)
		}
	}
	wantLines(t, out, "a", "b", "c", "d")
}

func TestWriteReadsStandardInput(t *testing.T) {
	_, out := writeFile(t, "")
	for _, c := range []struct {
		in   string
		args []string
	}{{"a\nb\n", nil}, {"c\n", []string{"-"}}, {"a\nb\nc\nd", []string{"-", "--resent"}}} {
		if status, _, stderr := sinklab(t, c.in, append([]string{"write", "--dir", out}, c.args...)...); status != statusOK || stderr != "" {
			t.Errorf("status %d, %q", status, stderr)
		}
	}
	wantLines(t, out, "a", "b", "c", "d")
	// The help says that this prints how far it is.
	_, stdout, _ := sinklab(t, "", "write", "-", "--dir", out, "--json")
	var stats struct{ Position live.StreamPosition }
	if err := json.Unmarshal([]byte(stdout), &stats); err != nil || stats.Position != (live.StreamPosition{Lines: 4, Bytes: 7}) {
		t.Errorf("%v, %s", err, stdout)
	}
}

func TestWriteBuckets(t *testing.T) {
	input, out := writeFile(t, "x:1\ny:2\n")
	if status, _, stderr := sinklab(t, "", "write", input, "--dir", out, "--bucket", "before=:", "--prefix", "p", "--suffix", ".log", "--parallelism", "2"); status != statusOK {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, bucket := range []string{"x", "y"} {
		if files, err := filepath.Glob(filepath.Join(out, bucket, "p-*.log")); err != nil || len(files) != 1 {
			t.Errorf("%s: %v, %v", bucket, files, err)
		}
	}
	input, out = writeFile(t, "a\n")
	if status, _, stderr := sinklab(t, "", "write", input, "--dir", out, "--bucket", "date='on'yyyy", "--zone", "+05:30"); status != statusOK {
		t.Errorf("status %d, %q", status, stderr)
	}
	if files, err := filepath.Glob(filepath.Join(out, "on2*", "part-*")); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// Lines without a bucket stop the job, and the next run meets them again; or they are
// dropped and counted.
func TestWriteRefusesLinesWithoutABucket(t *testing.T) {
	input, out := writeFile(t, "x:1\nnone\n..:3\nx:4\n")
	args := []string{"write", input, "--dir", out, "--bucket", "before=:", "--json"}
	for range 2 {
		status, _, stderr := sinklab(t, "", args...)
		if status != statusFound || !strings.Contains(stderr, `the line has no ":"`) {
			t.Errorf("status %d, %q", status, stderr)
		}
	}
	wantLines(t, out)
	status, stdout, stderr := sinklab(t, "", append(args, "--on-refused", "drop")...)
	var stats struct{ Lines, Refused int }
	if err := json.Unmarshal([]byte(stdout), &stats); err != nil || status != statusOK || stats.Lines != 2 || stats.Refused != 2 {
		t.Errorf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
	wantLines(t, out, "x:1", "x:4")
}

// Bad options and missing files give status 2, a job that cannot go on status 1; both say
// what to do.
func TestWriteErrors(t *testing.T) {
	input, out := writeFile(t, "a\nb\n")
	_, used := writeFile(t, "")
	if status, _, stderr := sinklab(t, "", "write", input, "--dir", used); status != statusOK {
		t.Fatal(stderr)
	}
	other, _ := writeFile(t, "a\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{input}, statusBadInput, "--dir"},
		{[]string{input, "--dir", out, "--policy", "policy=never"}, statusBadInput, "oncheckpoint"},
		{[]string{input, "--dir", out, "--check", "0s"}, statusBadInput, "--check"},
		{[]string{input, "--dir", out, "--checkpoint=-1s"}, statusBadInput, "--checkpoint"},
		{[]string{input, "--dir", out, "--checkpoint=1us"}, statusBadInput, "whole milliseconds"},
		{[]string{input, "--dir", out, "--retain", "0"}, statusBadInput, "--retain"},
		{[]string{input, "--dir", out, "--parallelism", "0"}, statusBadInput, "--parallelism"},
		{[]string{input, "--dir", out, "--bucket", "day"}, statusBadInput, "before=TEXT"},
		{[]string{input, "--dir", out, "--bucket", "before="}, statusBadInput, "before=TEXT"},
		{[]string{input, "--dir", out, "--bucket", "date=w"}, statusBadInput, "format"},
		{[]string{input, "--dir", out, "--zone", "UTC"}, statusBadInput, "--zone"},
		{[]string{input, "--dir", out, "--prefix", "_x"}, statusBadInput, "Prefix"},
		{[]string{input, "--dir", out, "--on-stop", "now"}, statusBadInput, "savepoint"},
		{[]string{input, "--dir", out, "--resent"}, statusBadInput, "--resent"},
		{[]string{input, "-", "--dir", out}, statusBadInput, "alone"},
		{[]string{"--dir", out, "--follow"}, statusBadInput, "--follow"},
		{[]string{input, input, "--dir", out}, statusBadInput, "twice"},
		{[]string{input, "nofile", "--dir", out}, statusBadInput, "nofile"},
		{[]string{other, "--dir", used}, statusFound, "in its order"},
		{[]string{"--dir", used}, statusFound, "kind of input"},
	} {
		status, stdout, stderr := sinklab(t, "", append([]string{"write"}, c.args...)...)
		if status != c.status || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "sinklab:") != 1 {
			t.Errorf("%q: status %d, %q, said %q; want %d, %q", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
	wantLines(t, out)
	wantLines(t, used, "a", "b")
}

// The first signal stops as asked, with status 0 and everything stored; what was left
// open comes with the next run.
func TestWriteStopsBySignal(t *testing.T) {
	program := filepath.Join(t.TempDir(), "sinklab")
	build(t, program)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for how, visible := range map[string][]string{"end": {"a", "b"}, "savepoint": nil} {
			input, out := writeFile(t, "a\nb\n")
			args := []string{"write", input, "--dir", out, "--checkpoint", "5ms", "--on-stop", how, "--json"}
			stdout := stopped(t, exec.Command(program, append(args, "--follow")...), out, signal)
			if !strings.Contains(stdout, `"lines":2,`) {
				t.Errorf("%v, %s: %s", signal, how, stdout)
			}
			wantLines(t, out, visible...)
			if status, _, stderr := sinklab(t, "", args...); status != statusOK {
				t.Errorf("%v, %s: status %d, %s", signal, how, status, stderr)
			}
			wantLines(t, out, "a", "b")
		}
	}
	// Standard input that says nothing more does not hold up the stop.
	_, out := writeFile(t, "")
	cmd := exec.Command(program, "write", "--dir", out, "--checkpoint", "5ms", "--json")
	silent, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer feed.Close()
	if _, err := feed.WriteString("a\nb\nunfinished"); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = silent
	stdout := stopped(t, cmd, out, syscall.SIGTERM)
	if !strings.Contains(stdout, `"position":{"lines":2,"bytes":4}`) {
		t.Error(stdout)
	}
	wantLines(t, out, "a", "b")
}

// stopped starts a command, sends it a signal once it has stored a checkpoint, and
// returns what it printed on standard output. It must end by itself, with status 0.
func stopped(t *testing.T, cmd *exec.Cmd, out string, signal syscall.Signal) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if files, err := live.List(afero.NewOsFs(), out); err != nil || len(files) > 0 || time.Now().After(deadline) {
			break
		}
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %v\n%s", signal, err, &stderr)
	}
	return stdout.String()
}

// The help names every policy, bucket and promise.
func TestWriteHelp(t *testing.T) {
	status, stdout, stderr := sinklab(t, "", "write", "--help")
	if status != statusOK || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, word := range []string{"exactly once", "Standard input cannot be set back", "--resent", "policy=oncheckpoint", "before=TEXT", "Exit status"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("it does not say %q", word)
		}
	}
}

func TestStatsLine(t *testing.T) {
	var s live.Stats
	s.Records, s.CommittedRecords, s.CommittedParts, s.OpenParts, s.PendingParts, s.OldestInvisible, s.CheckpointID = 10, 7, 2, 1, 1, 1000, 5
	if got, want := statsLine(2500, s), "10 lines, 7 visible in 2 files, 2 files hidden, oldest 1.5 s, checkpoint 5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if isTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
}
