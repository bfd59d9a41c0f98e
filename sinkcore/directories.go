package sinkcore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
)

// A name is durable when the directory that holds it has been fsynced after the name
// was made; fsync of the file itself does not do that (fsync(2)). The same holds for
// the name of that directory in its parent, and so on upwards (bugs of this kind:
// etcd#6368, vector#25779).

// directories fsyncs directories so that names in them are durable, and remembers
// which directories' own names are, so that later files in them cost one fsync.
type directories struct {
	fs   afero.Fs
	base string // above it the sink owns nothing

	durable map[string]bool // directories whose own name this process has made durable
	todo    []string        // directories that hold a name to be made durable
	noted   map[string]bool // what is in todo
}

// durableLimit bounds what is remembered; a sink that makes a bucket an hour for years
// must not grow. Forgetting costs a few more fsyncs, no safety.
const durableLimit = 1 << 14

func newDirectories(fsys afero.Fs, base string) *directories {
	return &directories{fs: fsys, base: filepath.Clean(base), durable: map[string]bool{}, noted: map[string]bool{}}
}

// make makes a directory and what is missing above it. One that is missing may have been
// there before: somebody took it away, and its new name is not durable.
func (d *directories) make(dir string) error {
	for missing := dir; ; missing = filepath.Dir(missing) {
		_, err := d.fs.Stat(missing)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil || filepath.Dir(missing) == missing {
			return d.fs.MkdirAll(dir, 0o777)
		}
		delete(d.durable, missing)
	}
}

// note records that a name was made in dir.
func (d *directories) note(dir string) {
	for {
		if !d.noted[dir] {
			d.noted[dir] = true
			d.todo = append(d.todo, dir)
		}
		parent := filepath.Dir(dir)
		if d.durable[dir] || parent == dir {
			return
		}
		// An ancestor may have been made by an earlier process that crashed before
		// it was synced, so being there proves nothing.
		dir = parent
	}
}

// sync fsyncs the directories noted since the last call, ancestors first, so that
// after a power cut in between no name stands without the way to it. It returns the
// directory that could not be synced with the error.
func (d *directories) sync() (string, error) {
	slices.Sort(d.todo) // a directory sorts before what is in it
	for _, dir := range d.todo {
		if err := d.syncOne(dir); err != nil {
			return dir, err
		}
	}
	if len(d.durable) > durableLimit {
		clear(d.durable)
	}
	for _, dir := range d.todo {
		d.durable[dir] = true
	}
	d.todo = d.todo[:0]
	clear(d.noted)
	return "", nil
}

func (d *directories) syncOne(dir string) error {
	f, err := d.fs.Open(dir)
	if err != nil {
		// Above the base directory there may be directories that we may not read.
		// Then we made nothing in them either.
		if errors.Is(err, fs.ErrPermission) && len(dir) < len(d.base) {
			return nil
		}
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
