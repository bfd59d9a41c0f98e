package flink

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Program is a scenario that Flink can play: operations of a trace, and recover, replay and
// savepoint of package props. It begins with its only open.
type Program struct {
	sim.Scenario
	Compaction Compaction
}

// Compaction says when Flink merges files. The zero value is never.
type Compaction struct {
	Checkpoints int   // after so many, 0 for no such limit
	Size        int64 // when there are so many bytes; with HasSize
	HasSize     bool
}

// On tells whether files are merged.
func (c Compaction) On() bool { return c.Checkpoints > 0 || c.HasSize }

// words are the keys of open.
func (c Compaction) words() []string {
	var words []string
	if c.Checkpoints > 0 {
		words = append(words, "compact="+strconv.Itoa(c.Checkpoints))
	}
	if c.HasSize {
		words = append(words, "compact-size="+strconv.FormatInt(c.Size, 10))
	}
	return words
}

// ErrProgram is wrapped by the error of a program that Flink cannot play.
var ErrProgram = errors.New("Flink cannot play this")

// Parse reads programs. The error is a [*sim.SyntaxError], or wraps [ErrProgram] and says
// why Flink cannot play one of them, or is that of the reader.
func Parse(in io.Reader) ([]Program, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading a trace: %w", err)
	}
	// The two keys that sinkcore does not know are taken out, in order, line by line.
	var compactions []Compaction
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "open" {
			continue
		}
		c, rest, err := takeCompaction(words)
		if err != nil {
			return nil, &sim.SyntaxError{Line: i + 1, Text: line, Problem: err.Error()}
		}
		compactions = append(compactions, c)
		lines[i] = strings.Join(rest, " ")
	}
	scenarios, err := sim.Parse(strings.NewReader(strings.Join(lines, "\n")), props.Operations())
	if err != nil {
		return nil, err
	}
	programs := make([]Program, 0, len(scenarios))
	for _, s := range scenarios {
		if err := playable(s); err != nil {
			return nil, err
		}
		programs = append(programs, Program{s, compactions[0]})
		compactions = compactions[1:]
	}
	return programs, nil
}

// takeCompaction takes the keys of compaction out of the words of an open.
func takeCompaction(words []string) (c Compaction, rest []string, err error) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "compact":
			if c.Checkpoints, err = strconv.Atoi(value); err != nil || c.Checkpoints < 1 {
				return c, nil, fmt.Errorf("%q: want a number of checkpoints", word)
			}
		case "compact-size":
			c.HasSize = true
			if c.Size, err = strconv.ParseInt(value, 10, 64); err != nil || c.Size < 0 {
				return c, nil, fmt.Errorf("%q: want a number of bytes", word)
			}
		default:
			rest = append(rest, word)
		}
	}
	return c, rest, nil
}

// playable returns an error that wraps ErrProgram if Flink cannot play the scenario.
func playable(s sim.Scenario) error {
	for i, step := range s.Steps {
		_, open := step.Operation.(sim.Open)
		switch {
		case open != (i == 0):
			return fmt.Errorf("%w: line %d: a program begins with its only open", ErrProgram, step.Line)
		case open && strings.Contains(step.Operation.String(), "open-parts="):
			return fmt.Errorf("%w: line %d: it has no limit on open parts", ErrProgram, step.Line)
		}
		switch step.Operation.(type) {
		case props.Crash, props.PowerLoss, props.Fault, props.Heal, props.Clock, props.Sweep:
			return fmt.Errorf("%w: line %d: %q: it is on a real disk and has its own clock", ErrProgram, step.Line, step.Operation)
		}
	}
	if len(s.Steps) == 0 {
		return fmt.Errorf("%w: scenario %q has no operations", ErrProgram, s.Name)
	}
	return nil
}

// settings are the keys of the program's open, as the Java side reads them.
func (p Program) settings() map[string]string {
	settings := map[string]string{}
	for _, word := range append(strings.Fields(p.Steps[0].Operation.String())[1:], p.Compaction.words()...) {
		key, value, _ := strings.Cut(word, "=")
		settings[key] = value
	}
	return settings
}

// Text is the program as a trace, with the answers that it has.
func (p Program) Text() string {
	text, _ := p.AppendText(nil) // it never fails
	if words := p.Compaction.words(); len(words) > 0 {
		open := p.Steps[0].Operation.String()
		return strings.Replace(string(text), open+"\n", open+" "+strings.Join(words, " ")+"\n", 1)
	}
	return string(text)
}

// parallel tells whether there is ever more than one subtask.
func (p Program) parallel() bool {
	for _, step := range p.Steps {
		switch o := step.Operation.(type) {
		case sim.Restore:
			if o.Parallelism > 1 {
				return true
			}
		case props.Recover:
			if o.Parallelism > 1 {
				return true
			}
		}
	}
	n := p.settings()["parallelism"]
	return n != "" && n != "1"
}

// with is the program with another first line and other operations after it, or false if
// they make no sense.
func (p Program) with(open string, operations []string) (Program, bool) {
	text := strings.Join(append([]string{open}, operations...), "\n")
	scenarios, err := sim.Parse(strings.NewReader(text), props.Operations())
	if err != nil || len(scenarios) != 1 {
		return p, false
	}
	p.Steps = scenarios[0].Steps
	return p, true
}

// operations are the lines of the program after the open, without answers.
func (p Program) operations() []string {
	var lines []string
	for _, step := range p.Steps[1:] {
		lines = append(lines, step.Operation.String())
	}
	return lines
}

// withoutAnswers is the program as it is asked.
func (p Program) withoutAnswers() Program {
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].Answers = nil
	}
	return p
}
