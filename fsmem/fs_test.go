package fsmem

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"
)

func TestIOFSConforms(t *testing.T) {
	f := New(Options{})
	for _, dir := range []string{"/a", "/a/b", "/c"} {
		if err := f.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"/x", "/a/y", "/a/b/z"} {
		if err := afero.WriteFile(f, name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := fstest.TestFS(afero.NewIOFS(f), "x", "a/y", "a/b/z", "c"); err != nil {
		t.Error(err)
	}
}

// TestContentAgainstSlice writes at many places and compares with a plain slice.
func TestContentAgainstSlice(t *testing.T) {
	seed := uint64(1)
	rnd := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	for round := range 60 {
		c := newContent(extent{})
		var want []byte
		type snap struct {
			e    extent
			want string
		}
		var snaps []snap
		for range 60 {
			switch rnd(6) {
			case 0, 1: // append
				p := make([]byte, 1+rnd(9000))
				for i := range p {
					p[i] = byte(rnd(255) + 1)
				}
				c.writeAt(p, c.size)
				want = append(want, p...)
			case 2:
				off := rnd(70000)
				p := make([]byte, 1+rnd(25000))
				for i := range p {
					p[i] = byte(rnd(255) + 1)
				}
				c.writeAt(p, int64(off))
				for len(want) < off+len(p) {
					want = append(want, 0)
				}
				copy(want[off:], p)
			case 3:
				n := rnd(70000)
				c.truncate(int64(n))
				for len(want) < n {
					want = append(want, 0)
				}
				want = want[:n]
			case 4:
				snaps = append(snaps, snap{c.snapshot(), string(want)})
			case 5: // another lineage on the same chunks
				if len(snaps) > 0 {
					s := snaps[rnd(len(snaps))]
					d := newContent(s.e)
					d.truncate(int64(rnd(70000)))
					d.writeAt([]byte("other"), d.size)
					d.writeAt([]byte("other"), int64(rnd(70000)))
					d.truncate(int64(rnd(70000)))
				}
			}
			check := func(e *extent, want string, what string) {
				got := make([]byte, len(want)+1)
				if n := e.readAt(got, 0); n != len(want) || string(got[:n]) != want || e.size != int64(len(want)) {
					t.Fatalf("round %d: %s differs", round, what)
				}
				used := int64(0)
				e.each(0, func(_ uint64, c chunk) { used += int64(len(c.data)) })
				if used != e.used {
					t.Fatalf("round %d: %s: used %d, counted %d", round, what, e.used, used)
				}
			}
			check(&c.extent, string(want), "live")
			for i, s := range snaps {
				check(&s.e, s.want, fmt.Sprint("snapshot ", i))
			}
		}
	}
}

func TestSparse(t *testing.T) {
	f := New(Options{})
	h, _ := f.Create("/x")
	if _, err := h.WriteAt([]byte("end"), 1<<43); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 5)
	if n, err := h.ReadAt(p, 1<<43-1); n != 4 || err != io.EOF || string(p[:4]) != "\x00end" {
		t.Fatal(n, err, p)
	}
	if err := h.Truncate(1 << 42); err != nil {
		t.Fatal(err)
	}
	if _, err := f.OpenFile("/x", os.O_RDWR|os.O_EXCL|os.O_CREATE, 0); !os.IsExist(err) {
		t.Fatal(err)
	}
	if _, err := f.Stat("/x/y"); err == nil {
		t.Fatal(err)
	}
	var _ fs.FileInfo
}
