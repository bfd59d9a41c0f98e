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
// etcd-io/etcd#6368, vectordotdev/vector#25779).

// directories fsyncs directories so that names in them are durable, and remembers
// which directories' own names are, so that later files in them cost one fsync. The
// subtasks of a job share one, since they share the directories.
//
// After sync has returned an error it must not be called again: todo still has the
// directory, and a second fsync of it may report success for names that are lost. The
// writer or committer stops then, and its job; the next life begins with an empty one.
type directories struct {
	fs   afero.Fs
	base string // above it the sink owns nothing

	// Directories whose own name this process has made durable, and with it the names of
	// all directories above. Being there is no proof: a process that made the directory
	// may have died before it synced anything. Looked up only.
	durable map[string]bool

	// Directories that hold a name to be made durable. For each one in it that is not in
	// durable, the one above is in it too; that is why sync may call all of them durable
	// when it is done.
	todo  []string
	noted map[string]bool // what is in todo
}

// durableLimit bounds what is remembered, in directories; a sink that makes a bucket an
// hour for years must not grow. Forgetting costs a few more fsyncs, no safety.
const durableLimit = 1 << 14

func newDirectories(fsys afero.Fs, base string) *directories {
	return &directories{fs: fsys, base: filepath.Clean(base), durable: map[string]bool{}, noted: map[string]bool{}}
}

// make makes a directory and what is missing above it. One that is missing may have been
// there before: somebody took it away, and its new name is not durable. (If somebody else
// also made it anew, that is not seen, and its name is durable when they say so.)
//
// It is called when a file could not be made for want of its directory, so that most
// parts cost no look at the way to them.
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

// note records that a name was made in dir, or is about to be. The way up ends at the
// first directory whose name is known to be durable, else at the root, beyond the base: a
// base that this process made is only as durable as its own name.
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
// directory that could not be synced with the error. Without anything noted it does
// nothing, so a checkpoint in which no part was made costs no fsync of a directory.
//
// No caller relies on the order, since all are synced before anything is promised. That is
// as well: for a relative base "." comes after names that begin with one of the few
// characters below the dot, such as "-".
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
		// Above the base directory there may be directories that we may not read, such
		// as the home of another user. As a rule we may not write to them either, and
		// have made nothing in them; one that may be written to and not read is beyond
		// what can be synced.
		if errors.Is(err, fs.ErrPermission) && len(dir) < len(d.base) {
			return nil
		}
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
