package fsmem

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// script plays lines such as "write /a/x text" and "sync /a"; "fails " in front
// wants an error.
func script(t testing.TB, f *FS, text string) {
	t.Helper()
	sc := bufio.NewScanner(strings.NewReader(text))
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if line == "" {
			continue
		}
		rest, fails := strings.CutPrefix(line, "fails ")
		w := append(strings.Fields(rest), "", "", "")
		var err error
		open := func(flag int, do func(h afero.File) error) {
			var h afero.File
			if h, err = f.OpenFile(w[1], flag, 0o644); err == nil {
				err = do(h)
				h.Close()
			}
		}
		switch w[0] {
		case "mkdir":
			err = f.MkdirAll(w[1], 0o755)
		case "write":
			open(os.O_CREATE|os.O_WRONLY|os.O_APPEND, func(h afero.File) error { _, err := h.WriteString(w[2]); return err })
		case "overwrite":
			open(os.O_WRONLY, func(h afero.File) error { _, err := h.WriteString(w[2]); return err })
		case "sync":
			open(os.O_RDONLY, func(h afero.File) error { return h.Sync() })
		case "rename":
			err = f.Rename(w[1], w[2])
		case "remove":
			err = f.Remove(w[1])
		case "chmod":
			err = f.Chmod(w[1], 0o600)
		case "inject":
			mustInject(t, f.Layer, strings.TrimPrefix(rest, "inject "))
		case "crash":
			s, perr := ParseSurvival(strings.TrimPrefix(rest, "crash "))
			if perr != nil {
				t.Fatal(perr)
			}
			var g *FS
			if g, err = f.Crash(s); err == nil {
				*f = *g
			}
		case "is":
			if got := strings.TrimPrefix(render(f), "/ "); got != strings.TrimPrefix(rest, "is ") {
				t.Fatalf("%s\n got %s", line, got)
			}
		default:
			t.Fatalf("unknown line %q", line)
		}
		if (err != nil) != fails {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

// The scenarios that have cost real programs their data.
func TestDurability(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"closing syncs nothing", `
			write /a text
			sync /
			crash none
			is /a=""`},
		{"a synced file is lost with its name", `
			write /a text
			sync /a
			crash none
			is /`},
		{"file and directory synced", `
			write /a text
			sync /a
			sync /
			crash none
			is /a="text"`},
		{"rename without data leaves an empty file", `
			write /tmp text
			rename /tmp /a
			crash names
			is /a=""`},
		{"an unsynced rename is undone", `
			write /tmp new
			sync /tmp
			write /a old
			sync /a
			sync /
			rename /tmp /a
			crash none
			is /a="old" /tmp="new"`},
		{"a rename across directories is whole in a journal when either is synced", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /d
			sync /
			rename /d/x /e/y
			sync /d
			crash none
			is /d/ /e/ /e/y="1"`},
		{"without a journal both names are left", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /d
			sync /
			rename /d/x /e/y
			sync /e
			crash unordered none
			is /d/ /d/x="1" /e/ /e/y="1"`},
		{"without a journal neither name is left", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /d
			sync /
			rename /d/x /e/y
			sync /d
			crash unordered none
			is /d/ /e/`},
		{"a directory never has two names", `
			mkdir /d/s
			mkdir /e
			write /d/s/f 1
			sync /d/s/f
			sync /d/s
			sync /d
			sync /
			rename /d/s /e/t
			sync /e
			crash unordered none
			is /d/ /e/ /e/t/ /e/t/f="1"`},
		{"new ancestors are lost with all that is in them", `
			mkdir /y/m/d
			write /y/m/d/f 1
			sync /y/m/d/f
			sync /y/m/d
			sync /y/m
			crash none
			is /`},
		{"a removal is pending too", `
			write /a 1
			sync /a
			sync /
			remove /a
			crash none
			is /a="1"
			remove /a
			crash names
			is /`},
		{"size ahead of data", `
			write /a ab
			sync /a
			sync /
			write /a cd
			crash unordered zeros
			is /a="ab\x00\x00"`},
		{"a failed sync marks pages clean", `
			write /a old
			sync /a
			sync /
			write /a new
			inject sync path=/a times=1 error=EIO clean
			fails sync /a
			is /a="oldnew"
			sync /a
			is /a="oldnew"
			crash all
			is /a="old"`},
		{"bytes behind those of a failed sync", `
			write /a old
			sync /a
			sync /
			write /a new
			inject sync path=/a times=1 error=EIO clean
			fails sync /a
			write /a more
			sync /a
			is /a="oldnewmore"
			crash none
			is /a="old\x00\x00\x00more"`},
		{"a failed sync that leaves pages dirty can be tried again", `
			write /a new
			sync /
			inject sync path=/a times=1 error=EIO
			fails sync /a
			sync /a
			crash none
			is /a="new"`},
		{"bytes written again after a failed sync are durable", `
			write /a abcdef
			sync /
			inject sync path=/a times=1 error=EIO clean
			fails sync /a
			overwrite /a XY
			sync /a
			crash none
			is /a="XY\x00\x00\x00\x00"`},
		{"after a failed sync what else is synced commits the size", `
			write /a old
			sync /a
			sync /
			write /a new
			inject sync path=/a times=1 error=EIO clean
			fails sync /a
			chmod /a
			sync /a
			crash none
			is /a="old\x00\x00\x00"`},
		{"after a failed sync a sync of nothing new leaves the old size", `
			write /a old
			sync /a
			sync /
			write /a new
			inject sync path=/a times=1 error=EIO clean
			fails sync /a
			sync /a
			is /a="oldnew"
			crash none
			is /a="old"`},
		{"a failed sync of the old directory leaves both names", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /d
			sync /
			rename /d/x /e/y
			inject sync path=/d times=1 error=EIO clean
			fails sync /d
			sync /e
			sync /d
			is /d/ /e/ /e/y="1"
			crash ordered none
			is /d/ /d/x="1" /e/ /e/y="1"`},
		{"a failed sync of the new directory leaves neither name", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /d
			sync /
			rename /d/x /e/y
			inject sync path=/e times=1 error=EIO clean
			fails sync /e
			sync /d
			sync /e
			is /d/ /e/ /e/y="1"
			crash ordered all
			is /d/ /e/`},
		{"a failed sync of a directory", `
			write /a 1
			sync /a
			inject sync path=/ times=1 error=EIO clean
			fails sync /
			is /a="1"
			sync /
			crash all
			is /`},
		{"a journal drops a rename of which a failed sync has lost a half", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /d
			sync /
			rename /d/x /e/y
			inject sync path=/d error=EIO clean
			fails sync /d
			crash all
			is /d/ /d/x="1" /e/`},
		{"a directory removed for good commits no rename out of it", `
			mkdir /d
			mkdir /e
			write /d/x 1
			sync /d/x
			sync /
			rename /d/x /e/y
			remove /d
			sync /
			crash none
			is /e/`},
		{"a file made again under the same name", `
			write /a 1
			sync /a
			sync /
			remove /a
			write /a 2
			crash none
			is /a="1"
			remove /a
			write /a 2
			sync /a
			sync /
			crash none
			is /a="2"`},
		{"changes in a removed directory", `
			mkdir /d
			sync /
			write /d/f 1
			remove /d/f
			remove /d
			sync /
			is /`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Options{})
			script(t, f, c.text)
			if f.core.pending.first != nil && strings.Contains(c.name, "removed directory") {
				t.Error("a change is pending for ever")
			}
		})
	}
}

// A directory is in one place after any crash, whatever was synced of its moves
// and whatever failed: fsck leaves none with two names, and a walk over one that
// is inside itself would not end.
func TestADirectoryHasOneName(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"moved twice, the last place synced", `
			rename /d/s /e/t
			rename /e/t /f/u
			sync /f`},
		{"moved twice, the place between is gone", `
			rename /d/s /e/t
			rename /e/t /f/u
			remove /e
			sync /
			sync /f`},
		{"failed sync of the old place, then a sync of the new one", `
			rename /d/s /e/t
			inject sync path=/d times=1 error=EIO clean
			fails sync /d
			sync /e`},
		{"sync of the new place, then a failed one of the old", `
			rename /d/s /e/t
			sync /e
			inject sync path=/d times=1 error=EIO clean
			fails sync /d`},
		{"failed sync of both names in one directory, then moved on", `
			rename /e /g
			inject sync path=/ times=1 error=EIO clean
			fails sync /
			rename /g /h
			sync /`},
		{"into what was in it", `
			rename /d/s /u
			inject sync path=/d times=1 error=EIO clean
			fails sync /d
			sync /
			rename /d /u/d
			sync /u
			inject sync path=/ times=1 error=EIO clean
			fails sync /`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Options{})
			script(t, f, "mkdir /d/s\nmkdir /e\nmkdir /f\nsync /d\nsync /\n"+c.text)
			for _, m := range []Model{Ordered, Unordered} {
				o, err := f.Outcomes(m)
				if err != nil || o.Len() == 0 {
					t.Fatal(m, err, o)
				}
				legal := map[string]bool{}
				for _, g := range o.All() {
					legal[render(g)] = true
				}
				check := func(s Survival) {
					g, err := f.Crash(s)
					if err != nil {
						t.Fatal(s, err)
					}
					g.core.walkLive(g.core.root, "", func(path string, n *inode) bool {
						if at := n.path(); n.isDir() && at != path {
							t.Fatalf("%v: one directory is %s and %s", s, path, at)
						}
						return true
					})
					if got := render(g); !legal[got] {
						t.Errorf("%v: %s is not listed", s, got)
					}
				}
				for _, k := range []Keep{KeepNothing, KeepEverything, KeepNames, KeepData} {
					check(Survival{Model: m, Keep: k})
				}
				for seed := range uint64(10) {
					check(Survival{m, KeepDrawn, seed})
				}
			}
		})
	}
}

func TestOSyncIsDurable(t *testing.T) {
	f := New(Options{})
	h, _ := f.OpenFile("/a", os.O_CREATE|os.O_WRONLY|os.O_SYNC, 0o644)
	script(t, f, "sync /")
	h.Write([]byte("x"))
	script(t, f, "crash none\nis /a=\"x\"")
}

func TestCrashLeavesTheOldOneAlone(t *testing.T) {
	f := New(Options{})
	script(t, f, "write /a one\nsync /a\nsync /\nwrite /a two")
	g, err := f.Crash(Survival{Keep: KeepEverything})
	if err != nil {
		t.Fatal(err)
	}
	script(t, f, "write /a three\nwrite /old 1\nsync /a\nsync /")
	script(t, g, "write /a 3\noverwrite /a ONE\nwrite /new 1\nsync /\nsync /a\ncrash none\nis /a=\"ONEtwo3\" /new=\"\"")
	script(t, f, "is /a=\"onetwothree\" /old=\"1\"\ncrash none\nis /a=\"onetwothree\" /old=\"\"")
	if g == f || f.core == g.core {
		t.Error("crash returned the same file system")
	}
}

// A hook that crashes at every operation, before and after its effect, catches
// clients that forget a sync, and lets a careful one pass.
func TestHookFindsMissingSyncs(t *testing.T) {
	step := func(f *FS, what string) error {
		switch op, path, _ := strings.Cut(what, " "); op {
		case "write":
			h, err := f.Create("/.tmp")
			if err != nil {
				return err
			}
			defer h.Close()
			_, err = h.WriteString("record")
			return err
		case "sync":
			h, err := f.Open(path)
			if err != nil {
				return err
			}
			defer h.Close()
			return h.Sync()
		default:
			return f.Rename("/.tmp", "/final")
		}
	}
	for _, c := range []struct {
		name  string
		steps []string
		safe  bool
	}{
		{"careful", []string{"write", "sync /.tmp", "rename", "sync /"}, true},
		{"no file sync", []string{"write", "rename", "sync /"}, false},
		{"no directory sync", []string{"write", "sync /.tmp", "rename"}, false},
		{"rename first", []string{"write", "rename", "sync /final", "sync /"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := 0
			crashes := 0
			check := func(f *FS, done bool) {
				for _, m := range []Model{Ordered, Unordered} {
					o, err := f.Outcomes(m)
					if err != nil {
						t.Fatal(err)
					}
					for _, g := range o.All() {
						crashes++
						b, err := afero.ReadFile(g, "/final")
						if err == nil && string(b) != "record" || err != nil && done {
							broken++
						}
					}
				}
			}
			f := New(Options{})
			f.Hook(func(Event) { check(f, false) })
			for _, s := range c.steps {
				if err := step(f, s); err != nil {
					t.Fatal(err)
				}
			}
			f.Hook(nil)
			check(f, true)
			if (broken == 0) != c.safe {
				t.Errorf("%d of %d crashes lost the record", broken, crashes)
			}
		})
	}
}

func TestSurvivalText(t *testing.T) {
	for m := range modelNames {
		for k := range keepNames {
			s := Survival{Model: Model(m), Keep: Keep(k)}
			if s.Keep >= KeepIndex {
				s.N = 1<<64 - 1
			}
			got, err := ParseSurvival(s.String())
			if s.Keep == KeepZeros && s.Model == Ordered {
				if err == nil {
					t.Errorf("%v accepted", s)
				}
				if _, err := New(Options{}).Crash(s); !errors.Is(err, ErrSurvival) {
					t.Error(err)
				}
			} else if err != nil || got != s {
				t.Errorf("%v: %v, %v", s, got, err)
			}
		}
	}
	if got, err := ParseSurvival("ordered all"); err != nil || got != (Survival{Keep: KeepEverything}) {
		t.Error(got, err)
	}
	for _, text := range []string{"", "ordered", "some", "all=1", "seed", "seed=", "seed=-1", "index=1 all", "none unordered", "index=99999999999999999999"} {
		if _, err := ParseSurvival(text); err == nil {
			t.Errorf("%q accepted", text)
		}
	}
	f := New(Options{})
	script(t, f, "write /a x")
	for _, s := range []Survival{{Keep: KeepIndex, N: 4}, {Keep: 99}, {Model: 99}} {
		if _, err := f.Crash(s); !errors.Is(err, ErrSurvival) {
			t.Errorf("%v: %v", s, err)
		}
	}
	if _, err := f.Outcomes(99); !errors.Is(err, ErrSurvival) {
		t.Error(err)
	}
	big := New(Options{})
	for i := range 70 {
		script(t, big, fmt.Sprintf("write /%d x", i))
	}
	if _, err := big.Outcomes(Unordered); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

// Longer programs, with directories that move, against the dumb model; the named
// survivals and drawn ones are among the legal states.
func TestOutcomesOfRandomPrograms(t *testing.T) {
	ops := modelOps([]string{"/a", "/b", "/a/x", "/b/x"}, []string{"/"}, true)
	played, steps := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, f := newModel(), New(Options{SectorSize: modelSector})
		program := rapid.SliceOfN(uniform(len(ops)), 50, 50).Draw(t, "program")
		var text []string
		for _, o := range program {
			if len(text) < 9 && ops[o].model(m) {
				m.ops++
				text = append(text, ops[o].text)
				if err := ops[o].real(f); err != nil {
					t.Fatalf("%s: %v", strings.Join(text, "; "), err)
				}
			}
		}
		what := strings.Join(text, "; ")
		for _, mod := range []Model{Ordered, Unordered} {
			raw := 1
			perEntry := map[string]int{}
			for _, h := range m.log {
				if !h.synced {
					perEntry[fmt.Sprint(h.dir, h.name)]++
				}
			}
			for _, n := range perEntry {
				raw *= 1 + n*int(mod)
			}
			for _, x := range m.files {
				raw *= len(x.versions) * (1 + int(mod)*len(x.versions))
			}
			if raw > 20000 {
				return // too many for the model
			}
			compareOutcomes(t, what, m, f, mod, nil)
			want := m.outcomes(mod)
			for k := KeepNothing; k <= KeepDrawn; k++ {
				s := Survival{Model: mod, Keep: k}
				if k == KeepIndex || k == KeepZeros && mod == Ordered {
					continue
				}
				for s.N = range uint64(5) {
					if k != KeepDrawn && s.N > 0 {
						break
					}
					g, err := f.Crash(s)
					if err != nil {
						t.Fatal(err)
					}
					if got := render(g); !want[got] {
						t.Fatalf("%s: %v is not legal: %s", what, s, got)
					} else if k == KeepEverything && got != render(f) {
						t.Fatalf("%s: %v: %s, live %s", what, s, got, render(f))
					}
				}
			}
		}
		played++
		steps += len(text)
	})
	if played < 10 || steps < 4*played {
		t.Errorf("only %d programs with %d operations", played, steps)
	}
}

// uniform draws a number below n. The numbers that rapid draws by itself are
// mostly small.
func uniform(n int) *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		k := 0
		for range 16 {
			k <<= 1
			if rapid.Bool().Draw(t, "bit") {
				k |= 1
			}
		}
		return k % n
	})
}

// drawnCrashes hashes the states of 1,000 drawn crashes.
func drawnCrashes() uint64 {
	f := New(Options{SectorSize: 4})
	for i := range 12 {
		f.Mkdir(fmt.Sprintf("/d%d", i%4), 0o755)
		name := fmt.Sprintf("/d%d/f%d", i%4, i)
		h, _ := f.Create(name)
		h.Write([]byte(strings.Repeat("record ", i)))
		if i%3 == 0 {
			h.Sync()
		}
		h.Write([]byte("more"))
		h.WriteAt([]byte("over"), 3)
		h.Close()
		if i%2 == 0 {
			f.Rename(name, fmt.Sprintf("/d%d/g%d", (i+1)%4, i))
		}
		if i == 6 {
			d, _ := f.Open("/")
			d.Sync()
			d.Close()
		}
	}
	sum := fnv.New64a()
	for seed := range uint64(500) {
		for m := range Model(len(modelNames)) {
			g, err := f.Crash(Survival{m, KeepDrawn, seed})
			if err != nil {
				panic(err)
			}
			io.WriteString(sum, render(g))
		}
	}
	return sum.Sum64()
}

const determinismEnv = "FSMEM_PRINT_DRAWN_CRASHES"

// The same seed makes the same crash, in one process and in another.
func TestSameSeedSameCrash(t *testing.T) {
	want := drawnCrashes()
	if os.Getenv(determinismEnv) != "" {
		fmt.Printf("drawn=%x\n", want)
		return
	}
	if got := drawnCrashes(); got != want {
		t.Errorf("in one process %x and %x", want, got)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestSameSeedSameCrash$")
	cmd.Env = append(os.Environ(), determinismEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("drawn=%x\n", want)) {
		t.Errorf("in another process: %v\n%s\nwant %x", err, out, want)
	}
}

func TestQuota(t *testing.T) {
	f := New(Options{Quota: 10})
	h, _ := f.Create("/a")
	if n, err := h.Write([]byte("0123456789abc")); n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if n, err := h.WriteAt([]byte("XY"), 0); n != 2 || err != nil {
		t.Fatal("overwriting needs no room:", n, err)
	}
	if err := h.Truncate(1 << 40); err != nil {
		t.Fatal("holes need no room:", err)
	}
	f.Remove("/a")
	if u := f.Usage(); u != (Usage{Bytes: 10, Handles: 1}) {
		t.Error("an open file uses its bytes:", u)
	}
	h.Close()
	if u := f.Usage(); u != (Usage{}) {
		t.Error(u)
	}
	script(t, f, "write /b 0123456\nsync /b\nsync /\nfails write /b 89ab\ncrash all\nfails write /c 1\nis /b=\"012345689a\" /c=\"\"")
	f.SetQuota(12)
	script(t, f, "write /c 12")
	if u := f.Usage(); u.Bytes != 12 {
		t.Error(u)
	}
}

func TestOpenFiles(t *testing.T) {
	f := New(Options{OpenFiles: 2})
	a, _ := f.Create("/a")
	f.Create("/b")
	if _, err := f.Open("/a"); !errors.Is(err, syscall.EMFILE) {
		t.Error(err)
	}
	a.Close()
	if _, err := f.Open("/a"); err != nil {
		t.Error(err)
	}
	open := f.OpenHandles()
	if len(open) != 2 || open[0].Path != "/b" || open[1].Path != "/a" {
		t.Fatal(open)
	}
	quiet := New(Options{NoPlaces: true})
	quiet.Create("/c")
	if h := quiet.OpenHandles(); len(h) != 1 || h[0].Path != "/c" || h[0].Place != "" {
		t.Errorf("%+v", h)
	}
	if first, _, _ := strings.Cut(open[0].Place, "\n"); !strings.Contains(first, "fsmem.TestOpenFiles") || !strings.Contains(first, "durable_test.go:") {
		t.Error(open[0])
	}
}

// Equal states have equal fingerprints however and whenever they came about,
// and what a reader can tell apart has others. The exhaustive test looks at the
// bytes and names of all small programs; this one at the rest.
func TestFingerprint(t *testing.T) {
	state := func(text string) uint64 {
		now := time.Unix(int64(len(text)), 0)
		f := New(Options{Now: func() time.Time { return now }})
		script(t, f, text)
		o, err := f.Outcomes(Ordered)
		if err != nil || o.Len() != 1 {
			t.Fatal(text, err)
		}
		if o.Fingerprint(-1) != 0 || o.Fingerprint(1) != 0 || o.Fingerprint(0) == 0 {
			t.Error("of what At refuses it is 0, and of nothing else")
		}
		return o.Fingerprint(0)
	}
	want := state("mkdir /d\nwrite /d/a 12\nsync /d/a\nsync /d\nsync /")
	for _, other := range []string{
		"mkdir /d\nwrite /d/a 1\nwrite /d/a 2\nsync /d/a\nsync /d\nsync /",
		"mkdir /d\nwrite /d/b 92\noverwrite /d/b 1\nsync /d/b\nrename /d/b /d/a\nsync /d\nsync /",
		"write /x 1\nsync /x\nsync /\nremove /x\nmkdir /d\nwrite /d/a 12\nsync /d/a\nsync /d\nsync /",
	} {
		if got := state(other); got != want {
			t.Errorf("same state, other fingerprint: %q", other)
		}
	}
	seen := map[uint64]string{want: "first"}
	for _, other := range []string{
		"sync /",
		"mkdir /d\nsync /",
		"write /d 12\nsync /d\nsync /",
		"mkdir /d\nwrite /d/a 21\nsync /d/a\nsync /d\nsync /",
		"mkdir /d\nwrite /d/b 12\nsync /d/b\nsync /d\nsync /",
		"mkdir /a\nwrite /a/d 12\nsync /a/d\nsync /a\nsync /",
		"mkdir /d\nwrite /a 12\nsync /a\nsync /d\nsync /",
		"mkdir /d\nwrite /d/a 12\nchmod /d/a\nsync /d/a\nsync /d\nsync /",
		"mkdir /d\nwrite /d/a 12\nsync /d/a\nsync /d\nchmod /d\nsync /d\nsync /",
	} {
		got := state(other)
		if was, ok := seen[got]; ok {
			t.Errorf("other state, same fingerprint: %q and %q", other, was)
		}
		seen[got] = other
	}
}

func ExampleFS_Crash() {
	f := New(Options{})
	h, _ := f.Create("/part")
	h.Write([]byte("record"))
	h.Sync()
	h.Close()
	// The directory was not synced, so the name may be lost.
	for _, s := range []string{"none", "names"} {
		survival, _ := ParseSurvival(s)
		after, _ := f.Crash(survival)
		_, err := after.Stat("/part")
		fmt.Println(survival, err)
	}
	// Output:
	// none stat /part: no such file or directory
	// names <nil>
}
