package props

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
)

// Cases of the log that are about the file system below the sink. Package
// fsmem/fstestx has many more rules; these are the ones that were bugs.

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listing is every path below the root, in the order of a walk.
func listing(t *testing.T, fsys afero.Fs) (paths []string) {
	t.Helper()
	must(t, afero.Walk(fsys, "/", func(path string, _ fs.FileInfo, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths[1:]
}

// Renaming and removing a directory takes all that is in it and nothing beside it.
func TestPropRegressB83(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	must(t, fsys.MkdirAll("/d/e", 0o777))
	must(t, fsys.Mkdir("/dx", 0o777))
	for _, name := range []string{"/d/f", "/d/e/f", "/dx/f"} {
		put(t, fsys, name, name)
	}
	must(t, fsys.Rename("/d", "/n"))
	if want, got := []string{"/dx", "/dx/f", "/n", "/n/e", "/n/e/f", "/n/f"}, listing(t, fsys); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	must(t, fsys.RemoveAll("/d"))
	if content, err := afero.ReadFile(fsys, "/dx/f"); err != nil || string(content) != "/dx/f" {
		t.Errorf("%q, %v", content, err)
	}
}

// A handle stays with its file and keeps its name when the file is renamed or replaced.
func TestPropRegressB84(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	put(t, fsys, "/target", "old")
	g, err := fsys.Open("/target")
	must(t, err)
	h, err := fsys.Create("/temp")
	must(t, err)
	must(t, fsys.Rename("/temp", "/target"))
	_, err = h.WriteString("new")
	must(t, err)
	if old, err := io.ReadAll(g); err != nil || string(old) != "old" {
		t.Errorf("the handle of the replaced file reads %q, %v", old, err)
	}
	if now, err := afero.ReadFile(fsys, "/target"); err != nil || string(now) != "new" || h.Name() != "/temp" {
		t.Errorf("the renamed file holds %q, %v; the handle's name is %q", now, err, h.Name())
	}
	must(t, fsys.MkdirAll("/full/x", 0o777))
	must(t, fsys.Mkdir("/dir", 0o777))
	if err := fsys.Rename("/dir", "/full"); !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
		t.Errorf("renaming onto a full directory: %v", err)
	}
	must(t, fsys.Rename("/target", "/target"))
}

// Appending goes to the end that there is, and a hole reads as zeros.
func TestPropRegressB85(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	h, err := fsys.OpenFile("/f", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	must(t, err)
	_, err = h.WriteString("12345678901234567")
	must(t, err)
	other, err := fsys.OpenFile("/f", os.O_RDWR, 0)
	must(t, err)
	must(t, other.Truncate(5))
	_, err = h.WriteString("x")
	must(t, err)
	if content, _ := afero.ReadFile(fsys, "/f"); string(content) != "12345x" {
		t.Errorf("after a truncation %q was appended", content)
	}
	_, err = other.Seek(17, io.SeekStart)
	must(t, err)
	must(t, other.Truncate(0))
	_, err = other.WriteString("x")
	must(t, err)
	if content, _ := afero.ReadFile(fsys, "/f"); string(content) != strings.Repeat("\x00", 17)+"x" {
		t.Errorf("the file with a hole is %q", content)
	}
	if n, err := other.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	must(t, other.Truncate(20))
	if content, _ := afero.ReadFile(fsys, "/f"); len(content) != 20 || content[19] != 0 {
		t.Errorf("the longer file is %q", content)
	}
}

// Files made by many goroutines are all there, and a directory is made by one of them.
func TestPropRegressB86(t *testing.T) {
	const goroutines, each = 64, 50
	fsys := fsmem.New(fsmem.Options{})
	must(t, fsys.Mkdir("/d", 0o777))
	var all sync.WaitGroup
	made := make([]bool, goroutines)
	taken := make([]bool, goroutines)
	for i := range goroutines {
		all.Go(func() {
			made[i] = fsys.Mkdir("/once", 0o777) == nil
			f, err := fsys.OpenFile("/taken", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
			if taken[i] = err == nil; err == nil {
				_ = f.Close()
			}
			for n := range each {
				if f, err := fsys.Create(fmt.Sprintf("/d/%d-%d", i, n)); err == nil {
					_, _ = f.WriteString("x")
					_, _ = f.Stat()
					_ = f.Close()
				}
			}
		})
	}
	all.Wait()
	count := func(of []bool) (n int) {
		for _, yes := range of {
			if yes {
				n++
			}
		}
		return n
	}
	if files, err := afero.ReadDir(fsys, "/d"); err != nil || len(files) != goroutines*each {
		t.Errorf("%d files, %v", len(files), err)
	}
	if count(made) != 1 || count(taken) != 1 {
		t.Errorf("%d have made the directory, %d the file", count(made), count(taken))
	}
}

// A listing in pieces gives each entry once while they are removed, and a directory that
// is not empty stays.
func TestPropRegressB87(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	must(t, fsys.Mkdir("/d", 0o777))
	for n := range 10 {
		put(t, fsys, fmt.Sprintf("/d/%d", n), "")
	}
	if err := fsys.Remove("/d"); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("removing a full directory: %v", err)
	}
	d, err := fsys.Open("/d")
	must(t, err)
	var seen []string
	for {
		infos, err := d.Readdir(3)
		if err == io.EOF {
			break
		}
		must(t, err)
		for _, info := range infos {
			seen = append(seen, info.Name())
			must(t, fsys.Remove(path.Join("/d", info.Name())))
		}
	}
	slices.Sort(seen)
	if len(seen) != 10 || len(slices.Compact(seen)) != 10 {
		t.Errorf("seen are %q", seen)
	}
	must(t, fsys.Remove("/d"))
}

// Flags, modes and missing parents have the outcome that the real disk has.
func TestPropRegressB88(t *testing.T) {
	base := t.TempDir()
	real := afero.NewBasePathFs(afero.NewOsFs(), base)
	memory := fsmem.New(fsmem.Options{UID: os.Getuid(), GID: os.Getgid()})
	must(t, memory.MkdirAll(base, 0o777))
	class := func(err error) string {
		for _, e := range []error{fs.ErrExist, fs.ErrNotExist, fs.ErrPermission} {
			if errors.Is(err, e) {
				return e.Error()
			}
		}
		return fmt.Sprint(err != nil)
	}
	n := 0
	for _, parent := range []bool{true, false} {
		for _, exists := range []bool{false, true} {
			for _, mode := range []fs.FileMode{0o644, 0o444, 0o200, 0} {
				for _, access := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR} {
					for _, flags := range []int{0, os.O_CREATE, os.O_EXCL, os.O_CREATE | os.O_EXCL, os.O_TRUNC, os.O_APPEND | os.O_CREATE} {
						if exists && !parent || flags == os.O_EXCL && exists {
							continue // open(2): O_EXCL without O_CREAT is undefined
						}
						n++
						name := fmt.Sprintf("/%d", n)
						if !parent {
							name += "/f"
						}
						try := func(fsys afero.Fs, name string) string {
							if exists {
								put(t, fsys, name, "x")
								must(t, fsys.Chmod(name, mode))
							}
							f, err := fsys.OpenFile(name, access|flags, mode)
							if err != nil {
								return class(err)
							}
							info, statErr := f.Stat()
							must(t, errors.Join(statErr, f.Close()))
							return fmt.Sprint(info.Mode(), info.Size())
						}
						want, got := try(real, name), try(memory, filepath.Join(base, name))
						if want != got {
							t.Errorf("parent %v, exists %v, mode %v, flags %#x: the disk gives %s, fsmem %s", parent, exists, mode, access|flags, want, got)
						}
					}
				}
			}
		}
	}
}

// publish is a client of the file system as the textbooks have it, with one step left
// out or in the wrong place.
func publish(t *testing.T, fsys *fsmem.FS, without string) {
	t.Helper()
	must(t, fsys.Mkdir("/d", 0o777))
	f, err := fsys.Create("/d/temp")
	must(t, err)
	if without == "order" {
		must(t, fsys.Rename("/d/temp", "/d/target"))
	}
	_, err = f.WriteString("whole")
	must(t, err)
	if without != "sync" {
		must(t, f.Sync())
	}
	must(t, f.Close())
	if without != "order" {
		must(t, fsys.Rename("/d/temp", "/d/target"))
	}
	for _, dir := range []string{"/", "/d"} {
		if dir == "/d" && without == "directory" || dir == "/" && without == "parent" {
			continue
		}
		d, err := fsys.Open(dir)
		must(t, err)
		must(t, errors.Join(d.Sync(), d.Close()))
	}
}

// The file system shows what is wrong with a client that leaves out a step, and has
// nothing to say against one that does not: at every moment the target is whole or not
// there, and in the end it is there.
func TestPropRegressB91(t *testing.T) {
	for without, wrong := range map[string]bool{"": false, "sync": true, "directory": true, "parent": true, "order": true} {
		for _, model := range []fsmem.Model{fsmem.Ordered, fsmem.Unordered} {
			fsys := fsmem.New(fsmem.Options{})
			broken := 0
			inspect := func(done bool) {
				outcomes, err := fsys.Outcomes(model)
				must(t, err)
				for _, after := range outcomes.All() {
					content, err := afero.ReadFile(after, "/d/target")
					if err == nil && string(content) != "whole" || err != nil && done {
						broken++
					}
				}
			}
			looking := false
			fsys.Hook(func(e fsmem.Event) {
				if e.Done && !looking {
					looking = true
					inspect(false)
					looking = false
				}
			})
			publish(t, fsys, without)
			fsys.Hook(nil)
			inspect(true)
			if (broken > 0) != wrong {
				t.Errorf("without %q, %v: %d outcomes are wrong", without, model, broken)
			}
		}
	}
}
