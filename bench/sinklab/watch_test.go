package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"sinklab/bench/watch"
	"sinklab/fsmem"
)

// watched runs the command on a file system in memory, on which a step is taken before
// each tick of 200 ms.
func watched(t *testing.T, c watchCommand, steps ...func(fsys *fsmem.FS, now int64)) (out string, err error) {
	t.Helper()
	fsys := fsmem.New(fsmem.Options{})
	c.Dir, c.Every, c.Separator, c.Hidden = "/out", 200*time.Millisecond, ",", []string{".*", "_*"}
	o, err := c.options()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := watch.ParseKeys(c.Name)
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1777593600000)
	o.Fs, o.Now = fsys, func() int64 { return now }
	var printed, said bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		ticks := make(chan time.Time)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			defer cancel()
			for _, step := range steps {
				synctest.Wait() // until the watch waits for its tick
				step(fsys, now)
				now += 200
				select {
				case ticks <- time.Time{}:
				case <-ctx.Done():
					return
				}
			}
			synctest.Wait()
		}()
		err = c.watch(ctx, streams{nil, &printed, &said}, o, ticks, keys)
	})
	if said.Len() > 0 {
		t.Errorf("said %q, though nobody may be looking", &said)
	}
	return printed.String(), err
}

// publish returns the step that writes a file under a hidden name and renames it.
func publish(t *testing.T, name, text string) func(*fsmem.FS, int64) {
	return func(fsys *fsmem.FS, now int64) {
		text := strings.ReplaceAll(text, "NOW", fmt.Sprint(now))
		err := fsys.MkdirAll("/out", 0o777)
		err = errors.Join(err, afero.WriteFile(fsys, "/out/.part", []byte(text), 0o666), fsys.Rename("/out/.part", "/out/"+name))
		if err != nil {
			t.Error(err)
		}
	}
}

func nothing(*fsmem.FS, int64) {}

// A directory that is made while the watch goes on is measured. The benchmark lines are
// printed, and appended to a file.
func TestWatch(t *testing.T) {
	bench := filepath.Join(t.TempDir(), "watch.txt")
	for n := range 2 {
		out, err := watched(t, watchCommand{TimeJSON: "at", IDJSON: "n", Bench: bench, Name: []string{"engine=x"}}, nothing, nothing,
			publish(t, "part-1", `{"at":NOW,"n":1}`+"\n"+`{"at":NOW,"n":2}`+"\n"), nothing)
		if err != nil || !strings.Contains(out, "records              2\n") || !strings.Contains(out, "\nlatency p50          200 ms\n") || !strings.Contains(out, "\nBenchmarkWatch/engine=x-") {
			t.Errorf("%v, %s", err, out)
		}
		text, err := os.ReadFile(bench)
		if err != nil || strings.Count(string(text), "\nBenchmarkWatch/engine=x") != n+1 {
			t.Errorf("%v, %s", err, text)
		}
	}
}

// If nothing is visible the hidden files are counted, also those of hidden directories; if
// something is, or in JSON, nothing is said of them.
func TestWatchCountsHiddenParts(t *testing.T) {
	hide := func(fsys *fsmem.FS, _ int64) {
		for name, age := range map[string]time.Duration{".part-1": 0, "b/_part-2": 0, ".staging/part-3": 5 * time.Second} {
			at := time.UnixMilli(1777593600000).Add(-age)
			err := fsys.MkdirAll(filepath.Dir("/out/"+name), 0o777)
			err = errors.Join(err, afero.WriteFile(fsys, "/out/"+name, []byte("x\n"), 0o666), fsys.Chtimes("/out/"+name, at, at))
			if err != nil {
				t.Error(err)
			}
		}
	}
	const says = "\nnothing became visible: 3 hidden part files, the oldest last written to 5.4 s ago\n" +
		"one that is young waits for its rolling policy and a checkpoint (sinklab explain tells how long); an old one may be of a job that has died\n"
	if out, err := watched(t, watchCommand{}, nothing, hide); err != nil || !strings.HasSuffix(out, says) {
		t.Errorf("%v, %s", err, out)
	}
	for _, c := range []struct {
		command watchCommand
		steps   []func(*fsmem.FS, int64)
	}{
		{watchCommand{}, []func(*fsmem.FS, int64){nothing, hide, publish(t, "part-4", "x\n"), nothing}},
		{watchCommand{JSON: true}, []func(*fsmem.FS, int64){nothing, hide}},
		{watchCommand{}, []func(*fsmem.FS, int64){func(fsys *fsmem.FS, _ int64) { _ = fsys.MkdirAll("/out", 0o777) }, nothing}},
	} {
		if out, err := watched(t, c.command, c.steps...); err != nil || strings.Contains(out, "nothing became visible") {
			t.Errorf("%v, %s", err, out)
		}
	}
}

// A broken rule is found, and JSON says which.
func TestWatchFindsAViolation(t *testing.T) {
	for want, second := range map[string]string{"doubled": "7\n", "": "8\n"} {
		out, err := watched(t, watchCommand{IDCSV: "1", JSON: true, Files: true}, nothing, publish(t, "part-1", "7\n"), publish(t, "part-2", second), nothing)
		var r watch.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err, out)
		}
		if errors.Is(err, errFound) != (want != "") || (r.Doubled > 0) != (want != "") || len(r.Seen) != 2 || r.Seen[0].Path != "part-1" || r.Seen[0].Records != 1 {
			t.Errorf("%v, %s", err, out)
		}
	}
}

// If no line is a record there are no figures, and the reason is told with a line for example.
func TestWatchFindsNoRecord(t *testing.T) {
	bench := filepath.Join(t.TempDir(), "watch.txt")
	for _, json := range []bool{false, true} {
		out, err := watched(t, watchCommand{TimeCSV: "2", Bench: bench, JSON: json}, nothing, publish(t, "part-1", "1000,x\n2000,y\n"), nothing)
		if err == nil || !strings.Contains(err.Error(), "none of 2 lines is a record of this format: part-1:1: ") || strings.Contains(out, "Benchmark") || out == "" {
			t.Errorf("%v, %s", err, out)
		}
	}
	if _, err := os.Stat(bench); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("benchmark lines of nothing were written: %v", err)
	}
	if _, err := watched(t, watchCommand{TimeCSV: "1"}, nothing, publish(t, "part-1", "1000,x\n2000,y\nz\n"), nothing); err != nil {
		t.Errorf("one of three lines is foreign: %v", err)
	}
}

// The watch ends by itself when nothing comes any more.
func TestWatchUntilIdle(t *testing.T) {
	steps := []func(*fsmem.FS, int64){nothing, nothing, nothing, publish(t, "part-1", "a\n"), nothing, publish(t, "part-2", "b\n"), nothing, nothing, nothing, publish(t, "part-3", "c\n")}
	out, _ := watched(t, watchCommand{UntilIdle: 600 * time.Millisecond, JSON: true}, steps...)
	var r watch.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Records != 2 || r.Watched != 1800 {
		t.Errorf("%v, %s", err, out)
	}
}

// On a disk, with the clock and signals of the computer: what is there at the first look
// counts for nothing, and an odd name is no obstacle.
func TestWatchOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some where")
	if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "part"), []byte("x\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--poll"}} {
		status, out, errs := sinklab(t, "", append([]string{"watch", dir, "--for", "1ms", "--every", "1ms"}, flags...)...)
		if status != statusOK || errs != "" || !strings.Contains(out, "there before         1") || !strings.Contains(out, "BenchmarkWatch/dir=some_where-") {
			t.Errorf("status %d, %s, %s", status, errs, out)
		}
	}
}

// Bad input gives status 2 and says what to do.
func TestWatchBadInput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"was not there at any of":     {filepath.Join(dir, "nowhere"), "--for", "2ms", "--every", "1ms"},
		"is not a directory":          {file},
		"want 1ms or longer":          {dir, "--every", "0s"},
		"is negative":                 {dir, "--for=-1s"},
		"exclude each other":          {dir, "--time-csv", "1", "--id-json", "n"},
		"want lines, csv or json":     {dir, "--format", "xml"},
		"has none of the fields":      {dir, "--format", "json", "--time-csv", "1"},
		"want one character":          {dir, "--separator", "ab"},
		"--files needs --json":        {dir, "--files"},
		"want key=value":              {dir, "--name", "flink"},
		"the pattern \"[\"":           {dir, "--hidden", "["},
		"expected \"<DIR>\"":          {},
		"did you mean \"--time-csv\"": {dir, "--time-cvs", "1"},
	} {
		status, out, errs := sinklab(t, "", append([]string{"watch"}, args...)...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: status %d, printed %q, said %q; want %q", args, status, out, errs, want)
		}
	}
	if status, out, _ := sinklab(t, "", "watch", "--help"); status != statusOK || !strings.Contains(out, "Exit status") {
		t.Error(out)
	}
}

// The watch ends after its time, or when nothing has come for a while since the first file.
func TestWatchEnds(t *testing.T) {
	for _, c := range []struct {
		command watchCommand
		passed  int64
		newest  time.Duration
		want    bool
	}{
		{watchCommand{}, 1 << 40, time.Hour, true},
		{watchCommand{For: time.Second}, 999, -1, true},
		{watchCommand{For: time.Second}, 1000, -1, false},
		{watchCommand{UntilIdle: time.Second}, 5000, -1, true},
		{watchCommand{UntilIdle: time.Second}, 5000, 999 * time.Millisecond, true},
		{watchCommand{UntilIdle: time.Second}, 5000, time.Second, false},
	} {
		if got := c.command.more(watch.State{Started: 5, At: 5 + c.passed, Newest: c.newest}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The line of state says all that is known, in one line of a terminal.
func TestWatchStateLine(t *testing.T) {
	s := watch.State{Started: 1000, At: 3500, Newest: -1, Invisible: -1, P50: -1, P99: -1}
	if got := stateLine(s); got != "2.5 s, no file yet" {
		t.Error(got)
	}
	s.Files, s.Newest = 1234, 700*time.Millisecond
	if got := stateLine(s); got != "1234 files, newest 0.7 s ago" {
		t.Error(got)
	}
	s.Invisible, s.P50, s.P99 = 119900*time.Millisecond, 60100*time.Millisecond, 118900*time.Millisecond
	got := stateLine(s)
	if got != "oldest invisible 119.9 s, 1234 files, newest 0.7 s ago, p50 60.1 s, p99 118.9 s" || len(got) > 80 {
		t.Error(got)
	}
	s.Unread, s.Torn, s.Foreign, s.Changed = 2, 1, 2, 1
	if got := stateLine(s); !strings.HasSuffix(got, ", 2 to read, 3 odd lines, 1 VIOLATIONS") {
		t.Error(got)
	}
}
