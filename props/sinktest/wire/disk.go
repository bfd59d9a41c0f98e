package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"sinklab/fsmem"
)

// Disk plays operations on a file system: those on a directory of the real disk on another
// one, in memory as a rule.
type Disk struct {
	fs    afero.Fs
	dir   string // there
	real  string // the directory that the operations speak of
	files map[int]afero.File
}

// NewDisk returns a disk on which the operations on the real directory are played on dir. Operations
// elsewhere have no effect, but for the sync of a directory above.
func NewDisk(fsys afero.Fs, dir, real string) *Disk {
	return &Disk{fs: fsys, dir: dir, real: real, files: map[int]afero.File{}}
}

// Play plays an operation. The error is that of the file system, or one that wraps [ErrProcess]
// if it makes no sense.
func (d *Disk) Play(o Operation) error {
	if o.FD != 0 && o.Do != "open" {
		if f, known := d.files[o.FD]; known {
			return d.playOpen(f, o)
		}
		if o.Do == "close" || o.Path == "" {
			return nil // of a file elsewhere, or one that was opened for reading
		}
	}
	name, inside := d.name(o.Path)
	if o.Do == "sync" {
		if !inside {
			if name, inside = d.above(o.Path); !inside {
				return nil
			}
		}
		f, err := d.fs.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	}
	if !inside {
		return nil
	}
	switch o.Do {
	case "mkdir":
		if name == d.dir {
			return d.fs.MkdirAll(name, 0o755)
		}
		return d.fs.Mkdir(name, 0o755)
	case "open":
		flags := os.O_RDWR
		for _, flag := range o.Flags {
			switch flag {
			case Create:
				flags |= os.O_CREATE
			case Excl:
				flags |= os.O_EXCL
			case Append:
				flags |= os.O_APPEND
			case Truncate:
				flags |= os.O_TRUNC
			default:
				return fmt.Errorf("%w: %s is opened with the flag %q", ErrProcess, o.Path, flag)
			}
		}
		f, err := d.fs.OpenFile(name, flags, 0o644)
		if err != nil {
			return err
		}
		if old := d.files[o.FD]; old != nil {
			return errors.Join(fmt.Errorf("%w: %d is opened twice", ErrProcess, o.FD), f.Close())
		}
		d.files[o.FD] = f
		return nil
	case "truncate":
		f, err := d.fs.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(o.At), f.Close())
	case "rename":
		to, inside := d.name(o.To)
		if !inside {
			return fmt.Errorf("%w: %s is moved out of the directory", ErrProcess, o.Path)
		}
		return d.fs.Rename(name, to)
	case "remove":
		return d.fs.Remove(name)
	}
	return fmt.Errorf("%w: unknown operation on files %q", ErrProcess, o.Do)
}

// playOpen plays an operation on an open file.
func (d *Disk) playOpen(f afero.File, o Operation) error {
	switch o.Do {
	case "write":
		_, err := f.Write(o.Data)
		return err
	case "writeat":
		_, err := f.WriteAt(o.Data, o.At)
		return err
	case "seek":
		_, err := f.Seek(o.At, io.SeekStart)
		return err
	case "truncate":
		return f.Truncate(o.At)
	case "sync":
		return f.Sync()
	case "close":
		delete(d.files, o.FD)
		return f.Close()
	}
	return fmt.Errorf("%w: unknown operation on an open file %q", ErrProcess, o.Do)
}

// Close closes the files that are open, as the death of the process does.
func (d *Disk) Close() {
	for fd, f := range d.files {
		f.Close() // nothing is buffered, so nothing is lost
		delete(d.files, fd)
	}
}

// name is a real path in the other file system, if it is in the directory.
func (d *Disk) name(real string) (string, bool) {
	rel, err := filepath.Rel(d.real, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return path.Join(d.dir, filepath.ToSlash(rel)), true
}

// above is a real path in the other file system, if it is one of the directories over the directory.
func (d *Disk) above(real string) (string, bool) {
	there := d.dir
	for here := d.real; here != filepath.Dir(here) && there != path.Dir(there); {
		here, there = filepath.Dir(here), path.Dir(there)
		if here == real {
			return there, true
		}
	}
	return "", false
}

// load makes the real directory what the other one is, and the shadow too.
func (d *Disk) load(s shadow) error {
	if err := os.RemoveAll(d.real); err != nil {
		return fmt.Errorf("%w: %w", ErrProcess, err)
	}
	return afero.Walk(d.fs, d.dir, func(name string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == d.dir {
			return nil
		}
		if err != nil {
			return err
		}
		rel := filepath.FromSlash(strings.TrimPrefix(name, d.dir))
		real, copied := filepath.Join(d.real, rel), path.Join(s.dir, rel)
		if info.IsDir() {
			return errors.Join(os.Mkdir(real, 0o755), s.fs.Mkdir(copied, 0o755))
		}
		content, err := afero.ReadFile(d.fs, name)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(real, content, 0o644), afero.WriteFile(s.fs, copied, content, 0o644))
	})
}

// shadow keeps what operations have made of the files, without a look at the other file system:
// a look would count as an operation of the sink. Its files are those of a memory of its own.
type shadow struct{ *Disk }

func newShadow(real string) shadow {
	return shadow{NewDisk(fsmem.New(fsmem.Options{}), "/shadow", real)}
}

// differs returns what the real directory holds otherwise than the operations told say.
func (s shadow) differs() (string, error) {
	var what string
	seen := map[string]bool{}
	err := filepath.WalkDir(s.real, func(real string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && real == s.real {
			return nil
		}
		if err != nil || what != "" {
			return err
		}
		name, _ := s.name(real)
		seen[name] = true
		info, err := s.fs.Stat(name)
		if err != nil || info.IsDir() != entry.IsDir() {
			what = real + " was made, and no operation says so"
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		content, err := os.ReadFile(real)
		if err != nil {
			return err
		}
		told, err := afero.ReadFile(s.fs, name)
		if err == nil && string(told) != string(content) {
			what = fmt.Sprintf("%s holds %d bytes, and %d that are not the same by the operations", real, len(content), len(told))
		}
		return err
	})
	if err != nil || what != "" {
		return what, err
	}
	err = afero.Walk(s.fs, s.dir, func(name string, _ fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == s.dir {
			return nil
		}
		if err == nil && !seen[name] && what == "" {
			what = name + " is not there, and no operation has removed it"
		}
		return err
	})
	return what, err
}
