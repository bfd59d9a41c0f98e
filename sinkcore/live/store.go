package live

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// CheckpointDir is the name of the directory, in that of the output, that holds the
// checkpoint files and the lock. Readers skip it, because it begins with ".".
const CheckpointDir = ".checkpoints"

// File is a checkpoint file, by its name. The name tells what must be known of a file
// even if its content is damaged.
type File struct {
	Path string
	ID   int64

	// Publishes is how many parts the checkpoint made visible, or makes visible when
	// it is restored. After a checkpoint with 0 an older one can still be restored.
	Publishes int
}

const filePrefix = "checkpoint-"

// fileName gives the id all its digits, so that names sort as ids do.
func fileName(c sinkcore.Checkpoint) string {
	return fmt.Sprintf("%s%019d-%d", filePrefix, c.ID, publishes(c))
}

// parseFileName is the reverse. What fileName would not have made is somebody else's.
func parseFileName(name string) (f File, ok bool) {
	id, count, ok := strings.Cut(strings.TrimPrefix(name, filePrefix), "-")
	if !ok {
		return File{}, false
	}
	var err, countErr error
	f.ID, err = strconv.ParseInt(id, 10, 64)
	f.Publishes, countErr = strconv.Atoi(count)
	return f, err == nil && countErr == nil && name == fmt.Sprintf("%s%019d-%d", filePrefix, f.ID, f.Publishes)
}

// List returns the checkpoint files of the output directory dir, newest first; none if
// there is no such directory. It may be called while a job runs.
func List(fsys afero.Fs, dir string) ([]File, error) {
	dir = filepath.Join(dir, CheckpointDir)
	entries, err := afero.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, newError("list checkpoints", dir, err, "")
	}
	var files []File
	for _, entry := range entries {
		if f, ok := parseFileName(entry.Name()); ok {
			f.Path = filepath.Join(dir, entry.Name())
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(b.ID, a.ID) })
	return files, nil
}

// Load reads a checkpoint file. The error wraps [ErrDamaged], [ErrVersion] or one of
// the file system; fs.ErrNotExist may mean that a running job has pruned the file.
func Load(fsys afero.Fs, f File) (Stored, error) {
	data, err := afero.ReadFile(fsys, f.Path)
	var s Stored
	if err == nil {
		err = s.UnmarshalBinary(data)
	}
	if err == nil && (s.Checkpoint.ID != f.ID || publishes(s.Checkpoint) != f.Publishes) {
		err = fmt.Errorf("%w: it holds what belongs into %s", ErrDamaged, fileName(s.Checkpoint))
	}
	if err != nil {
		return Stored{}, newError("read checkpoint", f.Path, err, hintOf(err)).of(f.ID)
	}
	return s, nil
}

func hintOf(err error) string {
	switch {
	case errors.Is(err, ErrVersion):
		return "run the version that wrote it"
	case errors.Is(err, ErrDamaged):
		return "put a copy of the file back"
	}
	return ""
}

// Newest returns the checkpoint to go on from; found is false if there is no checkpoint
// file at all.
//
// It is the newest one. If that is damaged, an older one is as good as long as nothing
// was published since: no file names it, all that was written since is cut off or
// swept, and the source sends it again. If something may have been published, the error
// wraps [ErrUnsafe] and [ErrDamaged]. The sink's own checks cannot replace this rule: a
// checkpoint without open parts can always be restored, and its source would write again
// what is visible already.
func Newest(fsys afero.Fs, dir string) (s Stored, found bool, err error) {
	files, err := List(fsys, dir)
	if err != nil || len(files) == 0 {
		return Stored{}, false, err
	}
	return newest(fsys, files)
}

func newest(fsys afero.Fs, files []File) (Stored, bool, error) {
	// From the newest to the oldest, as long as nothing stands against going on.
	var damage error
	for _, f := range files {
		s, err := Load(fsys, f)
		if err == nil {
			return s, true, nil
		}
		if !errors.Is(err, ErrDamaged) {
			// A disk that does not answer, or a newer version: the checkpoint may be good,
			// and who goes back from it loses what it has.
			return Stored{}, false, err
		}
		damage = err
		if f.Publishes > 0 {
			return Stored{}, false, newError("start", f.Path, fmt.Errorf("%w: %w", ErrUnsafe, damage),
				"put a copy of the file back; without one begin anew in an empty directory").of(f.ID)
		}
	}
	// Older files were pruned, and they may have published something: to begin at the
	// beginning is not safe either.
	return Stored{}, false, newError("start", filepath.Dir(files[0].Path), fmt.Errorf("%w: no older one is left: %w", ErrUnsafe, damage),
		"put a copy of a file back; without one begin anew in an empty directory")
}

// store writes checkpoint files. It is used by the one process that has the lock.
//
// Its directory is the only truth about the past: no file says which checkpoint is the
// newest, the names do, and so a rename is all it takes to make one the newest.
type store struct {
	fs    afero.Fs
	dir   string // of the checkpoint files
	files []File // newest first
}

// temporary is the name that a checkpoint file has until it is whole. One name is
// enough, since only one process writes; what a dead one left is overwritten.
const temporary = "checkpoint.new"

// openStore makes the directory and makes it durable: each directory down to it, since
// one that is there may have been made by a process that died before it was synced.
func openStore(fsys afero.Fs, base string) (*store, error) {
	s := &store{fs: fsys, dir: filepath.Join(base, CheckpointDir)}
	if err := fsys.MkdirAll(s.dir, 0o777); err != nil {
		return nil, newError("start", s.dir, err, "")
	}
	var above []string
	for dir := filepath.Dir(s.dir); ; dir = filepath.Dir(dir) {
		above = append(above, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, dir := range slices.Backward(above) {
		err := syncDir(fsys, dir)
		if errors.Is(err, fs.ErrPermission) && len(dir) < len(filepath.Clean(base)) {
			continue // above our own we may have no right to read; then we made nothing there
		}
		if err != nil {
			return nil, newError("start", dir, err, "")
		}
	}
	return s, nil
}

// put stores a checkpoint: when it returns nil the checkpoint survives a power cut, and
// whatever happens before, the file is there as a whole or not at all. The order is that
// of fsync(2) and rename(2): the bytes before the name, the name before the return.
func (s *store) put(c Stored) error {
	data, err := c.MarshalBinary()
	if err != nil {
		return err
	}
	// Everything after this is an error of the disk. None is tried again, as a second
	// fsync proves nothing about what the first one lost.
	f := File{ID: c.Checkpoint.ID, Publishes: publishes(c.Checkpoint)}
	f.Path = filepath.Join(s.dir, fileName(c.Checkpoint))
	temp := filepath.Join(s.dir, temporary)
	failed := func(path string, err error) error {
		return newError("store checkpoint", path, err, hintRestart).of(f.ID)
	}
	if err := writeSynced(s.fs, temp, data); err != nil {
		return failed(temp, err)
	}
	if err := s.fs.Rename(temp, f.Path); err != nil {
		return failed(f.Path, err)
	}
	if err := syncDir(s.fs, s.dir); err != nil {
		return failed(s.dir, err)
	}
	if !slices.Contains(s.files, f) { // it is there already when a start writes it anew
		s.files = slices.Insert(s.files, 0, f)
	}
	return nil
}

// prune removes the oldest files until no more than retain are left, at least one. A
// crash between two removals leaves the newer ones. The directory is not synced: a file
// that comes back after a power cut is pruned again.
func (s *store) prune(retain int) error {
	for len(s.files) > max(retain, 1) {
		oldest := s.files[len(s.files)-1]
		if err := s.fs.Remove(oldest.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return newError("prune checkpoints", oldest.Path, err, hintRestart).of(oldest.ID)
		}
		s.files = s.files[:len(s.files)-1]
	}
	return nil
}

// writeSynced writes a whole file and fsyncs it. What a file of that name held before is
// gone at once, so the name must not be one that anybody reads. Close comes after an
// error too, and its own error counts: some file systems report a failed write only then
// (close(2)).
func writeSynced(fsys afero.Fs, path string, data []byte) error {
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the names in a directory durable, which fsync of the files named does
// not (fsync(2)).
func syncDir(fsys afero.Fs, dir string) error {
	f, err := fsys.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
