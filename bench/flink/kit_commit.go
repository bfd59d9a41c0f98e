package flink

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/props/sinktest"
)

// CommitCase is a state of the directory in which a sink finds the file that it has to publish, and what it
// makes of it.
type CommitCase struct {
	Name  string   // what was done to the directory, while no process ran
	Error string   // of the restore; "" is none
	Files []string // what a reader sees afterwards, as "name: content", in order

	// Silent tells that the restore has returned no error although the record is not visible, or
	// bytes that nobody wrote are, or a file is gone that was visible before.
	Silent bool
}

// String is the case on one line.
func (c CommitCase) String() string {
	how := "no error"
	if c.Error != "" {
		how = c.Error
	}
	seen := "nothing is visible"
	if len(c.Files) > 0 {
		seen = "visible: " + strings.Join(c.Files, "; ")
	}
	text := fmt.Sprintf("%s: %s; %s", c.Name, how, seen)
	if c.Silent {
		text += "; SILENT"
	}
	return text
}

// The record of the file that is to be published, another one that is as long, and that of a file which
// somebody else has published under the name.
const (
	kitRecord  = "r0"
	kitOther   = "xx"
	kitForeign = "theirs"
)

var commitCases = []struct {
	name string
	do   func(fsys afero.Fs, hidden, target string) error
}{
	{"nothing was done", func(afero.Fs, string, string) error { return nil }},
	{"it was published already", func(f afero.Fs, hidden, target string) error { return f.Rename(hidden, target) }},
	{"neither file exists", func(f afero.Fs, hidden, _ string) error { return f.Remove(hidden) }},
	{"the target exists and is another file", func(f afero.Fs, _, target string) error {
		return afero.WriteFile(f, target, []byte(kitForeign+"\n"), 0o644)
	}},
	{"the target is another file and the hidden one is gone", func(f afero.Fs, hidden, target string) error {
		return errors.Join(f.Remove(hidden), afero.WriteFile(f, target, []byte(kitForeign+"\n"), 0o644))
	}},
	{"the hidden file is shorter", func(f afero.Fs, hidden, _ string) error {
		return afero.WriteFile(f, hidden, []byte(kitRecord[:1]), 0o644)
	}},
	{"the hidden file is longer", func(f afero.Fs, hidden, _ string) error {
		return afero.WriteFile(f, hidden, []byte(kitRecord+"\n"+kitOther+"\n"), 0o644)
	}},
	{"the hidden file has other bytes", func(f afero.Fs, hidden, _ string) error {
		return afero.WriteFile(f, hidden, []byte(kitOther+"\n"), 0o644)
	}},
}

// CommitCases lets a sink that closes its files at each checkpoint prepare a file, lets it die, does something to
// the directory, and restores it. The error is for a sink that leaves something else than one hidden file, or
// that does not get so far.
func CommitCases(k sinktest.Kind) ([]CommitCase, error) {
	var all []CommitCase
	for _, c := range commitCases {
		done, err := commitCase(k, c.name, c.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, done)
	}
	return all, nil
}

func commitCase(k sinktest.Kind, name string, do func(fsys afero.Fs, hidden, target string) error) (CommitCase, error) {
	c := CommitCase{Name: name}
	setup := sinktest.Setup{Fs: fsmem.New(fsmem.Options{}), Dir: "/sink", Random: rand.NewChaCha8([32]byte{})}
	sink, err := k.New(setup)
	if err != nil {
		return c, err
	}
	_, err = sink.Tick(0)
	var state []byte
	if err == nil {
		err = sink.Write(kitRecord, 0)
	}
	if err == nil {
		state, err = sink.Prepare(1, 0)
	}
	if err := errors.Join(err, sink.Close()); err != nil {
		return c, err
	}
	hidden, target, err := prepared(setup.Fs, setup.Dir)
	if err != nil {
		return c, err
	}
	if err := do(setup.Fs, hidden, target); err != nil {
		return c, err
	}
	before, err := visibleFiles(setup.Fs, setup.Dir)
	if err != nil {
		return c, err
	}
	restored, failed := k.Restore(setup, 1, state)
	if failed == nil {
		failed = errors.Join(restored.Commit(1), restored.Close())
	}
	if failed != nil {
		c.Error, _, _ = strings.Cut(failed.Error(), "\n")
		c.Error = kitPlain(c.Error)
	}
	if c.Files, err = visibleFiles(setup.Fs, setup.Dir); err != nil {
		return c, err
	}
	right := slices.ContainsFunc(c.Files, func(f string) bool { return strings.HasSuffix(f, ": "+kitRecord) })
	wrong := slices.ContainsFunc(c.Files, func(f string) bool { return strings.Contains(f, kitOther) })
	gone := slices.ContainsFunc(before, func(f string) bool { return !slices.Contains(c.Files, f) })
	c.Silent = failed == nil && (!right || wrong || gone)
	return c, nil
}

var hiddenName = regexp.MustCompile(`^\.(.*)\.inprogress\.[^.]*$`)

// prepared finds the one file that waits to be published, and its name when it is.
func prepared(fsys afero.Fs, dir string) (hidden, target string, err error) {
	entries, err := afero.ReadDir(fsys, dir)
	if err != nil {
		return "", "", err
	}
	if len(entries) == 1 {
		if m := hiddenName.FindStringSubmatch(entries[0].Name()); m != nil {
			return path.Join(dir, entries[0].Name()), path.Join(dir, m[1]), nil
		}
	}
	return "", "", fmt.Errorf("%d files in the directory after a checkpoint, not one hidden one", len(entries))
}

// visibleFiles is what a reader sees.
func visibleFiles(fsys afero.Fs, dir string) ([]string, error) {
	var out []string
	err := afero.Walk(fsys, dir, func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasPrefix(info.Name(), ".") {
			return err
		}
		content, err := afero.ReadFile(fsys, name)
		out = append(out, kitPlain(info.Name())+": "+strings.Join(strings.Fields(string(content)), " "))
		return err
	})
	return out, err
}
