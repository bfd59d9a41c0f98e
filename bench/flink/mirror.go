package flink

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// mirror copies what a reader can see of Flink's directory into the file system that the
// rules watch, which is one in memory. So the same reader looks at Flink and at sinkcore.
type mirror struct {
	from string // on disk
	to   afero.Fs
	base string // in it
	seen map[string]fs.FileInfo
}

// same tells whether a file is the one that was seen and has not changed: commits are
// renames, so another file under the name suffices almost always, and Flink never sets times
// back.
func same(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// sync copies what is new or changed and removes what is gone.
func (m *mirror) sync() error {
	present := map[string]bool{}
	err := filepath.WalkDir(m.from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		name, err := filepath.Rel(m.from, path)
		if err != nil {
			return err
		}
		present[name] = true
		if before, known := m.seen[name]; known && same(before, info) {
			return nil
		}
		m.seen[name] = info
		return m.copy(path, filepath.Join(m.base, name))
	})
	if err != nil {
		return err
	}
	for name := range m.seen {
		if !present[name] {
			delete(m.seen, name)
			if err := m.to.Remove(filepath.Join(m.base, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// hidden lists finished files that wait to be merged: hidden, and not in progress.
func (m *mirror) hidden() (map[string]bool, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(m.from, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), ".") && !strings.Contains(d.Name(), ".inprogress.") {
			names[path] = true
		}
		return err
	})
	return names, err
}

func (m *mirror) copy(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := m.to.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return afero.WriteFile(m.to, to, content, 0o644)
}
