package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever makes a side no side is refused, with the line where there is one.
func TestReadRefuses(t *testing.T) {
	const unit = "Unit a assume=exact\nUnit x-a better=lower\n"
	for _, test := range []struct {
		name, text string
		kind       error
		line       int
	}{
		{"an empty file", "", ErrEmpty, 0},
		{"Unit lines alone", unit, ErrEmpty, 0},
		{"no metric that can be judged", "Unit ns/record better=lower\nBenchmarkX 1 2 ns/record 3 ns/op\n", ErrEmpty, 0},
		{"a benchmark that failed in mid-line", unit + "BenchmarkX 1 1 a\nBenchmarkY-2  \t--- FAIL: BenchmarkY-2\n", ErrFailed, 4},
		{"a benchmark that failed", unit + "BenchmarkX 1 1 a\n--- FAIL: BenchmarkY\n", ErrFailed, 4},
		{"a subtest that failed", unit + "BenchmarkX 1 1 a\n    --- FAIL: TestY/z (0.00s)\n", ErrFailed, 4},
		{"a test binary that failed", unit + "BenchmarkX 1 1 a\nFAIL\n", ErrFailed, 4},
		{"a package that failed", unit + "BenchmarkX 1 1 a\nFAIL\tsinklab/bench\t0.1s\n", ErrFailed, 4},
		{"a package that was not built", unit + "BenchmarkX 1 1 a\nFAIL sinklab/bench [build failed]\n", ErrFailed, 4},
		{"a panic", unit + "BenchmarkX 1 1 a\npanic: lost\n", ErrFailed, 4},
		{"a deadlock", unit + "BenchmarkX 1 1 a\nfatal error: all goroutines are asleep - deadlock!\n", ErrFailed, 4},
		{"an exit status", unit + "BenchmarkX 1 1 a\nexit status 2\n", ErrFailed, 4},
		{"a test that was killed", unit + "BenchmarkX 1 1 a\n*** Test killed with quit: ran too long (11m0s).\n", ErrFailed, 4},
		{"a process that was killed", unit + "BenchmarkX 1 1 a\nsignal: killed\n", ErrFailed, 4},
		{"a stack on request", unit + "BenchmarkX 1 1 a\nSIGQUIT: quit\n", ErrFailed, 4},
		{"a last line cut to its name", unit + "BenchmarkX 1 1 a\nBenchmarkY-2", ErrSyntax, 4},
		{"a last line cut within its name", unit + "BenchmarkX/of=1-2 1 1 a\nBenchmarkX/o", ErrSyntax, 4},
		{"a last line cut after a value", unit + "BenchmarkX 1 1 a\nBenchmarkY 1 1 a", ErrSyntax, 4},
		{"a last Unit line cut", "BenchmarkX 1 1 a\nUnit x-a better=lower\nUnit a assume=exact", ErrSyntax, 3},
		{"a name alone at the end", unit + "BenchmarkX 1 1 a\nBenchmarkY-2\n", ErrSyntax, 4},
		{"a name alone, and its result before", unit + "BenchmarkX-2 1 1 a\nBenchmarkX-2\n", ErrSyntax, 4},
		{"a name alone in the middle", unit + "BenchmarkY\nBenchmarkX 1 1 a\n", ErrSyntax, 3},
		{"a line cut off", unit + "BenchmarkX 1 1\n", ErrSyntax, 3},
		{"no iterations", unit + "BenchmarkX 1 1 a\nBenchmarkX-2 a 1\n", ErrSyntax, 4},
		{"a benchmark that died", unit + "BenchmarkX 1 1 a\nBenchmarkY-2   \t\n", ErrSyntax, 4},
		{"a Unit line without =", unit + "Unit b exact\nBenchmarkX 1 1 a\n", ErrSyntax, 3},
		{"two Unit lines that disagree", unit + "Unit a assume=nothing\nBenchmarkX 1 1 a\n", ErrSyntax, 3},
		{"a line too long", unit + "BenchmarkX 1 1 a\n" + strings.Repeat("x", 1<<20), ErrSyntax, 0},
		{"a unit without Unit line", unit + "BenchmarkX 1 1 a 2 b\n", ErrUnit, 0},
		{"a ratio without direction", "Unit x-a least=5%\nBenchmarkX 1 1 x-a\n", ErrUnit, 0},
		{"a misspelt assumption", unit + "Unit b assume=exct\nBenchmarkX 1 1 a\n", ErrUnit, 3},
		{"a misspelt direction", unit + "Unit b better=low\nBenchmarkX 1 1 a\n", ErrUnit, 3},
		{"a misspelt key", unit + "Unit b lest=5%\nBenchmarkX 1 1 a\n", ErrUnit, 3},
		{"a least effect without percent", unit + "Unit x-b least=0.05\nBenchmarkX 1 1 a\n", ErrUnit, 3},
		{"an exact metric with two values", unit + "BenchmarkX 1 1 a\nBenchmarkX 1 2 a\n", ErrValue, 0},
		{"an exact metric that is no number", unit + "BenchmarkX 1 NaN a\n", ErrValue, 0},
		{"a ratio that is no number", unit + "BenchmarkX 1 NaN x-a\n", ErrValue, 0},
		{"a ratio without end", unit + "BenchmarkX 1 +Inf x-a\n", ErrValue, 0},
		{"a ratio of nothing", unit + "BenchmarkX 1 0 x-a\n", ErrValue, 0},
		{"a unit twice in a line", unit + "BenchmarkX 1 1 a 1 a\n", ErrValue, 3},
		{"two packages", unit + "pkg: p\nBenchmarkX 1 1 a\npkg: q\nBenchmarkX 1 1 a\n", ErrMixed, 6},
		{"another configuration", unit + "disk: fast\nBenchmarkX 1 1 a\ndisk: slow\nBenchmarkX 1 1 a\n", ErrMixed, 6},
		{"a configuration of late", unit + "BenchmarkX 1 1 a\ndisk: slow\nBenchmarkX 1 1 a\n", ErrMixed, 5},
		{"two numbers of processors", unit + "BenchmarkX-2 1 1 a\nBenchmarkX-4 1 1 a\n", ErrMixed, 4},
		{"one processor and two", unit + "BenchmarkX 1 1 a\nBenchmarkX-2 1 1 a\n", ErrMixed, 4},
		{"two machines", unit + "cpu: fast\nBenchmarkX 1 1 a\ncpu: slow\nBenchmarkY 1 1 a\n", ErrMixed, 6},
		{"two systems", unit + "goos: linux\nBenchmarkX 1 1 a\ngoos: darwin\nBenchmarkY 1 1 a\n", ErrMixed, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			run, err := Read(strings.NewReader(test.text), "bench.txt")
			var input *InputError
			if run != nil || !errors.Is(err, test.kind) || !errors.As(err, &input) || input.File != "bench.txt" || input.Line != test.line {
				t.Errorf("got %v, line %d; want %v, line %d", err, input.Line, test.kind, test.line)
			}
			if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) != 1 {
				t.Errorf("one mistake gives several errors: %v", err)
			}
		})
	}
}

// What go test prints besides is no mistake.
func TestReadTakes(t *testing.T) {
	const unit = "Unit a assume=exact\n"
	for _, text := range []string{
		unit + "BenchmarkX 1 1 a\n",
		"BenchmarkX 1 1 a\n" + unit, // Unit lines may come last
		unit + unit + "BenchmarkX\nBenchmarkX 1 1 a\n--- BENCH: BenchmarkX\n    x_test.go:1: FAIL is only a word here\nPASS\nok  \tp\t1s\n",
		unit + "BenchmarkX 1 1 a 5 ns/op 3 MB/s 7 B/op 0 allocs/op\n",                                                                     // Go's own need no Unit line
		unit + "pkg: p\nBenchmarkX 1 1 a\npkg: q\nBenchmarkY 1 1 a\n",                                                                     // packages differ, benchmarks too
		unit + "BenchmarkX\nBenchmarkX/of=1\nBenchmarkX/of=1-2 1 1 a\nBenchmarkY\n    y_test.go:1: no disk\n--- SKIP: BenchmarkY\nPASS\n", // go test -v
		unit + "BenchmarkX 1 1 a\nok  \tp\t1s",                                                                                            // an end without a line end that says nothing
		unit + "pkg: p\r\nBenchmarkX 1 1 a\r\npkg: p\nBenchmarkX 1 1 a\n",
	} {
		if _, err := Read(strings.NewReader(text), "bench.txt"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An exact metric that is 0 in nanoseconds has the same unit as one that is not; a reader
// that tidies units to seconds leaves zeros behind.
func TestZeroKeepsItsUnit(t *testing.T) {
	const text = "Unit visible-ns assume=exact\nBenchmarkX 1 0 visible-ns\nBenchmarkY 1 1500 visible-ns\n"
	run := read(t, text)
	if x := run.byName["X"].samples["visible-ns"]; len(x) != 1 || x[0] != 0 {
		t.Error(x)
	}
	if y := run.byName["Y"].samples["visible-ns"]; len(y) != 1 || y[0] != 1500 {
		t.Error(y)
	}
}

// The problems of lines are found in files too that are no side of a comparison.
func TestCheckLines(t *testing.T) {
	if err := CheckLines([]byte("BenchmarkX-2 1 5 ns/op\n"), "f.txt"); err != nil {
		t.Error(err)
	}
	err := CheckLines([]byte("BenchmarkX-2 1 5 ns/op 6 ns/op\nexit status 2\nBenchmarkX-2 1\nBenchmarkX"), "f.txt")
	want := `f.txt:1: impossible value: BenchmarkX has ns/op twice in one line
f.txt:2: the run failed: "exit status 2"; a run that failed is no result, whatever else it measured
f.txt:3: not a benchmark line: missing measurements
f.txt:4: not a benchmark line: the file ends within this line; go test ends every line`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// An error of the reader is told as it is.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Read(iotest.ErrReader(broken), "bench.txt"); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Of many problems the first ten are told, and how many more there are.
func TestReadTellsTheFirstProblems(t *testing.T) {
	text := ""
	for i := range 13 {
		text += fmt.Sprintf("BenchmarkX%d nothing\n", i)
	}
	_, err := Read(strings.NewReader(text), "bench.txt")
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || !strings.HasPrefix(lines[0], "bench.txt:1: ") || lines[10] != "bench.txt: and 3 more problems" {
		t.Errorf("%d lines: %v", len(lines), err)
	}
}
