package fsmem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// TestEveryMethodIsOneOp enumerates the methods of the interfaces, so that none
// is forgotten, and calls each to see the kind that the hook gets.
func TestEveryMethodIsOneOp(t *testing.T) {
	methods := map[string]Op{}
	for op := opInvalid + 1; op < opEnd; op++ {
		m := opTable[op].method
		if m == "" || methods[m] != opInvalid {
			t.Errorf("%v: method %q is missing or not unique", op, m)
		}
		methods[m] = op
	}
	count := 0
	for _, i := range []struct {
		name string
		typ  reflect.Type
	}{
		{"Fs", reflect.TypeFor[afero.Fs]()},
		{"File", reflect.TypeFor[afero.File]()},
		{"Symlinker", reflect.TypeFor[afero.Symlinker]()},
	} {
		for m := range i.typ.Methods() {
			count++
			name := i.name + "." + m.Name
			want, ok := methods[name]
			if !ok {
				t.Errorf("no kind of operation for %s", name)
				continue
			}
			f := New(Options{})
			target := reflect.ValueOf(f)
			if i.name == "File" {
				h, err := f.Create("/x")
				if err != nil {
					t.Fatal(err)
				}
				target = reflect.ValueOf(h)
			}
			var got []string
			f.Hook(func(e Event) { got = append(got, fmt.Sprint(e.Op, " ", e.Done)) })
			method := target.MethodByName(m.Name)
			args := make([]reflect.Value, method.Type().NumIn())
			for k := range args {
				args[k] = reflect.New(method.Type().In(k)).Elem()
			}
			method.Call(args)
			expect := []string{want.String() + " false", want.String() + " true"}
			if !canFail.Has(want) {
				expect = nil
			}
			if !reflect.DeepEqual(got, expect) {
				t.Errorf("%s: hook saw %v, want %v", name, got, expect)
			}

			// And a rule for it is felt, before the effect and after it.
			if canFail.Has(want) {
				for _, after := range []bool{false, true} {
					f.Hook(nil)
					f.ClearFaults()
					fault, err := f.Inject(Rule{Ops: OpsOf(want), After: after, Err: syscall.EIO})
					if err != nil {
						t.Fatal(err)
					}
					if m.Name == "Close" && after {
						h, _ := f.Create("/y")
						method = reflect.ValueOf(h).MethodByName(m.Name)
					}
					res := method.Call(args)
					err, _ = res[len(res)-1].Interface().(error)
					if fault.Fired() != 1 || err == nil || !after && !errors.Is(err, syscall.EIO) {
						t.Errorf("%s: after=%v: fired %d, error %v", name, after, fault.Fired(), err)
					}
				}
			}
		}
	}
	if count != len(methods) {
		t.Errorf("%d methods, %d kinds", count, len(methods))
	}
}

func drawRule(t *rapid.T) Rule {
	r := Rule{
		Ops:   Ops(rapid.Uint64Range(0, 1<<opEnd-1).Draw(t, "ops")) & canFail,
		Path:  rapid.SampledFrom([]string{"", "*", "/a/**", "*/part-*", "x=y", "[a-c]?"}).Draw(t, "path"),
		Times: rapid.Uint64Range(0, 3).Draw(t, "times"),
		After: rapid.Bool().Draw(t, "after"),
		Clean: rapid.Bool().Draw(t, "clean"),
		Stall: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "stall")),
		Prob:  rapid.SampledFrom([]float64{0, 0.5, 1, 1e-9, 1.0 / 3}).Draw(t, "p"),
	}
	if rapid.Bool().Draw(t, "one group") {
		r.Ops = rapid.SampledFrom([]Ops{0, 1 << OpSync, 1 << OpRead, 1<<OpWrite | 1<<OpWriteAt | 1<<OpWriteString}).Draw(t, "group")
	}
	r.Nth = rapid.Uint64Range(0, 3).Draw(t, "nth")
	r.Every = rapid.Uint64Range(0, 3).Draw(t, "every")
	r.Seed = rapid.Uint64().Draw(t, "seed")
	r.Short = rapid.IntRange(0, 9).Draw(t, "short")
	r.Corrupt = rapid.Bool().Draw(t, "corrupt")
	if i := rapid.IntRange(-1, len(errnos)-1).Draw(t, "error"); i >= 0 {
		r.Err = errnos[i].errno
	}
	return r
}

// A rule that is accepted is parsed from its own text, and one that is refused
// is refused as text too.
func TestRuleRoundTrip(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 50 {
			r := drawRule(t)
			err := r.validate()
			got, parseErr := ParseRule(r.String())
			if (err == nil) != (parseErr == nil) {
				t.Fatalf("%v: validate %v, parse %v", r, err, parseErr)
			}
			if err == nil {
				accepted++
				if got != r {
					t.Fatalf("%#v\nparsed from its text is\n%#v", r, got)
				}
			}
		}
	})
	if accepted < 10 {
		t.Errorf("only %d rules accepted", accepted)
	}
	for _, text := range []string{
		"any",
		"rename path=*/part-* nth=3 error=EIO after",
		"writes path=/out/** every=10 short=7 error=ENOSPC",
		"sync error=EIO clean",
		"reads p=0.01 seed=7 corrupt",
		"any stall=2s",
		"opens,rename,close times=1 error=EINTR",
	} {
		r, err := ParseRule(text)
		if err != nil || r.String() != text {
			t.Errorf("%q: %v, %v", text, r, err)
		}
		if _, err := New(Options{}).Inject(r); err != nil {
			t.Error(err)
		}
	}
}

func TestRuleErrors(t *testing.T) {
	for _, text := range []string{
		"", " ", "frob", "rename,frob", "any,read", "name", "filename", "rename nth=0x", "rename nth=", "rename nth",
		"rename nth=1 nth=2", "rename nth=1 every=2", "rename error=EWHAT", "rename after=1", "rename short=1",
		"read short=1 error=EIO", "writes short=1 after", "write corrupt", "reads corrupt error=EIO", "rename clean",
		"sync clean after", "read stall=1s after", "rename p=2", "rename p=NaN", "rename seed=1", "rename stall=-1s",
		"write short=-1", "rename path=[", "rename frob=1", "sync stall=1s clean",
	} {
		_, err := ParseRule(text)
		var e *RuleError
		if !errors.As(err, &e) || e.Rule != text {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"", "/a", true}, {"*", "/a/b", true}, {"b", "/a/b", true}, {"a", "/a/b", false}, {"/a", "/a/b", false},
		{"/*", "/a", true}, {"/*", "/a/b", false}, {"/**", "/a/b", true}, {"/a/**", "/a", true}, {"/a/**/d", "/a/b/c/d", true},
		{"*/part-*", "/out/part-0", true}, {"*/part-*", "/part-0", false}, {"*/part-*", "/x/out/part-0", true},
		{"a?/[b-d]", "ax/c/", true}, {"a/**", "/z/a/b/c", true}, {"**/x", "x", true}, {"/", "/", true}, {"/", "/a", false},
	} {
		if got := globMatch(c.pattern, c.path); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.path, got)
		}
	}
}

func mustInject(t testing.TB, l *Layer, text string) *Fault {
	t.Helper()
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.Inject(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every fault does the same to the file system of this package and to a disk.
func TestFaults(t *testing.T) {
	for _, on := range []string{"fsmem", "disk"} {
		start := func(t *testing.T) (*Layer, string, *time.Duration) {
			slept := new(time.Duration)
			sleep := func(d time.Duration) { *slept += d }
			if on == "fsmem" {
				return New(Options{Sleep: sleep}).Layer, "", slept
			}
			return Wrap(afero.NewOsFs(), WrapOptions{Sleep: sleep}), t.TempDir(), slept
		}
		run := func(name string, f func(t *testing.T, l *Layer, dir string, slept *time.Duration)) {
			t.Run(on+"/"+name, func(t *testing.T) {
				l, dir, slept := start(t)
				f(t, l, dir, slept)
			})
		}
		run("before leaves no effect", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			fault := mustInject(t, l, "mkdir error=EROFS")
			err := l.Mkdir(dir+"/d", 0o755)
			var pe *fs.PathError
			if !errors.As(err, &pe) || pe.Op != "mkdir" || pe.Path != dir+"/d" || pe.Err != syscall.EROFS {
				t.Errorf("%#v", err)
			}
			if _, err := l.Stat(dir + "/d"); !errors.Is(err, fs.ErrNotExist) || fault.Fired() != 1 {
				t.Error(err, fault.Fired())
			}
		})
		run("after is applied all the same", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			afero.WriteFile(l, dir+"/a", nil, 0o644)
			mustInject(t, l, "rename path=b error=EIO after")
			err := l.Rename(dir+"/a", dir+"/b")
			var le *os.LinkError
			if !errors.As(err, &le) || le.Op != "rename" || le.Old != dir+"/a" || le.New != dir+"/b" || le.Err != syscall.EIO {
				t.Errorf("%#v", err)
			}
			if _, err := l.Stat(dir + "/b"); err != nil {
				t.Error(err)
			}
		})
		run("opening fails after without a handle", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			mustInject(t, l, "opens error=EIO after times=1")
			if h, err := l.Create(dir + "/a"); h != nil || !errors.Is(err, syscall.EIO) {
				t.Error(h, err)
			}
			if _, err := l.Stat(dir + "/a"); err != nil {
				t.Error(err)
			}
		})
		run("short writes", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			mustInject(t, l, "writes nth=2 short=3 error=ENOSPC")
			mustInject(t, l, "writestring short=100")
			h, err := l.Create(dir + "/a")
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			h.Write([]byte("first "))
			if n, err := h.Write([]byte("second")); n != 3 || !errors.Is(err, syscall.ENOSPC) {
				t.Error(n, err)
			}
			if n, err := h.WriteString("third"); n != 4 || !errors.Is(err, io.ErrShortWrite) {
				t.Error(n, err)
			}
			if b, _ := afero.ReadFile(l, dir+"/a"); string(b) != "first secthir" {
				t.Errorf("%q", b)
			}
		})
		run("corrupt and short reads", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			afero.WriteFile(l, dir+"/a", []byte("abcdef"), 0o644)
			mustInject(t, l, "readat corrupt")
			mustInject(t, l, "read short=2")
			h, _ := l.Open(dir + "/a")
			defer h.Close()
			p := make([]byte, 6)
			if n, err := h.Read(p); n != 2 || err != nil {
				t.Error(n, err)
			}
			if n, err := h.ReadAt(p, 0); n != 6 || err != nil || string(p) != "`bcdef" {
				t.Errorf("%d %v %q", n, err, p)
			}
		})
		run("stall takes time", func(t *testing.T, l *Layer, dir string, slept *time.Duration) {
			mustInject(t, l, "stat,sync stall=2s")
			if _, err := l.Stat(dir + "/"); err != nil || *slept != 2*time.Second {
				t.Error(err, *slept)
			}
			h, _ := l.Open(dir + "/")
			defer h.Close()
			if err := h.Sync(); err != nil || *slept != 4*time.Second {
				t.Error(err, *slept)
			}
		})
		run("counting", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			hits := func(rule string) string {
				l.ClearFaults()
				f := mustInject(t, l, rule)
				var b strings.Builder
				for range 10 {
					if _, err := l.Stat(dir + "/"); err != nil {
						b.WriteByte('x')
					} else {
						b.WriteByte('.')
					}
				}
				if int(f.Fired()) != strings.Count(b.String(), "x") || f.Matched() != 10 {
					t.Error(rule, f.Fired(), f.Matched())
				}
				return b.String()
			}
			for rule, want := range map[string]string{
				"stat nth=3": "..x.......", "stat every=4": "...x...x..", "stat times=2": "xx........",
				"stat every=2 times=3": ".x.x.x....", "stat": "xxxxxxxxxx",
			} {
				if got := hits(rule); got != want {
					t.Errorf("%s: %s, want %s", rule, got, want)
				}
			}
			a, b, c := hits("stat p=0.5 seed=1"), hits("stat p=0.5 seed=1"), hits("stat p=0.5 seed=2")
			if a != b || a == c || !strings.Contains(a, "x") || !strings.Contains(a, ".") {
				t.Error(a, b, c)
			}
		})
		run("armed later", func(t *testing.T, l *Layer, dir string, _ *time.Duration) {
			f := mustInject(t, l, "stat nth=1")
			f.Disarm()
			if _, err := l.Stat(dir + "/"); err != nil {
				t.Error(err)
			}
			f.Arm()
			if _, err := l.Stat(dir + "/"); err == nil || f.Matched() != 1 {
				t.Error(err, f.Matched())
			}
		})
	}
}

func TestJournal(t *testing.T) {
	f := New(Options{})
	f.KeepJournal(100)
	h, _ := f.OpenFile("/a b", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	h.Write([]byte("abc"))
	h.ReadAt(make([]byte, 5), 1)
	h.Seek(-1, io.SeekEnd)
	h.Truncate(1)
	h.Sync()
	h.Close()
	h.Close()
	mustInject(t, f.Layer, "rename error=EIO after")
	f.Rename("/a b", "/c")
	f.Mkdir("/no/d", 0o1755|fs.ModeSticky)
	f.SymlinkIfPossible("c", "/l")
	f.ReadlinkIfPossible("/l")
	f.Chtimes("/c", time.Time{}, time.Unix(1, 5))
	f.Chown("/c", 1, -1)
	d, _ := f.Open("/")
	d.Readdirnames(-1)
	want := `openfile "/a b" flag=O_RDWR|O_APPEND|O_CREATE perm=0640 = ok
write "/a b" n=3 = 3
readat "/a b" n=5 offset=1 = 2 EOF
seek "/a b" offset=-1 whence=2 = 2
truncate "/a b" size=1 = ok
sync "/a b" = ok
close "/a b" = ok
close "/a b" = closed
rename "/a b" /c = EIO (rename error=EIO after)
mkdir /no/d perm=t0755 = ENOENT
symlink /l c = ok
readlink /l = ok
chtimes /c atime=omit mtime=1970-01-01T00:00:01.000000005Z = ok
chown /c uid=1 gid=-1 = ok
open / = ok
readdirnames / n=-1 = 2
`
	var got strings.Builder
	for i, e := range f.Journal() {
		if e.Seq != uint64(i+1) {
			t.Errorf("event %d has number %d", i+1, e.Seq)
		}
		fmt.Fprintln(&got, e)
	}
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
	f.KeepJournal(2)
	for range 7 {
		f.Stat("/c")
	}
	f.Stat("/l")
	if j := f.Journal(); len(j) != 2 || j[1].Path != "/l" {
		t.Error(j)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Umask: 0o1000}, {UID: -1}, {GID: -1}, {SectorSize: -1}, {Quota: -1}, {OpenFiles: -1}} {
		err := New(o).Mkdir("/d", 0o755)
		var e *OptionError
		if !errors.As(err, &e) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, c := range []struct{ umask, want fs.FileMode }{{0, 0o755}, {0o077, 0o700}, {NoUmask, 0o777}} {
		f := New(Options{Umask: c.umask})
		f.Mkdir("/d", 0o777)
		if info, err := f.Stat("/d"); err != nil || info.Mode().Perm() != c.want {
			t.Error(c, info.Mode(), err)
		}
	}
}
