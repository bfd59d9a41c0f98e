package props

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// scripts reads testdata/regress, by name without ".trace".
func scripts(t *testing.T) (names []string, scenarios map[string][]sim.Scenario) {
	t.Helper()
	files, err := filepath.Glob("../testdata/regress/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	scenarios = map[string][]sim.Scenario{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".trace")
		if scenarios[name], err = sim.Parse(bytes.NewReader(text), Operations()); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		names = append(names, name)
	}
	return names, scenarios
}

// traced is a scenario as a trace with its answers.
func traced(s sim.Scenario) string {
	text, _ := s.AppendText(nil) // it never fails
	return string(text)
}

// Each script gives the answers that are recorded in it, and breaks no rule. One that
// uses no operation of this package gives the same when a plain runner plays it.
func TestPropRegress(t *testing.T) {
	names, all := scripts(t)
	for _, name := range names {
		for _, scenario := range all[name] {
			v, err := Play(scenario, Options{Seed: 1})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if v.Violation != nil {
				t.Errorf("%s: %s: %v", name, scenario.Name, v.Violation)
			}
			if want, got := traced(scenario), traced(v.Played); want != got {
				t.Errorf("%s: want\n%s\ngot\n%s", name, want, got)
			}
			plain := sim.Operations()
			if slices.ContainsFunc(scenario.Steps, func(step sim.Step) bool { return plain[word(step.Operation)] == nil }) {
				continue
			}
			r, err := sim.NewRunner(sim.Options{Fs: fsmem.New(fsmem.Options{}), Random: rand.NewChaCha8([32]byte{2})})
			if err != nil {
				t.Fatal(err)
			}
			if _, played, err := r.Play(scenario); err != nil || traced(played) != traced(scenario) {
				t.Errorf("%s: %v, a plain runner gives\n%s", name, err, traced(played))
			}
		}
	}
}

// word is the name of an operation.
func word(o sim.Operation) string {
	name, _, _ := strings.Cut(o.String(), " ")
	return name
}

// unused are the numbers that the log of bugs has no case for.
var unused = []int{6, 10, 18, 21, 29, 34, 38, 41, 48, 52, 55, 62, 64, 66, 68, 70, 73, 79, 89, 97}

// The table lists every case once, every script and only scripts and tests that there
// are, and each script begins with what the table says of it.
func TestPropRegressCases(t *testing.T) {
	names, all := scripts(t)
	tests := testNames(t)
	byNumber, listed := map[string]Case{}, map[string]bool{}
	for _, c := range Cases {
		if _, twice := byNumber[c.ID]; twice {
			t.Errorf("%s is listed twice", c.ID)
		}
		byNumber[c.ID] = c
		if c.Subject == "" || c.Report == "" {
			t.Errorf("%s has no subject or no report", c.ID)
		}
		if tried := len(c.Scripts)+len(c.Tests) > 0; tried == (c.LeftOut != "") {
			t.Errorf("%s is tried and left out, or neither", c.ID)
		}
		for _, test := range c.Tests {
			if !tests[test] {
				t.Errorf("%s: there is no test %s", c.ID, test)
			}
		}
		for _, script := range c.Scripts {
			listed[script] = true
			if !strings.HasPrefix(script, strings.ToLower(c.ID)+"-") {
				t.Errorf("script %s is not named after %s", script, c.ID)
			}
			if len(all[script]) == 0 {
				t.Errorf("%s: there is no script %s", c.ID, script)
			}
			for _, s := range all[script] {
				if !strings.HasPrefix(s.Name, c.ID+" ") || len(s.Notes) == 0 || s.Notes[0] != c.Report {
					t.Errorf("%s: scenario %q is not headed %q and %q", script, s.Name, "# "+c.ID+" …", "# "+c.Report)
				}
			}
		}
	}
	for _, name := range names {
		if !listed[name] {
			t.Errorf("script %s is not in the table", name)
		}
	}
	last := 0
	for n := 1; n <= 102; n++ {
		c, ok := byNumber[fmt.Sprintf("B%02d", n)]
		if ok == slices.Contains(unused, n) {
			t.Errorf("B%02d is in the table: %v", n, ok)
		}
		if ok {
			if i := slices.IndexFunc(Cases, func(o Case) bool { return o.ID == c.ID }); i != last {
				t.Errorf("%s is out of order", c.ID)
			}
			last++
		}
	}
}

// testNames finds the tests of this package by its source.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// program reads a program from lines.
func program(t testing.TB, lines ...string) sim.Scenario {
	t.Helper()
	scenarios, err := sim.Parse(strings.NewReader(strings.Join(lines, "\n")), Operations())
	if err != nil || len(scenarios) != 1 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	return scenarios[0]
}

// keeps plays a program that must keep all rules and tells whether an operation returned
// an error or crashed.
func keeps(t *testing.T, p sim.Scenario) (disturbed bool) {
	t.Helper()
	v, err := Play(p, Options{Seed: 1})
	if err != nil {
		t.Fatalf("%v\n%s", err, Text(p))
	}
	if v.Violation != nil {
		t.Fatalf("%v\n%s", v.Violation, Text(p))
	}
	return len(v.Failures) > 0
}

// short is a program in which a checkpoint goes wrong in as many ways as there are
// operations of the file system in it.
var short = []string{
	"write a/r1", "checkpoint 1", "complete 1", "write a/r2", "write b/r3", "checkpoint 2", "complete 2",
}

// CrashMonkey and Ace: short programs on an empty file system find most bugs if every
// crash point and every state that a crash can leave is tried.
func TestPropRegressB39(t *testing.T) {
	states := 0
	for _, open := range []string{"open policy=oncheckpoint", "open policy=rolling size=5"} {
		for _, model := range []string{"", "unordered "} {
			for k, crashed := 1, true; crashed; k++ {
				for n := 0; ; n++ {
					p := program(t, append(append([]string{open, fmt.Sprintf("crash %d after", k)}, short...), fmt.Sprintf("powerloss %sindex=%d", model, n), "recover")...)
					v, err := Play(p, Options{Seed: 1})
					if errors.Is(err, fsmem.ErrSurvival) {
						break
					}
					if model != "" && v.Violation != nil && v.Violation.Rule == Durable && strings.Contains(v.Violation.Detail, "neither the pending part") {
						continue // without a journal a rename can lose both names; to say so is all that can be done
					}
					if err != nil || v.Violation != nil {
						t.Fatalf("%v, %v\n%s", err, v.Violation, Text(p))
					}
					states++
					crashed = v.Stats.Crashes > 0
				}
			}
		}
	}
	if states < 500 {
		t.Errorf("only %d states", states)
	}
}

// Every operation of the file system fails once, before its effect, after it, and in
// the middle.
func TestPropRegressB90(t *testing.T) {
	for _, kind := range []string{"any nth=%d error=EIO", "mkdirall,open,write,sync,close,rename nth=%d error=EIO after", "any nth=%d error=EINTR", "write nth=%d short=1 error=ENOSPC", "write nth=%d short=2", "sync nth=%d error=EIO clean"} {
		k := 1
		for keeps(t, program(t, append([]string{"open policy=oncheckpoint parallelism=2", "fault " + fmt.Sprintf(kind, k)}, short...)...)) {
			k++
		}
		if k < 3 {
			t.Errorf("%s: only %d operations failed", kind, k-1)
		}
	}
}

// The same program, drawn from the same seed, gives the same history again and again.
func TestPropRegressB92(t *testing.T) {
	for seed := range 10 {
		p := rapid.Custom(DrawProgram).Example(seed)
		first, err := Play(p, Options{Seed: 7})
		if err != nil {
			t.Fatalf("%v\n%s", err, Text(p))
		}
		want := traced(first.Played)
		for range 20 {
			again := rapid.Custom(DrawProgram).Example(seed)
			v, err := Play(again, Options{Seed: 7})
			if err != nil || traced(v.Played) != want || fmt.Sprint(v.History) != fmt.Sprint(first.History) {
				t.Fatalf("%v: seed %d gives first\n%s\nthen\n%s", err, seed, want, traced(v.Played))
			}
		}
	}
}

// silent makes sinks that publish nothing when told of a completion.
type silent struct{ sim.Core }

func (f silent) New(fsys afero.Fs, random io.Reader, s sim.Settings, now int64) (sim.Sink, error) {
	sink, err := f.Core.New(fsys, random, s, now)
	return silentSink{sink}, err
}

type silentSink struct{ sim.Sink }

func (silentSink) Complete(int64, int) error { return nil }

// A failure is told in words that depend on the program alone, and the program as it is
// printed fails in the same words.
func TestPropRegressB93(t *testing.T) {
	p := program(t, "open policy=oncheckpoint", "write a/r1", "checkpoint 1", "complete 1", "advance 100")
	v, err := Play(p, Options{Seed: 1, Factory: silent{}})
	if err != nil || v.Violation == nil {
		t.Fatalf("%v, %v: a sink that publishes nothing breaks no rule", err, v.Violation)
	}
	again, err := Play(program(t, Text(p)), Options{Seed: 2, Factory: silent{}})
	if err != nil || again.Violation == nil || again.Violation.Error() != v.Violation.Error() || again.Violation.Rule != NoLoss {
		t.Errorf("%v, first %v, then %v", err, v.Violation, again.Violation)
	}
}

// A plain reading of what is visible, by path, a record a line.
func visible(fsys *fsmem.FS) map[string]string {
	files := map[string]string{}
	for path := range fsys.Visible() {
		f, err := fsys.Open(path)
		if err != nil {
			continue // taken away by somebody else in between
		}
		var content bytes.Buffer
		_, _ = content.ReadFrom(f)
		_ = f.Close()
		files[path] = content.String()
	}
	return files
}

// records are all visible records, sorted.
func records(fsys *fsmem.FS) []string {
	var all []string
	for _, content := range visible(fsys) {
		all = append(all, strings.Fields(content)...)
	}
	slices.Sort(all)
	return all
}

// numbered gives the records r00, r01, … from a number up to another.
func numbered(from, to int) (list []string) {
	for n := from; n <= to; n++ {
		list = append(list, fmt.Sprintf("r%02d", n))
	}
	return list
}

// wants fails unless exactly these records are visible, each once.
func wants(t *testing.T, fsys *fsmem.FS, want ...string) {
	t.Helper()
	if got := records(fsys); !slices.Equal(got, want) {
		t.Errorf("visible are %q, want %q", got, want)
	}
}

// config is that of a sink that closes at checkpoints, with the text before the last
// slash as the bucket.
func config() sinkcore.Config[string] {
	return sinkcore.Config[string]{
		Dir: "/sink", Encoder: sinkcore.Line[string]{}, Policy: sinkcore.OnCheckpoint{},
		Assigner: sinkcore.Prefix[string](func(record string) string { return record[:max(strings.LastIndexByte(record, '/'), 0)] }),
	}
}

// attempt is a job that stops the test when something fails that should not.
type attempt struct {
	*sinkcore.Job[string]
	t    *testing.T
	last sinkcore.Checkpoint
}

func random(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func start(t *testing.T, fsys *fsmem.FS, seed byte, c sinkcore.Config[string], parallelism int) *attempt {
	t.Helper()
	job, err := sinkcore.NewJob(fsys, random(seed), c, parallelism, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &attempt{Job: job, t: t}
}

func restore(t *testing.T, fsys *fsmem.FS, seed byte, c sinkcore.Checkpoint) *attempt {
	t.Helper()
	job, _, err := sinkcore.RestoreJob(fsys, random(seed), config(), c.Parallelism(), 0, c)
	if err != nil {
		t.Fatal(err)
	}
	return &attempt{Job: job, t: t}
}

func (a *attempt) write(records ...string) {
	a.t.Helper()
	for i, record := range records {
		if err := a.Write(i%a.Parallelism(), record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *attempt) checkpoint(id int64) {
	a.t.Helper()
	var err error
	if a.last, err = a.Checkpoint(id, 0); err != nil {
		a.t.Fatal(err)
	}
}

func (a *attempt) complete(id int64) {
	a.t.Helper()
	if _, err := a.Complete(id); err != nil {
		a.t.Fatal(err)
	}
}

// committed is the only part that the last checkpoint has closed.
func (a *attempt) committed() (temp, target string) {
	a.t.Helper()
	if len(a.last.Committers[0].Batches) == 0 {
		a.t.Fatal("the checkpoint has closed no part")
	}
	c := a.last.Committers[0].Batches[0].Committables[0]
	return filepath.Join("/sink", c.Bucket, c.Temp), filepath.Join("/sink", c.Bucket, c.Name)
}
