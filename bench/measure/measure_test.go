package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sinklab/bench/measure"
)

// module makes a module whose benchmarks write their names to a log when they run.
func module(t *testing.T, side, log, body string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module tried\n\ngo 1.26\n",
		"bench/bench_test.go": `package bench

import (
	"os"
	"testing"
)

func run(b *testing.B) {
	log, err := os.OpenFile(` + "`" + log + "`" + `, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	log.WriteString("` + side + ` " + b.Name() + "\n")
	log.Close()
}

func BenchmarkVisible(b *testing.B) { run(b); b.ReportMetric(7, "files/hour") }
func BenchmarkWrite(b *testing.B)   { b.Run("size=1", run); b.Run("size=2", run) }
func TestNothing(t *testing.T)      { t.Fatal("a test was run") }
` + body,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Two sides take turns, what is exact runs once, and the results hold all samples.
func TestRunTakesTurns(t *testing.T) {
	log, out := filepath.Join(t.TempDir(), "log"), t.TempDir()
	a := measure.Side{Dir: module(t, "A", log, ""), Out: filepath.Join(out, "new", "a.txt")}
	b := measure.Side{Dir: module(t, "B", log, ""), Out: filepath.Join(out, "b.txt")}
	var steps []string
	err := measure.Run(context.Background(), []measure.Side{a, b}, measure.Options{Rounds: 2, Progress: func(p measure.Progress) {
		if p.Name == "" {
			steps = append(steps, p.Doing)
		}
		if p.Steps != 8 || p.Step < 1 || p.Step > 8 {
			t.Errorf("step %d of %d, want 1 to 8 of 8", p.Step, p.Steps)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ran, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := "A BenchmarkVisible\nB BenchmarkVisible\n" + strings.Repeat("A BenchmarkWrite/size=1\nA BenchmarkWrite/size=2\nB BenchmarkWrite/size=1\nB BenchmarkWrite/size=2\n", 2)
	if string(ran) != want {
		t.Errorf("ran\n%swant\n%s", ran, want)
	}
	if want := []string{"compile, A", "compile, B", "exact benchmarks, A", "exact benchmarks, B", "round 1 of 2, A", "round 1 of 2, B", "round 2 of 2, A", "round 2 of 2, B"}; !reflect.DeepEqual(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	for _, side := range []measure.Side{a, b} {
		if got := names(t, side.Out); !reflect.DeepEqual(got, []string{"Visible", "Write/size=1", "Write/size=2", "Write/size=1", "Write/size=2"}) {
			t.Errorf("%s has %q", side.Out, got)
		}
	}
}

var line = regexp.MustCompile(`(?m)^Benchmark(\S+?)(-\d+)?\s`)

// names lists the benchmark lines of a file.
func names(t *testing.T, path string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

// A pattern chooses among the top level and below it.
func TestRunOnly(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.txt")
	side := measure.Side{Dir: module(t, "A", filepath.Join(t.TempDir(), "log"), ""), Out: out}
	for only, want := range map[string][]string{"Vis": {"Visible"}, "Write/=2": {"Write/size=2"}, "": {"Visible", "Write/size=1", "Write/size=2"}} {
		if err := measure.Run(context.Background(), []measure.Side{side}, measure.Options{Rounds: 1, Only: only}); err != nil {
			t.Fatal(err)
		}
		if got := names(t, out); !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives %q, want %q", only, got, want)
		}
	}
}

// A run that fails, or has nothing to run, leaves the results of both sides as they were.
func TestRunKeepsTheOldResults(t *testing.T) {
	good := module(t, "A", filepath.Join(t.TempDir(), "log"), "")
	for name, c := range map[string]struct {
		body, only, text string
		want             error
	}{
		"fails":          {body: "func BenchmarkLoses(b *testing.B) { b.Fatal(\"record 7 is lost\") }", text: "record 7 is lost", want: measure.ErrFailed},
		"does not build": {body: "func nix(", text: "expected ')'", want: measure.ErrFailed},
		"no such name":   {only: "Nix", text: "Nix", want: measure.ErrNone},
		"nothing below":  {only: "Write/=3", text: "Write/=3", want: measure.ErrNone},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var sides []measure.Side
			for i, module := range []string{good, module(t, "B", filepath.Join(t.TempDir(), "log"), c.body)} {
				out := filepath.Join(dir, string(rune('a'+i)))
				if err := os.WriteFile(out, []byte("old"), 0o666); err != nil {
					t.Fatal(err)
				}
				sides = append(sides, measure.Side{Dir: module, Out: out})
			}
			err := measure.Run(context.Background(), sides, measure.Options{Rounds: 1, Only: c.only})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.text)
			}
			for _, side := range sides {
				if text, err := os.ReadFile(side.Out); err != nil || string(text) != "old" {
					t.Errorf("%s: %q, %v; want it as it was", side.Out, text, err)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("files left: %v, %v", left, err)
			}
		})
	}
	for _, o := range []measure.Options{{Rounds: -1}, {Only: "("}} {
		if err := measure.Run(context.Background(), nil, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
