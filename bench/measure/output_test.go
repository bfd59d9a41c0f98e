package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sinklab/bench/measure"
)

// A place where nothing can be written, and one file for two sides, are found before anything
// runs, and nothing is left behind.
func TestRunRefusesOutputs(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	module := module(t, "A", log, "")
	dir := t.TempDir()
	t.Chdir(dir)
	for _, made := range []error{
		os.WriteFile("file", []byte("old"), 0o666), os.Mkdir("dir", 0o777), os.Symlink("file", "link"), os.Link("file", "hard"),
		os.Symlink("dir", "linked"), os.Symlink("dir/later", "dangling"), os.Symlink("ring", "ring"),
	} {
		if made != nil {
			t.Fatal(made)
		}
	}
	before := tree(t, dir)
	for _, test := range []struct {
		outs []string
		says string
	}{
		{[]string{"dir"}, "is a directory"},
		{[]string{"file/below"}, "not a directory"},
		{[]string{"new/"}, "no name of a file"},
		{[]string{""}, "no name of a file"},
		{[]string{os.DevNull}, "not a regular file"},
		{[]string{"new/a.txt", "dir"}, "is a directory"},
		{[]string{"new/deep/a.txt", "file/b.txt"}, "not a directory"},
		{[]string{"a.txt", "./a.txt"}, "same file"},
		{[]string{"new/a.txt", filepath.Join(dir, "new", "a.txt")}, "same file"},
		{[]string{"file", "link"}, "same file"},
		{[]string{"hard", "file"}, "same file"},
		{[]string{"dir/a.txt", "linked/a.txt"}, "same file"},
		{[]string{"dangling", "dir/later"}, "same file"},
		{[]string{"ring", "ring"}, "same file"},
	} {
		var sides []measure.Side
		for _, out := range test.outs {
			sides = append(sides, measure.Side{Dir: module, Out: out})
		}
		err := measure.Run(context.Background(), sides, measure.Options{Rounds: 1})
		if !errors.Is(err, measure.ErrOutput) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %v, want %q", test.outs, err, test.says)
		}
		if after := tree(t, dir); !slices.Equal(after, before) {
			t.Errorf("%q: there are %q, before %q", test.outs, after, before)
		}
	}
	if text, err := os.ReadFile(log); err == nil {
		t.Errorf("benchmarks were run: %s", text)
	}
}

// tree lists what is below a directory.
func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// A run that is broken off says so, and leaves the results as they were and nothing in the
// temporary directory, where its benchmarks had files.
func TestRunIsBrokenOff(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	out := filepath.Join(t.TempDir(), "out.txt")
	if err := os.WriteFile(out, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	body := "func BenchmarkFirst(b *testing.B) { os.MkdirTemp(\"\", \"\"); run(b) }\n" +
		"func BenchmarkLast(b *testing.B)  { for { } }\n"
	side := measure.Side{Dir: module(t, "A", filepath.Join(t.TempDir(), "log"), body), Out: out}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// When the first has ended the last, which never ends, has begun or is going to.
	err := measure.Run(ctx, []measure.Side{side}, measure.Options{Rounds: 1, Progress: func(p measure.Progress) {
		if strings.HasPrefix(p.Name, "BenchmarkFirst") {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "old" {
		t.Errorf("%q, %v; want it as it was", text, err)
	}
	if left := tree(t, temp); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	if left := tree(t, filepath.Dir(out)); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
}
