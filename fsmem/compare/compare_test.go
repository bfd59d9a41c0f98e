package compare

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/spf13/afero"

	"sinklab/fsmem"
)

// file is what the benchmarks do with a file.
type file interface {
	io.WriteCloser
	Sync() error
}

// fileSystem is what the benchmarks do with a file system.
type fileSystem interface {
	create(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	syncRoot() error
	// crash returns after a crash that keeps what was synced.
	crash() error
}

type aferoFS struct{ afero.Fs }

func (f aferoFS) create(name string) (file, error) { return f.Fs.Create(name) }
func (f aferoFS) rename(from, to string) error     { return f.Fs.Rename(from, to) }
func (f aferoFS) remove(name string) error         { return f.Fs.Remove(name) }

func (f aferoFS) syncRoot() error {
	d, err := f.Fs.Open("/")
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (f aferoFS) crash() error {
	if f, ok := f.Fs.(*fsmem.FS); ok {
		_, err := f.Crash(fsmem.Survival{})
		return err
	}
	return fmt.Errorf("%s cannot crash", f.Fs.Name())
}

type pebbleFS struct {
	*vfs.MemFS
	root vfs.File
}

func newPebble(fs *vfs.MemFS) fileSystem {
	root, err := fs.OpenDir("/")
	if err != nil {
		return nil
	}
	return &pebbleFS{fs, root}
}

func (f *pebbleFS) create(name string) (file, error) {
	return f.Create(name, vfs.WriteCategoryUnspecified)
}
func (f *pebbleFS) rename(from, to string) error { return f.Rename(from, to) }
func (f *pebbleFS) remove(name string) error     { return f.Remove(name) }
func (f *pebbleFS) syncRoot() error              { return f.root.Sync() }

func (f *pebbleFS) crash() error {
	f.CrashClone(vfs.CrashCloneCfg{RNG: rand.New(rand.NewPCG(1, 1))})
	return nil
}

var fileSystems = []struct {
	name      string
	make      func() fileSystem
	canCrash  bool
	syncsData bool
}{
	{"fsmem", func() fileSystem { return aferoFS{fsmem.New(fsmem.Options{})} }, true, true},
	{"MemMapFs", func() fileSystem { return aferoFS{afero.NewMemMapFs()} }, false, false},
	{"pebbleMem", func() fileSystem { return newPebble(vfs.NewMem()) }, false, false},
	{"pebbleCrashable", func() fileSystem { return newPebble(vfs.NewCrashableMem()) }, true, true},
}

// fileMax is the size at which a file is replaced by a new one, as a rolling
// sink does.
const fileMax = 64 << 20

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 65536} {
		for _, fs := range fileSystems {
			b.Run(fmt.Sprintf("bytes=%d/fs=%s", size, fs.name), func(b *testing.B) {
				fsys := fs.make()
				var f file
				p := make([]byte, size)
				b.SetBytes(int64(size))
				written := fileMax
				for b.Loop() {
					if written+size > fileMax {
						if f != nil {
							f.Close()
							if err := fsys.remove("/part"); err != nil {
								b.Fatal(err)
							}
							fsys.syncRoot()
						}
						var err error
						if f, err = fsys.create("/part"); err != nil {
							b.Fatal(err)
						}
						written = 0
					}
					if _, err := f.Write(p); err != nil {
						b.Fatal(err)
					}
					written += size
				}
			})
		}
	}
}

// BenchmarkAppendGrowing appends to one file that is never replaced.
func BenchmarkAppendGrowing(b *testing.B) {
	for _, fs := range fileSystems {
		b.Run("bytes=100/fs="+fs.name, func(b *testing.B) {
			f, err := fs.make().create("/part")
			if err != nil {
				b.Fatal(err)
			}
			p := make([]byte, 100)
			for b.Loop() {
				if _, err := f.Write(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSync appends to a file of a size and syncs it.
func BenchmarkSync(b *testing.B) {
	for _, size := range []int{1 << 10, 8 << 20} {
		for _, fs := range fileSystems {
			if !fs.syncsData {
				continue
			}
			b.Run(fmt.Sprintf("size=%d/fs=%s", size, fs.name), func(b *testing.B) {
				f, err := fs.make().create("/part")
				if err != nil {
					b.Fatal(err)
				}
				f.Write(make([]byte, size))
				p := make([]byte, 100)
				for b.Loop() {
					f.Write(p)
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRename(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		for _, fs := range fileSystems {
			b.Run(fmt.Sprintf("files=%d/fs=%s", files, fs.name), func(b *testing.B) {
				fsys := fs.make()
				fill(b, fsys, files, 0)
				from, to := "/part-00042", "/part-00042.done"
				for b.Loop() {
					if err := fsys.rename(from, to); err != nil {
						b.Fatal(err)
					}
					from, to = to, from
				}
			})
		}
	}
}

// BenchmarkCrash crashes a file system with 1,000 files, one of which has
// changed since it was synced.
func BenchmarkCrash(b *testing.B) {
	for _, size := range []int{1 << 20, 64 << 20} {
		for _, fs := range fileSystems {
			if !fs.canCrash {
				continue
			}
			b.Run(fmt.Sprintf("size=%d/fs=%s", size, fs.name), func(b *testing.B) {
				fsys := fs.make()
				f := fill(b, fsys, 1000, size)
				for b.Loop() {
					f.Write([]byte("more"))
					if err := fsys.crash(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// fill makes files durable that hold size bytes together, and returns the last.
func fill(b *testing.B, fsys fileSystem, files, size int) (last file) {
	p := make([]byte, size/files)
	for i := range files {
		f, err := fsys.create(fmt.Sprintf("/part-%05d", i))
		if err != nil {
			b.Fatal(err)
		}
		f.Write(p)
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		last = f
	}
	if err := fsys.syncRoot(); err != nil {
		b.Fatal(err)
	}
	return last
}
