package fsmem

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// benchFileMax is the size at which a benchmark goes on with a new file, as a
// rolling sink does, so that a fast file system does not fill the memory in the
// time in which a slow one writes little.
const benchFileMax = 64 << 20

// roller is a file that is replaced when it is full.
type roller struct {
	tb   testing.TB
	fs   afero.Fs
	f    afero.File
	size int
}

func (r *roller) write(p []byte) {
	if r.f == nil || r.size+len(p) > benchFileMax {
		if r.f != nil {
			r.f.Close()
			r.fs.Remove("/part")
			syncDir(r.tb, r.fs, "/")
		}
		f, err := r.fs.Create("/part")
		if err != nil {
			r.tb.Fatal(err)
		}
		r.f, r.size = f, 0
	}
	if _, err := r.f.Write(p); err != nil {
		r.tb.Fatal(err)
	}
	r.size += len(p)
}

func benchFileSystems() []struct {
	name string
	make func() afero.Fs
} {
	return []struct {
		name string
		make func() afero.Fs
	}{
		{"fsmem", func() afero.Fs { return New(Options{}) }},
		{"MemMapFs", afero.NewMemMapFs},
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 4096, 65536} {
		for _, fs := range benchFileSystems() {
			b.Run(fmt.Sprintf("bytes=%d/fs=%s", size, fs.name), func(b *testing.B) {
				r := roller{tb: b, fs: fs.make()}
				p := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					r.write(p)
				}
			})
		}
	}
}

// BenchmarkAppendSync shows that Sync costs no copy: the time does not depend on
// the size of the file. Sync of MemMapFs does nothing.
func BenchmarkAppendSync(b *testing.B) {
	for _, size := range []int{1 << 10, 8 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			f, err := New(Options{}).Create("/part")
			if err != nil {
				b.Fatal(err)
			}
			p := make([]byte, 100)
			f.Write(make([]byte, size))
			b.ReportAllocs()
			for b.Loop() {
				f.Write(p)
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRename(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		for _, fs := range benchFileSystems() {
			b.Run(fmt.Sprintf("files=%d/fs=%s", files, fs.name), func(b *testing.B) {
				f := fs.make()
				f.Mkdir("/d", 0o755)
				for i := range files {
					h, err := f.Create(fmt.Sprintf("/d/part-%05d", i))
					if err != nil {
						b.Fatal(err)
					}
					h.Close()
				}
				syncDir(b, f, "/d")
				syncDir(b, f, "/")
				from, to := "/d/part-00042", "/d/part-00042.done"
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					if err := f.Rename(from, to); err != nil {
						b.Fatal(err)
					}
					from, to = to, from
					if n++; n%4096 == 0 {
						syncDir(b, f, "/d")
					}
				}
			})
		}
	}
}

func syncDir(tb rapid.TB, f afero.Fs, path string) {
	tb.Helper()
	h, err := f.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer h.Close()
	if err := h.Sync(); err != nil {
		tb.Fatal(err)
	}
}

// fill writes files that hold size bytes together, and makes them durable.
func fill(tb testing.TB, f afero.Fs, files, size int) {
	p := make([]byte, size/files)
	for i := range p {
		p[i] = byte(i)
	}
	for i := range files {
		h, err := f.Create(fmt.Sprintf("/part-%05d", i))
		if err != nil {
			tb.Fatal(err)
		}
		h.Write(p)
		h.Sync()
		h.Close()
	}
	syncDir(tb, f, "/")
}

// BenchmarkCrash crashes a file system with 1 GiB in 1,000 files, one of which
// has changed, and looks at that file.
func BenchmarkCrash(b *testing.B) {
	for _, text := range []string{"none", "all", "seed=1"} {
		b.Run("keep="+text, func(b *testing.B) {
			f := New(Options{})
			fill(b, f, 1000, 1<<30)
			h, _ := f.OpenFile("/part-00042", 0x401, 0) // O_WRONLY|O_APPEND
			s, err := ParseSurvival(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				h.Write([]byte("more"))
				g, err := f.Crash(s)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := g.Stat("/part-00042"); err != nil {
					b.Fatal(err)
				}
				h.Sync()
			}
		})
	}
}

// BenchmarkCrashSmall is what a property test does over and over.
func BenchmarkCrashSmall(b *testing.B) {
	f := New(Options{})
	fill(b, f, 10, 1000)
	f.Rename("/part-00001", "/x")
	f.Rename("/part-00002", "/y")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Crash(Survival{Keep: KeepDrawn, N: 7}); err != nil {
			b.Fatal(err)
		}
	}
}
