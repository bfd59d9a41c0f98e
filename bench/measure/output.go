package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrOutput: results cannot be written where a side has them, or two sides have them in one
// file. Nothing was measured; name another file.
var ErrOutput = errors.New("results cannot be written")

// output is a file to be replaced, with the one beside it that will take its place.
type output struct {
	path string
	temp *os.File
	made []string // directories that were made for it, the inner ones last
}

// outputs are those of all sides.
type outputs []*output

// reserve makes the files that are going to replace those of the sides, so that a place where
// nothing can be written is found before anything is measured. The caller calls discard in
// the end.
func reserve(sides []Side) (outputs, error) {
	var all outputs
	for i, side := range sides {
		for _, other := range sides[:i] {
			same, err := sameFile(side.Out, other.Out)
			if err == nil && same {
				err = fmt.Errorf("%w: %s and %s are the same file", ErrOutput, other.Out, side.Out)
			}
			if err != nil {
				all.discard()
				return nil, err
			}
		}
		o, err := open(side.Out)
		if err != nil {
			all.discard()
			return nil, fmt.Errorf("%w: %w", ErrOutput, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// open makes the file beside a path.
func open(path string) (*output, error) {
	switch info, err := os.Stat(path); {
	case path == "" || os.IsPathSeparator(path[len(path)-1]):
		return nil, fmt.Errorf("%q is no name of a file", path)
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	o := &output{path: path}
	dir := filepath.Dir(path)
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		o.made = append([]string{d}, o.made...)
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		o.temp, err = os.CreateTemp(dir, filepath.Base(path)+".*")
	}
	if err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

// write fills the files beside, all of them, and only then gives each its name.
func (all outputs) write(contents [][]byte) error {
	for i, o := range all {
		_, err := o.temp.Write(contents[i])
		err = errors.Join(err, o.temp.Chmod(0o644))
		if err = errors.Join(err, o.temp.Close()); err != nil {
			return err
		}
	}
	for _, o := range all {
		if err := os.Rename(o.temp.Name(), o.path); err != nil {
			return err
		}
		o.temp, o.made = nil, nil
	}
	return nil
}

// discard takes away what was made and did not get a name.
func (all outputs) discard() {
	for i := len(all) - 1; i >= 0; i-- {
		all[i].discard()
	}
}

func (o *output) discard() {
	if o.temp != nil {
		_ = o.temp.Close() // it may be closed
		_ = os.Remove(o.temp.Name())
	}
	for i := len(o.made) - 1; i >= 0; i-- {
		_ = os.Remove(o.made[i]) // it stays if somebody else has put something there
	}
}

// sameFile tells whether two paths lead to one file, be it there or not yet.
func sameFile(a, b string) (bool, error) {
	one, err := resolved(a)
	if err != nil {
		return false, err
	}
	other, err := resolved(b)
	if err != nil || one == other {
		return err == nil, err
	}
	first, err := os.Stat(one)
	if err != nil {
		return false, nil
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second), nil
}

// resolved is an absolute path without links, as far as it exists.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	const most = 100 // of links that lead to nothing yet, so that a ring of them ends
	for range most {
		rest := ""
		for at := path; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
			if whole, err := filepath.EvalSymlinks(at); err == nil {
				return filepath.Join(whole, rest), nil
			}
			if target, err := os.Readlink(at); err == nil { // leads to what is not there yet
				if !filepath.IsAbs(target) {
					target = filepath.Join(filepath.Dir(at), target)
				}
				path = filepath.Join(target, rest)
				break
			}
			if at == filepath.Dir(at) {
				return path, nil
			}
		}
	}
	return path, nil
}
