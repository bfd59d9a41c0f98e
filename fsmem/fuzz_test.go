package fsmem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// source deals out arguments from fuzz input; at its end everything is zero.
type source struct{ data []byte }

func (s *source) byte() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b)
}

func (s *source) int() int64 {
	edges := []int64{0, 1, 2, 511, 512, 4095, 16383, 16384, 16385, 100_000, 1 << 40, maxFileSize - 1, maxFileSize, maxFileSize + 1,
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, -1, -2, -100}
	return edges[s.byte()%len(edges)] + int64(s.byte()%4)
}

func (s *source) path() string {
	parts := []string{"", "/", "a", "b", "c", ".", "..", "/a", "/a/b", ".x", "_x", "a/", "//b//", "\x00", "\xff\n ", strings.Repeat("n", 256), strings.Repeat("/a", 2050)}
	p := parts[s.byte()%len(parts)]
	for range s.byte() % 3 {
		p += "/" + parts[s.byte()%len(parts)]
	}
	return p
}

// fuzzCalls makes arbitrary calls until the input ends, and checks after each
// what must always hold.
func fuzzCalls(tb rapid.TB, data []byte) {
	listed := 0
	s := &source{data}
	o := Options{SectorSize: []int{0, 1, 7, 512}[s.byte()%4], OpenFiles: s.byte() % 8, UID: s.byte() % 2}
	if s.byte()%2 == 1 {
		o.Quota = 50_000
	}
	f := New(o)
	var handles []afero.File
	file := func() afero.File {
		if len(handles) == 0 {
			h, err := f.Create("/first")
			if err != nil {
				return nil
			}
			handles = append(handles, h)
		}
		return handles[s.byte()%len(handles)]
	}
	keep := func(h afero.File, err error) {
		if (h == nil) == (err == nil) {
			tb.Fatalf("handle %v with error %v", h, err)
		}
		if h != nil {
			handles = append(handles, h)
		}
	}
	for len(s.data) > 0 {
		switch op := Op(s.byte()) % (opEnd + 6); op {
		case OpCreate:
			keep(f.Create(s.path()))
		case OpOpen:
			keep(f.Open(s.path()))
		case OpOpenFile:
			keep(f.OpenFile(s.path(), int(s.int())^s.byte()<<6^s.byte()<<12, fs.FileMode(s.int())))
		case OpMkdir:
			f.Mkdir(s.path(), fs.FileMode(s.int()))
		case OpMkdirAll:
			f.MkdirAll(s.path(), fs.FileMode(s.int()))
		case OpRemove:
			f.Remove(s.path())
		case OpRemoveAll:
			f.RemoveAll(s.path())
		case OpRename:
			f.Rename(s.path(), s.path())
		case OpStat:
			f.Stat(s.path())
		case OpLstat:
			f.LstatIfPossible(s.path())
		case OpChmod:
			f.Chmod(s.path(), fs.FileMode(s.int()))
		case OpChown:
			f.Chown(s.path(), int(s.int()), int(s.int()))
		case OpChtimes:
			f.Chtimes(s.path(), time.Unix(s.int(), s.int()), time.Time{})
		case OpSymlink:
			f.SymlinkIfPossible(s.path(), s.path())
		case OpReadlink:
			f.ReadlinkIfPossible(s.path())
		case opInvalid, OpName:
			f.Name()
		case opEnd:
			survival := Survival{Model(s.byte() % 3), Keep(s.byte() % 8), uint64(s.int())}
			g, err := f.Crash(survival)
			if errors.Is(err, ErrSurvival) != (err != nil) {
				tb.Fatal(err)
			}
			if err == nil {
				for range g.Visible() {
				}
				g.Usage()
				g.RemoveAll("/")
				if survival.N%2 == 0 {
					f, _ = f.Crash(survival) // and go on with it; old handles stay with the old one
				}
			}
		case opEnd + 1:
			// A listing may look at a quarter of a million states; more than one in an input would
			// count as a hang.
			if listed++; listed > 1 {
				continue
			}
			if o, err := f.Outcomes(Model(s.byte() % 2)); err == nil && o.Len() < 100 {
				for range o.All() {
				}
			}
		case opEnd + 2:
			if r, err := ParseRule([]string{"any p=0.2 seed=3 error=EIO", "sync clean", "writes short=3", "opens after", "reads corrupt"}[s.byte()%5]); err == nil {
				f.ClearFaults()
				f.Inject(r)
			}
		case opEnd + 3:
			f.KeepJournal(s.byte() % 3)
			for _, e := range f.Journal() {
				_ = e.String()
			}
		case opEnd + 4:
			f.SetQuota(s.int())
			f.SetOpenFiles(int(s.int()))
		case opEnd + 5:
			f.VisibleGeneration()
			f.OpenHandles()
		default:
			h := file()
			if h == nil {
				continue
			}
			size := int(min(max(0, s.int()), 40_000))
			switch op {
			case OpClose:
				h.Close()
			case OpRead:
				h.Read(make([]byte, size))
			case OpReadAt:
				h.ReadAt(make([]byte, size), s.int())
			case OpWrite:
				h.Write(make([]byte, size))
			case OpWriteAt:
				h.WriteAt([]byte(strings.Repeat("x", size)), s.int())
			case OpWriteString:
				h.WriteString(strings.Repeat("y", size))
			case OpSeek:
				h.Seek(s.int(), s.byte()-2)
			case OpTruncate:
				h.Truncate(s.int())
			case OpSync:
				h.Sync()
			case OpReaddir:
				h.Readdir(int(s.int()))
			case OpReaddirnames:
				h.Readdirnames(int(s.int()))
			case OpFileStat:
				h.Stat()
			case OpFileName:
				h.Name()
			}
		}
		checkInvariants(tb, f)
	}
}

// checkInvariants compares what is kept up to date with what a walk finds.
func checkInvariants(tb rapid.TB, f *FS) {
	var visible []string
	for path, info := range f.Visible() {
		visible = append(visible, fmt.Sprint(path, info.Size()))
	}
	used := f.Usage().Bytes
	c := f.core
	c.mu.Lock()
	defer c.mu.Unlock()
	var walked []string
	c.walkLive(c.root, "", func(path string, n *inode) bool {
		name := path[strings.LastIndexByte(path, '/')+1:]
		if n.isFile() && !hidden(name) {
			walked = append(walked, fmt.Sprint(path, n.content.size))
			if !n.visible {
				tb.Fatalf("%s is not marked visible", path)
			}
		}
		if n.isDir() && n.count != len(c.names(n)) {
			tb.Fatalf("%s has %d entries, count %d", path, len(c.names(n)), n.count)
		}
		return !hidden(name)
	})
	if len(walked) != len(visible) {
		tb.Fatalf("visible %q, a walk finds %q", visible, walked)
	}
	in := make(map[string]bool)
	for _, v := range walked {
		in[v] = true
	}
	for _, v := range visible {
		if !in[v] {
			tb.Fatalf("visible %q, a walk finds %q", visible, walked)
		}
	}
	known := c.used
	c.used = usage{}
	if counted := c.usedBytes(); counted != used {
		tb.Fatalf("used %d bytes, counted %d", used, counted)
	}
	c.used = known
}

func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01\x07\x00\x15\x05\x00"))
	f.Add([]byte(strings.Repeat("\x01\x02\x03\x04\x08\x0a\x19\x1c", 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2000 {
			return
		}
		fuzzCalls(t, data)
	})
}

// TestNoPanic makes random calls with arbitrary arguments in every test run; the
// fuzz target goes on from here.
func TestNoPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 600).Draw(t, "length")
		seed := rapid.Uint64().Draw(t, "seed")
		data := make([]byte, n)
		for i := range data {
			seed = seed*6364136223846793005 + 1442695040888963407
			data[i] = byte(seed >> 40)
		}
		fuzzCalls(t, data)
	})
}

// TestConcurrent has 16 goroutines do everything at once, for the race detector;
// of those that make one name exactly one succeeds, and nothing gets lost.
func TestConcurrent(t *testing.T) {
	const workers, files = 16, 15
	f := New(Options{Quota: 1 << 30})
	mustInject(t, f.Layer, "stat p=0.5 error=EIO")
	f.KeepJournal(10)
	f.Mkdir("/d", 0o755)
	shared, _ := f.OpenFile("/shared", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for w := range workers {
		wg.Go(func() {
			for i := range files {
				if f.Mkdir(fmt.Sprintf("/once%d", i), 0o755) == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
				tmp, name := fmt.Sprintf("/d/.%d-%d", w, i), fmt.Sprintf("/d/%d-%d", w, i)
				h, err := f.Create(tmp)
				if err != nil {
					t.Error(err)
					return
				}
				h.Write([]byte(name))
				h.Sync()
				shared.Write([]byte("x"))
				shared.ReadAt(make([]byte, 10), 0)
				h.Close()
				if err := f.Rename(tmp, name); err != nil {
					t.Error(err)
				}
				f.Rename(name, "/contended")
				f.Remove("/contended")
				h, _ = f.Create(name)
				h.Close()
				f.Stat(name)
				g, err := f.Crash(Survival{Model(w % 2), KeepDrawn, uint64(i)})
				if err != nil {
					t.Error(err)
					return
				}
				// Old and new write to what they share.
				if h, err := g.OpenFile("/shared", os.O_WRONLY|os.O_APPEND, 0); err == nil {
					h.Write([]byte("y"))
					h.Sync()
					h.Close()
				}
				for range g.Visible() {
				}
				if i%10 == 0 {
					d, _ := f.Open("/d")
					d.Readdir(5)
					d.Sync()
					d.Close()
					f.Usage()
					f.VisibleGeneration()
					f.OpenHandles()
					f.Journal()
				}
			}
		})
	}
	wg.Wait()
	if won != files {
		t.Errorf("%d of %d Mkdir won", won, files)
	}
	b := make([]byte, 2*workers*files)
	if n, err := shared.ReadAt(b, 0); n != workers*files || err != io.EOF {
		t.Error(n, err)
	}
	names, err := afero.ReadDir(f, "/d")
	if err != nil || len(names) != workers*files {
		t.Error(len(names), err)
	}
	if u := f.Usage(); u.Handles != 1 {
		t.Error(f.OpenHandles())
	}
	checkInvariants(t, f)
}

func TestVisible(t *testing.T) {
	f := New(Options{})
	list := func() string {
		var s []string
		for path := range f.Visible() {
			s = append(s, path)
		}
		return strings.Join(s, " ")
	}
	gen := f.VisibleGeneration()
	step := func(changes bool, want, text string) {
		t.Helper()
		script(t, f, text)
		if got := list(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if g := f.VisibleGeneration(); (g != gen) != changes {
			t.Errorf("%s: generation %d, before %d", text, g, gen)
		} else {
			gen = g
		}
	}
	step(false, "", "mkdir /b/.s")
	step(false, "", "write /b/.tmp x")
	step(false, "", "write /b/.s/f x")
	step(false, "", "write /_t x")
	step(true, "/b/f", "rename /b/.tmp /b/f")
	step(true, "/b/f", "write /b/f more")
	step(false, "/b/f", "write /_t more")
	step(true, "/b/f /b/t/f", "rename /b/.s /b/t")
	step(true, "/c/f /c/t/f", "rename /b /c")
	step(true, "", "rename /c /_c")
	step(false, "", "write /_c/f more")
	step(true, "/c/f /c/t/f", "rename /_c /c")
	step(true, "/c/t/f", "remove /c/f")
	step(true, "/c/t/f", "chmod /c/t/f")
	step(false, "/c/t/f", "sync /c")
}

func TestPermissions(t *testing.T) {
	root := New(Options{Umask: NoUmask})
	script(t, root, "mkdir /open\nmkdir /closed\nmkdir /sticky\nwrite /closed/f x\nwrite /sticky/f x\nwrite /open/f x\nsync /open/f")
	root.Chmod("/", 0o755)
	root.Chmod("/open", 0o777)
	root.Chmod("/closed", 0o700)
	root.Chmod("/sticky", 0o777|fs.ModeSticky)
	root.Chmod("/open/f", 0o604)
	f, err := root.Crash(Survival{Keep: KeepEverything})
	if err != nil {
		t.Fatal(err)
	}
	f.SetUser(1000, 1000)
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"walk", second(f.Stat("/closed/f")), fs.ErrPermission},
		{"read", second(f.Open("/open/f")), nil},
		{"write", second(f.OpenFile("/open/f", os.O_WRONLY, 0)), fs.ErrPermission},
		{"truncate", second(f.OpenFile("/open/f", os.O_TRUNC, 0)), fs.ErrPermission},
		{"create in root", second(f.Create("/x")), fs.ErrPermission},
		{"create", second(f.OpenFile("/open/mine", os.O_CREATE|os.O_WRONLY, 0)), nil},
		{"chmod", f.Chmod("/open/f", 0o777), fs.ErrPermission},
		{"chmod mine", f.Chmod("/open/mine", 0o600), nil},
		{"chown mine", f.Chown("/open/mine", 0, 0), fs.ErrPermission},
		{"chtimes", f.Chtimes("/open/f", time.Unix(1, 0), time.Unix(1, 0)), fs.ErrPermission},
		{"remove from sticky", f.Remove("/sticky/f"), fs.ErrPermission},
		{"rename from sticky", f.Rename("/sticky/f", "/open/g"), fs.ErrPermission},
		{"remove", f.Remove("/open/f"), nil},
		{"list", second(f.Open("/closed")), fs.ErrPermission},
		{"remove all", f.RemoveAll("/closed"), fs.ErrPermission},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
