package flink

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Run is what became of a program on Flink.
type Run struct {
	props.Verdict
	restores []*order // of each restore in the program's order; nil where the number of subtasks was kept
	notes    []string // of the Java side, see its Compaction
}

// Answered is the program with the answers of the run, and with the rule that it breaks at
// the operation at which that was seen.
func (r Run) Answered(p Program) Program {
	out := Program{r.Played, p.Compaction}
	out.Name, out.Notes, out.Steps = p.Name, p.Notes, slices.Clone(out.Steps)
	if v := r.Violation; v != nil {
		step := &out.Steps[min(v.Step, len(out.Steps)-1)]
		text := fmt.Sprintf("! rule %s: %s", v.Rule, strings.ReplaceAll(v.Detail, "\n", "; "))
		step.Answers = append(slices.Clone(step.Answers), sim.Answer{Text: text})
	}
	return out
}

// Play plays a program on Flink, every rule of package props watching; skip lists rules that
// are not to be judged. What Flink throws is a failure in the verdict. The error wraps
// [ErrEngine], or is a [*sim.ProgramError] for a program that makes no sense.
//
// With compaction [props.EndOfInput] is not judged: it is by design that a file waits for
// the next ones to be merged with. That nothing is lost is. Nor is [props.Order] if there is
// ever more than one subtask, since a merged file then has records of several.
func (e *Engine) Play(p Program, skip ...props.Rule) (Run, error) {
	f := &factory{engine: e, program: p}
	if p.Compaction.On() {
		skip = append(slices.Clone(skip), props.EndOfInput)
		if p.parallel() {
			skip = append(skip, props.Order)
		}
	}
	v, err := props.Play(p.Scenario, props.Options{Factory: f, Skip: skip})
	if e.broken != nil {
		err = e.broken
	}
	return Run{v, f.restores, f.notes}, err
}

// Record plays a program as the recorded traces were played and returns it with Flink's
// answers. After an exception the rest is passed over.
func (e *Engine) Record(p Program) (Program, error) {
	runner, err := sim.NewRunner(sim.Options{
		Fs: fsmem.New(fsmem.Options{}), Random: rand.NewChaCha8([32]byte{}), Factory: &factory{engine: e, program: p},
	})
	if err != nil {
		return p, err
	}
	_, played, err := runner.Play(p.Scenario)
	if e.broken != nil {
		err = e.broken
	}
	return Program{played, p.Compaction}, err
}

// factory makes Flink sinks for one program. It is told what to make by the text of the
// program's open, since a bucket assigner does not say what it is.
type factory struct {
	engine   *Engine
	program  Program
	mirror   *mirror
	buckets  [][][]string // of each state, by subtask
	restores []*order
	notes    []string
	atEnd    map[string]bool // hidden files that the end of an input has published, for a merge
}

// New makes the sink at the program's open, and starts it again with no state later.
func (f *factory) New(fsys afero.Fs, _ io.Reader, s sim.Settings, now int64) (sim.Sink, error) {
	if f.mirror == nil {
		dir, err := f.engine.newDir()
		if err != nil {
			return nil, unplayable(err)
		}
		a, err := f.engine.ask(request{Do: "open", Dir: dir, Settings: f.program.settings()})
		if err != nil {
			return nil, unplayable(err)
		}
		if a.Error != nil {
			return nil, a.Error
		}
		f.mirror = &mirror{from: dir, to: fsys, base: s.Dir, seen: map[string]fs.FileInfo{}}
		f.atEnd = map[string]bool{}
	}
	return f.start(request{Do: "start", Parallelism: s.Parallelism, Now: &now})
}

// Restore starts the sink from a state, which is the Java side's name for it.
func (f *factory) Restore(_ afero.Fs, _ io.Reader, s sim.Settings, now int64, checkpoint int64, state []byte) (sim.Sink, error) {
	token, err := strconv.Atoi(string(state))
	if err != nil {
		return nil, unplayable(err)
	}
	return f.start(request{Do: "start", Parallelism: s.Parallelism, Now: &now, Checkpoint: checkpoint, State: &token})
}

func (f *factory) start(r request) (sim.Sink, error) {
	s := &flinkSink{factory: f, parallelism: r.Parallelism}
	a, err := s.do(r)
	if r.State != nil {
		var o *order
		if a.Writers != nil {
			o = &order{buckets: f.buckets[*r.State], writers: a.Writers, committers: a.Committers}
		}
		f.restores = append(f.restores, o)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// flinkSink is one run of Flink's operators as a [sim.Sink].
type flinkSink struct {
	factory     *factory
	parallelism int
	next        int64
}

// do asks, then looks at what can be seen. What Flink threw is the error.
func (s *flinkSink) do(r request) (answer, error) {
	a, err := s.factory.engine.ask(r)
	if err != nil {
		return a, unplayable(err)
	}
	s.next = a.Next
	s.factory.notes = append(s.factory.notes, a.Notes...)
	if err := s.factory.mirror.sync(); err != nil {
		return a, unplayable(err)
	}
	if a.Error != nil {
		return a, s.factory.translate(a.Error)
	}
	return a, nil
}

// unplayable ends a program: nothing that Flink did is to blame.
func unplayable(err error) error {
	return fmt.Errorf("%w: %w", sim.ErrProgram, err)
}

// translate gives an exception the meaning that sinkcore has an error for, where the rules
// depend on it, and takes out of its text what differs from run to run.
func (f *factory) translate(t *thrown) error {
	if m := missingTemp.FindStringSubmatch(t.Text); m != nil && f.atEnd[m[1]+m[2]] {
		f.notes = append(f.notes, "published at the end")
	}
	err := &thrown{t.Class, uuids.ReplaceAllString(strings.ReplaceAll(t.Text, f.mirror.from, "DIR"), "UUID")}
	switch {
	case t.Class == "java.io.FileNotFoundException":
		return errors.Join(sinkcore.ErrInProgressMissing, err)
	case t.Class == "java.lang.IllegalStateException" && strings.Contains(t.Text, "endOfInput"):
		return errors.Join(sinkcore.ErrEndOfInput, err)
	}
	return err
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`)

// missingTemp reads the name that a file would get from what Flink says when it cannot
// find it under its name in progress.
var missingTemp = regexp.MustCompile(`^File Not Found: (.*/)\.([^/]+)\.inprogress\.[^./]+$`)

func (s *flinkSink) Parallelism() int { return s.parallelism }
func (s *flinkSink) NextTick() int64  { return s.next }

func (s *flinkSink) Write(subtask int, record string, now int64) error {
	_, err := s.do(request{Do: "write", Subtask: subtask, Record: record, Now: &now})
	return err
}

func (s *flinkSink) Tick(now int64) error {
	_, err := s.do(request{Do: "tick", Now: &now})
	return err
}

func (s *flinkSink) Checkpoint(id, now int64) ([]byte, error) {
	a, err := s.do(request{Do: "checkpoint", ID: id, Now: &now})
	if err != nil {
		return nil, err
	}
	s.factory.buckets = append(s.factory.buckets[:a.State:a.State], a.Buckets)
	return []byte(strconv.Itoa(a.State)), nil
}

// Complete tells subtask by subtask, in their order.
func (s *flinkSink) Complete(id int64, subtask int) error {
	return s.each(subtask, func(n int) request { return request{Do: "complete", ID: id, Subtask: n} })
}

func (s *flinkSink) Abort(id int64) error {
	_, err := s.do(request{Do: "abort", ID: id})
	return err
}

func (s *flinkSink) EndInput(subtask int) error {
	f := s.factory
	if f.program.Compaction.On() {
		before, err := f.mirror.hidden()
		if err != nil {
			return unplayable(err)
		}
		defer func() {
			after, _ := f.mirror.hidden() // what it cannot list is explained by nothing
			for name := range after {
				if !before[name] {
					f.atEnd[name] = true
				}
			}
		}()
	}
	return s.each(subtask, func(n int) request { return request{Do: "end", Subtask: n} })
}

// each asks for one subtask, or for all in turn.
func (s *flinkSink) each(subtask int, r func(n int) request) error {
	if subtask != sim.AllSubtasks {
		_, err := s.do(r(subtask))
		return err
	}
	for n := range s.parallelism {
		if _, err := s.do(r(n)); err != nil {
			return err
		}
	}
	return nil
}

// Close lets the process die.
func (s *flinkSink) Close() error {
	_, err := s.do(request{Do: "kill"})
	return err
}
