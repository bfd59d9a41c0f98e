package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// replay is the subcommand.
type replay struct {
	Files []string `arg:"" name:"FILE" help:"Traces to play; - is standard input."`
	Check bool     `help:"Compare with the answers in the files: print only what differs and a summary line."`
	JSON  bool     `name:"json" help:"Print JSON: a line for each event, or with --check one object."`
}

// Help is the longer text of replay --help.
func (replay) Help() string {
	return `A trace is a list of operations, one a line. Each scenario in it begins with a line
"# NAME".

  open KEY=VALUE...          a new sink: policy=, size= (bytes), rollover=, inactivity=,
                             check= (ms), parallelism=, prefix=, suffix=, assigner=, ...
  write RECORD [SUBTASK]     RECORD is one word; its bucket is what stands before its last /
  advance MS                 the clock moves on
  checkpoint ID, complete ID, abort ID, restore ID [PARALLELISM], end

All keys and operations are described in the package documentation of
sinklab/sinkcore/sim, those below in that of sinklab/props: go doc ./sinkcore/sim

Every operation is played on the sink in memory under a clock that moves only by
advance; after it, each file that a reader can see for the first time is printed as
"+ BUCKET/NAME: RECORD RECORD ...". Answers in the input (lines that begin with + or
!) are dropped and made anew, or, with --check, compared. After an answer that begins
with ! the rest of the scenario is passed over.

A scenario may also use crash, powerloss, fault, heal, recover, replay, savepoint,
clock and sweep. Then it goes on after an error, everything that an exactly-once sink
promises is watched, and at its end the sink recovers, the input ends and a last
checkpoint completes. A rule that is broken is the answer "! rule NAME: ...".

  printf '%s\n' 'open policy=oncheckpoint' 'write a' 'checkpoint 1' 'complete 1' | sinklab replay -

Exit status: 0, 1 if a rule is broken or, with --check, a scenario differs, 2 if a file
cannot be read or a scenario makes no sense.`
}

// trace is a file that was read.
type trace struct {
	file      string
	scenarios []sim.Scenario
}

// difference is the first answer of a scenario that is not the one in the file.
type difference struct {
	File     string `json:"file"`
	Scenario string `json:"scenario"`
	Line     int    `json:"line"`
	Expected string `json:"expected"` // "" if no answer was expected
	Got      string `json:"got"`      // "" if there was none
}

// Run reads all files before it plays any, so that bad input prints nothing else.
func (r replay) Run(std streams) error {
	traces := make([]trace, 0, len(r.Files))
	for _, file := range r.Files {
		t, err := readTrace(file, std.in)
		if err != nil {
			return err
		}
		traces = append(traces, t)
	}
	out := bufio.NewWriter(std.out)
	var err error
	switch {
	case r.Check:
		err = r.check(out, traces)
	case r.JSON:
		err = r.events(out, traces)
	default:
		err = r.print(out, traces)
	}
	return errors.Join(err, out.Flush())
}

func readTrace(file string, stdin io.Reader) (trace, error) {
	in, name := stdin, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return trace{}, err
		}
		defer f.Close()
		in, name = f, file
	}
	scenarios, err := sim.Parse(in, props.Operations())
	var syntax *sim.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return trace{}, fmt.Errorf("%s:%d: %q: %s", name, syntax.Line, syntax.Text, syntax.Problem)
	case err != nil:
		return trace{}, fmt.Errorf("%s: %w", name, err)
	case len(scenarios) == 0:
		return trace{}, fmt.Errorf("%s: there is no scenario in it", name)
	}
	return trace{name, scenarios}, nil
}

// outcome is what became of a scenario.
type outcome struct {
	history sim.History  // steps are those of the scenario
	played  sim.Scenario // with the answers made here
	broken  bool         // a rule is
}

// play plays a scenario in a file system of its own. File names are drawn from a fixed
// seed, so the output of two runs is the same.
func play(file string, s sim.Scenario) (outcome, error) {
	var out outcome
	var err error
	if usesProps(s) {
		var v props.Verdict
		v, err = props.Play(s, props.Options{})
		out = outcomeOf(v)
	} else {
		var runner *sim.Runner
		runner, err = sim.NewRunner(sim.Options{Fs: fsmem.New(fsmem.Options{}), Random: rand.NewChaCha8([32]byte{})})
		if err == nil {
			out.history, out.played, err = runner.Play(s)
		}
	}
	var program *sim.ProgramError
	if errors.As(err, &program) {
		err = fmt.Errorf("%s:%d: %q: %w", file, program.Line, program.Text, program.Err)
	}
	return out, err
}

// usesProps tells whether a scenario has operations that only package props can play.
// The others are played as the recorded traces of Flink are.
func usesProps(s sim.Scenario) bool {
	ofTraces := sim.Operations()
	return slices.ContainsFunc(s.Steps, func(step sim.Step) bool {
		name, _, _ := strings.Cut(step.Operation.String(), " ")
		return ofTraces[name] == nil
	})
}

// outcomeOf shows a verdict as what a runner gives: errors are events, and so is a broken
// rule. What happens after the last operation is judged and not shown.
func outcomeOf(v props.Verdict) outcome {
	out := outcome{played: v.Played, broken: v.Violation != nil}
	last := len(v.Played.Steps) - 1
	failures, seen := v.Failures, v.History
	for i := range v.Played.Steps {
		for len(failures) > 0 && failures[0].Step == i {
			out.history, failures = append(out.history, failures[0]), failures[1:]
		}
		for len(seen) > 0 && seen[0].Step == i {
			out.history, seen = append(out.history, seen[0]), seen[1:]
		}
		if v.Violation == nil || min(v.Violation.Step, last) != i {
			continue
		}
		e := sim.Event{Step: i, Kind: sim.Failed, Err: fmt.Errorf("rule %s: %s", v.Violation.Rule, v.Violation.Detail)}
		if n := len(out.history); n > 0 {
			e.At = out.history[n-1].At
		}
		out.history = append(out.history, e)
		step := &out.played.Steps[i]
		step.Answers = append(step.Answers, sim.Answer{Text: e.Answer()})
	}
	return out
}

// print writes the scenarios with the answers made here.
func (r replay) print(out io.Writer, traces []trace) error {
	first, broken := true, false
	for _, t := range traces {
		for _, scenario := range t.scenarios {
			o, err := play(t.file, scenario)
			if err != nil {
				return err
			}
			broken = broken || o.broken
			text, err := o.played.AppendText(nil)
			if err != nil {
				return err
			}
			if !first {
				text = append([]byte{'\n'}, text...)
			}
			first = false
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
	}
	return foundIf(broken)
}

// foundIf is the error that makes the exit status 1.
func foundIf(found bool) error {
	if found {
		return errFound
	}
	return nil
}

// events writes what became visible as JSON lines.
func (r replay) events(out io.Writer, traces []trace) error {
	type line struct {
		File     string   `json:"file"`
		Scenario string   `json:"scenario"`
		Line     int      `json:"line"`
		By       string   `json:"operation"`
		At       int64    `json:"time_ms"`
		Kind     string   `json:"kind"`
		Path     string   `json:"path,omitempty"`
		Label    string   `json:"label,omitempty"`
		Records  []string `json:"records,omitempty"`
		Error    string   `json:"error,omitempty"`
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	broken := false
	for _, t := range traces {
		for _, scenario := range t.scenarios {
			o, err := play(t.file, scenario)
			if err != nil {
				return err
			}
			broken = broken || o.broken
			for _, e := range o.history {
				step := scenario.Steps[e.Step]
				l := line{
					File: t.file, Scenario: scenario.Name, Line: step.Line, By: step.Operation.String(),
					At: e.At, Kind: e.Kind.String(), Path: e.Path, Label: e.Label, Records: e.Records,
				}
				if e.Err != nil {
					l.Error = e.Err.Error()
				}
				if err := encoder.Encode(l); err != nil {
					return err
				}
			}
		}
	}
	return foundIf(broken)
}

// check compares the answers with those in the files.
func (r replay) check(out io.Writer, traces []trace) error {
	summary := struct {
		Scenarios   int          `json:"scenarios"`
		Answers     int          `json:"answers"`
		Differ      int          `json:"differ"`
		Differences []difference `json:"differences"`
	}{Differences: []difference{}}
	for _, t := range traces {
		for _, scenario := range t.scenarios {
			o, err := play(t.file, scenario)
			if err != nil {
				return err
			}
			summary.Scenarios++
			for _, step := range scenario.Steps {
				summary.Answers += len(step.Answers)
			}
			if d, differs := compare(t.file, scenario, o.played); differs {
				summary.Differences = append(summary.Differences, d)
			}
		}
	}
	summary.Differ = len(summary.Differences)
	var err error
	if r.JSON {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(summary)
	} else {
		for _, d := range summary.Differences {
			fmt.Fprintf(out, "%s:%d: scenario %q\n\texpected %s\n\tgot      %s\n", d.File, d.Line, d.Scenario, orNothing(d.Expected), orNothing(d.Got))
		}
		_, err = fmt.Fprintf(out, "%d scenarios, %d answers, %d differ\n", summary.Scenarios, summary.Answers, summary.Differ)
	}
	if err == nil {
		err = foundIf(summary.Differ > 0)
	}
	return err
}

func orNothing(answer string) string {
	if answer == "" {
		return "(nothing)"
	}
	return answer
}

// compare finds the first difference. A scenario that was played ends at its first
// failure, so it may have fewer steps than the one in the file.
func compare(file string, want, got sim.Scenario) (difference, bool) {
	for i, step := range want.Steps {
		var made []sim.Answer
		if i < len(got.Steps) {
			made = got.Steps[i].Answers
		}
		for j := range max(len(step.Answers), len(made)) {
			d := difference{File: file, Scenario: want.Name, Line: step.Line}
			if j < len(step.Answers) {
				d.Expected, d.Line = step.Answers[j].Text, step.Answers[j].Line
			}
			if j < len(made) {
				d.Got = made[j].Text
			}
			if d.Expected != d.Got {
				return d, true
			}
		}
	}
	return difference{}, false
}
