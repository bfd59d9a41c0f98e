package fstestx_test

import (
	"errors"
	"flag"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sinklab/fsmem"
	"sinklab/fsmem/fstestx"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// programs is the number of random programs of a plain go test; -rapid.checks
// or RAPID_CHECKS (with -count=1) raise it. TMPDIR chooses the file system that
// is the standard: ext4 makes directories slowly, tmpfs (/dev/shm) plays 1,000
// programs in a second.
const programs = 1000

// trees makes pairs of empty trees, one in memory and one on disk. Both lie
// three directories deep, so that a program which climbs finds the same above.
type trees struct {
	disk string // a temporary directory
	root string // where the current tree on disk lies; "" to make another
	n    int
}

const inside = "/x/y/z"

func (p *trees) next() (memory, disk fstestx.Tree, err error) {
	m := fsmem.New(fsmem.Options{UID: os.Geteuid(), GID: os.Getegid()})
	if err := m.MkdirAll(inside, 0o777); err != nil {
		return memory, disk, err
	}
	if p.root == "" {
		p.n++
		p.root = filepath.Join(p.disk, strconv.Itoa(p.n))
		if err := os.MkdirAll(p.root+inside, 0o777); err != nil {
			return memory, disk, err
		}
	}
	return fstestx.Tree{FS: m, Dir: inside}, fstestx.Tree{FS: afero.NewOsFs(), Dir: p.root + inside}, nil
}

// clean empties the tree on disk. Making directories takes most of the time
// of a program, so the tree is used again if nothing is left of the program.
func (p *trees) clean() {
	again := emptied(p.root+inside) && only(p.root+"/x/y", "z") && only(p.root+"/x", "y") && only(p.root, "x")
	if !again {
		_ = filepath.WalkDir(p.root, func(name string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(name, 0o700) // a directory without permissions
			}
			return nil
		})
		_ = os.RemoveAll(p.root)
		p.root = ""
	}
}

func emptied(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if os.RemoveAll(filepath.Join(dir, e.Name())) != nil {
			return false
		}
	}
	info, err := os.Stat(dir)
	return err == nil && info.Mode() == fs.ModeDir|0o755 && os.Chtimes(dir, time.Now(), time.Now()) == nil
}

func only(dir, name string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name || !entries[0].IsDir() {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.Mode() == fs.ModeDir|0o755
}

func (p *trees) compare(program fstestx.Program) error {
	memory, disk, err := p.next()
	if err != nil {
		return err
	}
	defer p.clean()
	return fstestx.Compare(memory, disk, program)
}

// shrunk returns the difference of a short program that ends in the same way.
func (p *trees) shrunk(program fstestx.Program) error {
	var last error
	end := ""
	fstestx.Shrink(program, func(q fstestx.Program) bool {
		err := p.compare(q)
		if err == nil || end != "" && end != endOf(err) {
			return false // shrinking must not slide to another failure
		}
		last, end = err, endOf(err)
		return true
	})
	return last
}

// endOf says where a program ended.
func endOf(err error) string {
	var d *fstestx.Difference
	if !errors.As(err, &d) {
		return err.Error()
	}
	if d.At == len(d.Program) {
		return "listing"
	}
	return d.Program[d.At].Kind.String()
}

// drawn is a generator of programs.
func drawn() *rapid.Generator[fstestx.Program] {
	op := rapid.Custom(func(t *rapid.T) fstestx.Op {
		// Bits of a Bool are even, which IntRange and SampledFrom are not.
		choose := func(n int) int {
			v := 0
			for range bits.Len(uint(n - 1)) {
				v <<= 1
				if rapid.Bool().Draw(t, "bit") {
					v |= 1
				}
			}
			return v % n
		}
		return fstestx.DrawOp(choose)
	})
	ops := rapid.SliceOfN(op, 30, 60)
	return rapid.Custom(func(t *rapid.T) fstestx.Program {
		begin := preludes[0]
		if rapid.Bool().Draw(t, "begin in a tree") {
			begin = preludes[1]
		}
		return append(begin[:len(begin):len(begin)], ops.Draw(t, "ops")...)
	})
}

// preludes are how programs begin: in an empty tree, or with something in it.
var preludes = []fstestx.Program{nil, {
	{Kind: fstestx.MkdirAll, Name: "d/e", Perm: 0o777},
	{Kind: fstestx.Mkdir, Name: "e", Perm: 0o777},
	{Kind: fstestx.OpenFile, Handle: 0, Name: "d/a", Flag: os.O_RDWR | os.O_CREATE, Perm: 0o666},
	{Kind: fstestx.Write, Handle: 0, Data: "abcdefg"},
	{Kind: fstestx.Create, Handle: 1, Name: "d/b"},
	{Kind: fstestx.Symlink, Name: "d", New: "b"},
	{Kind: fstestx.Open, Handle: 2, Name: "d"},
}}

func TestMemoryAndDiskGiveTheSameResults(t *testing.T) {
	want := checks(t)
	p := trees{disk: t.TempDir()}
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		ran++
		program := drawn().Draw(t, "program")
		if err := p.compare(program); err != nil {
			t.Fatalf("%v\nPut the lines above into %s/programs as a file that says what it is about.", p.shrunk(program), testdata)
		}
	})
	// rapid says OK after fewer programs when a deadline is near.
	if ran < want {
		t.Errorf("%d programs ran, want %d", ran, want)
	}
	t.Logf("%d programs", ran)
}

// checks sets the number of programs, unless the user did, and returns it.
func checks(t *testing.T) int {
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if _, ok := os.LookupEnv("RAPID_CHECKS"); ok {
		asked = true
	}
	set := func(name, value string) {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(before) })
	}
	if !asked {
		set("rapid.checks", strconv.Itoa(programs))
	}
	// A fail file is a bit stream that says nothing once DrawOp has changed;
	// programs as text are what is kept. Shrink does the shrinking.
	set("rapid.nofailfile", "true")
	set("rapid.shrinktime", "0s")
	n, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		n /= 5
	}
	return n
}

func TestRecordedPrograms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata, "programs", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			program, err := fstestx.ParseProgram(string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			p := trees{disk: t.TempDir()}
			if err := p.compare(program); err != nil {
				t.Error(err)
			}
		})
	}
}
