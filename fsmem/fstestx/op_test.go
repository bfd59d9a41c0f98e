package fstestx_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sinklab/fsmem"
	"sinklab/fsmem/fstestx"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// seeded returns a program of n operations that depends on the seed only.
func seeded(seed uint64, n int) fstestx.Program {
	r := rand.New(rand.NewPCG(seed, 1))
	p := make(fstestx.Program, n)
	for i := range p {
		p[i] = fstestx.DrawOp(r.IntN)
	}
	return p
}

func TestEveryMethodHasExactlyOneKind(t *testing.T) {
	// What a method is called where its verb is not its name.
	verbs := map[string]string{
		"LstatIfPossible": "lstat", "SymlinkIfPossible": "symlink", "ReadlinkIfPossible": "readlink", "File.Stat": "fstat",
	}
	want := make(map[string]string)
	for prefix, of := range map[string]reflect.Type{
		"": reflect.TypeFor[afero.Fs](), "Link.": reflect.TypeFor[afero.Symlinker](), "File.": reflect.TypeFor[afero.File](),
	} {
		for i := range of.NumMethod() {
			name := of.Method(i).Name
			if prefix == "" && name == "Name" {
				continue // a name for the file system itself: nothing is promised of it
			}
			verb := strings.ToLower(name)
			for _, key := range []string{name, prefix + name} {
				if v, ok := verbs[key]; ok {
					verb = v
				}
			}
			if other, ok := want[verb]; ok {
				t.Errorf("%s and %s%s have one verb", other, prefix, name)
			}
			want[verb] = prefix + name
		}
	}
	for _, k := range fstestx.Kinds() {
		if _, ok := want[k.String()]; !ok {
			t.Errorf("kind %s is no method", k)
		}
		delete(want, k.String())
	}
	for verb, method := range want {
		t.Errorf("method %s has no kind %s", method, verb)
	}
}

func TestOpsPrintWhatIsParsed(t *testing.T) {
	seen := make(map[fstestx.Kind]bool)
	rapid.Check(t, func(t *rapid.T) {
		program := drawn().Draw(t, "program")
		for _, o := range program {
			seen[o.Kind] = true
		}
		again, err := fstestx.ParseProgram(program.String())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again, program) {
			t.Fatalf("printed\n%sread\n%s", program, again)
		}
	})
	for _, k := range fstestx.Kinds() {
		if !seen[k] {
			t.Errorf("%s is never drawn", k)
		}
	}
}

func TestOpsThatMakeNoSenseAreNotParsed(t *testing.T) {
	for _, line := range []string{
		"", "fly a", "open h0", "open h4 a", "open 0 a", "open h0 a b", "mkdir a 0800", "mkdir a 17777", "openfile h0 a rdwr|swim 0600",
		"openfile h0 a create 0600", "seek h0 x set", "seek h0 0 middle", "read h0 many", `write h0 "abc`, "write h0 a*-1", "write h0 a*99999999",
		"chtimes a 1 x", "chtimes a x 1", "chown a x 1", "chown a 1 x", `write h0 "\z"`,
	} {
		if o, err := fstestx.ParseOp(line); err == nil {
			t.Errorf("%q is read as %s", line, o)
		}
	}
	_, err := fstestx.ParseProgram("# comment\n\nstat a\nfly a\n")
	if err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("error %v does not name line 4", err)
	}
}

func FuzzParseOpReadsWhatItPrints(f *testing.F) {
	for _, o := range seeded(1, 100) {
		f.Add(o.String())
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, err := fstestx.ParseOp(line)
		if err != nil {
			return
		}
		again, err := fstestx.ParseOp(o.String())
		if err != nil || again != o {
			t.Fatalf("%q prints as %q, which reads as %q, %v", line, o, again, err)
		}
	})
}

func TestShrinkLeavesOnlyWhatMatters(t *testing.T) {
	program := seeded(3, 80)
	mkdir := fstestx.Op{Kind: fstestx.Mkdir, Name: "x", Perm: 0o700}
	remove := fstestx.Op{Kind: fstestx.Remove, Name: "x"}
	program = slices.Insert(program, 10, mkdir)
	program = slices.Insert(program, 50, remove)
	calls := 0
	got := fstestx.Shrink(program, func(p fstestx.Program) bool {
		calls++
		i := slices.Index(p, mkdir)
		return i >= 0 && slices.Contains(p[i:], remove)
	})
	if want := (fstestx.Program{mkdir, remove}); !slices.Equal(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if calls > 500 {
		t.Errorf("%d calls for 82 operations", calls)
	}
	if same := fstestx.Shrink(program, func(fstestx.Program) bool { return false }); !slices.Equal(same, program) {
		t.Error("a program that does not fail was changed")
	}
}

func TestDifferenceShowsTheProgramUpToIt(t *testing.T) {
	program, err := fstestx.ParseProgram("create h0 a\nwrite h0 \"abc\"\nreadat h0 9 1\nremove a\n")
	if err != nil {
		t.Fatal(err)
	}
	a := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
	b := fstestx.Tree{FS: afero.NewMemMapFs()}
	var d *fstestx.Difference
	if err := fstestx.Compare(a, b, program); !errors.As(err, &d) || d.At != 2 {
		t.Fatalf("got %v, want a difference at operation 2", err)
	}
	const want = "the trees differ:\n\tcreate h0 a\n\twrite h0 \"abc\"\n\treadat h0 9 1\n\t# a: \"bc\" EOF   (EOF)\n\t# b: \"bc\"\n"
	if !strings.HasPrefix(d.Error(), want) {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
	again, err := fstestx.ParseProgram(strings.TrimPrefix(d.Error(), "the trees differ:\n"))
	if err != nil || !slices.Equal(again, program[:3]) {
		t.Errorf("the message cannot be replayed: %v, %v", again, err)
	}
}

// What is left at the end is compared too.
func TestDifferenceInWhatIsLeft(t *testing.T) {
	program, err := fstestx.ParseProgram("openfile h0 a wronly|create 0640\n")
	if err != nil {
		t.Fatal(err)
	}
	a := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
	b := fstestx.Tree{FS: fsmem.New(fsmem.Options{Umask: 0o077})}
	var d *fstestx.Difference
	if err := fstestx.Compare(a, b, program); !errors.As(err, &d) || d.At != 1 ||
		d.A != `a: file a size=0 mode=0640 mtime=now ""` || d.B != `a: file a size=0 mode=0600 mtime=now ""` {
		t.Errorf("got %v", err)
	}
}

// A tree that holds something may be a disk given by mistake.
func TestNothingIsDoneToATreeThatIsNotEmpty(t *testing.T) {
	full := fsmem.New(fsmem.Options{})
	if err := afero.WriteFile(full, "/precious", []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := full.VisibleGeneration()
	tree := fstestx.Tree{FS: full}
	err := fstestx.TestFS(func() fstestx.Tree { return tree }, fstestx.Options{})
	for _, v := range fstestx.Violations(err) {
		if !strings.Contains(v.Error(), "is not empty: it has precious") {
			t.Errorf("%v", v)
		}
	}
	if len(fstestx.Violations(err)) < 100 {
		t.Errorf("got %v", err)
	}
	empty := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
	for _, err := range []error{fstestx.Compare(tree, empty, seeded(1, 9)), fstestx.Compare(empty, tree, seeded(1, 9))} {
		if err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("Compare: %v", err)
		}
	}
	if full.VisibleGeneration() != before {
		t.Error("the tree was changed")
	}
}

func TestOperationsOutOfRangeAreAnError(t *testing.T) {
	for _, o := range []fstestx.Op{
		{Kind: 200}, {Kind: fstestx.Read, Handle: -1}, {Kind: fstestx.Open, Handle: fstestx.Slots},
		{Kind: fstestx.Read, Count: 1 << 40}, {Kind: fstestx.Truncate, Off: 1 << 40},
	} {
		var d *fstestx.Difference
		tree := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
		if err := fstestx.Compare(tree, tree, fstestx.Program{o}); err == nil || errors.As(err, &d) {
			t.Errorf("%v: got %v", o, err)
		}
		_ = o.String() // any value has a text form
	}
}

func TestPanicIsADifference(t *testing.T) {
	program, err := fstestx.ParseProgram("create h0 a\nwrite h0 \"abc\"\nreadat h0 1 -1\n")
	if err != nil {
		t.Fatal(err)
	}
	a := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
	b := fstestx.Tree{FS: afero.NewMemMapFs()}
	if err := fstestx.Compare(a, b, program); err == nil || !strings.Contains(err.Error(), "b: panic: ") {
		t.Errorf("got %v, want the panic of b", err)
	}
}

func TestViolationNamesItsRule(t *testing.T) {
	err := fstestx.TestFS(func() fstestx.Tree { return fstestx.Tree{FS: afero.NewMemMapFs()} }, fstestx.Options{Skip: skipMemMapFs})
	var v *fstestx.Violation
	if !errors.As(err, &v) {
		t.Fatalf("no violation in %v", err)
	}
	for _, part := range []string{v.Rule.Name, v.Rule.Text, v.Rule.Source, v.Rule.Place, v.Problems[0].Place, v.Problems[0].Text[:5]} {
		if part == "" || !strings.Contains(v.Error(), part) {
			t.Errorf("%q is not in the message:\n%v", part, v)
		}
	}
}

func TestUnknownRuleToSkipIsAnError(t *testing.T) {
	called := false
	err := fstestx.TestFS(func() fstestx.Tree { called = true; return fstestx.Tree{} }, fstestx.Options{Skip: []string{"no/such"}})
	if err == nil || called || fstestx.Violations(err) != nil {
		t.Errorf("got %v", err)
	}
}
