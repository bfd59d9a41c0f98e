package sim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Step is an operation with the answers that a trace has for it.
type Step struct {
	Operation Operation
	Answers   []Answer
	Line      int // of the operation in the text, from 1; 0 if it came from no text
}

// Answer is a line that begins with + or !.
type Answer struct {
	Text string
	Line int // in the text, from 1; 0 if it came from no text
}

// Scenario is a named list of operations. It is a value that no run changes; a run returns
// another one with the answers that it got. The zero value has no steps and prints as
// nothing.
//
// A scenario made by a program needs Steps only. Lines and notes are there to say where in
// a text something is.
type Scenario struct {
	Name  string   // without the #, "" if it has none
	Notes []string // further lines with # before the first operation, without it
	Line  int      // of the name, or of the first operation
	Steps []Step
}

// ErrSyntax is what a [SyntaxError] wraps.
var ErrSyntax = errors.New("not a trace")

// SyntaxError tells which line of a trace could not be read, and why.
type SyntaxError struct {
	Line    int
	Text    string // of the line
	Problem string
}

// Error gives the line first.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: %q: %s", e.Line, e.Text, e.Problem)
}

// Unwrap returns [ErrSyntax].
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// maxLine bounds a line of a trace, in bytes; answers list all records of a file.
const maxLine = 64 << 20

// Parse reads a trace. A scenario begins at a line that begins with #, or at an
// operation if there is no such line before the first; more such lines before its first
// operation are notes. Empty lines are passed over. The
// error is a [*SyntaxError], or that of the reader.
//
// Operations are parsed as they are read, arguments included, so that all lines of a text
// are known to be good before the first is played. What makes sense only in its place is
// found by [Runner.Play].
func Parse(in io.Reader, operations Syntax) ([]Scenario, error) {
	var scenarios []Scenario
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		bad := func(format string, args ...any) error {
			return &SyntaxError{Line: number, Text: shorten(line), Problem: fmt.Sprintf(format, args...)}
		}
		if line == "" {
			continue
		}
		if line[0] == '#' {
			if n := len(scenarios); n > 0 && len(scenarios[n-1].Steps) == 0 {
				scenarios[n-1].Notes = append(scenarios[n-1].Notes, strings.TrimSpace(line[1:]))
				continue
			}
			scenarios = append(scenarios, Scenario{Name: strings.TrimSpace(line[1:]), Line: number})
			continue
		}
		if len(scenarios) == 0 {
			scenarios = append(scenarios, Scenario{Line: number})
		}
		scenario := &scenarios[len(scenarios)-1]
		if line[0] == '+' || line[0] == '!' {
			if len(scenario.Steps) == 0 {
				return nil, bad("an answer to no operation")
			}
			step := &scenario.Steps[len(scenario.Steps)-1]
			step.Answers = append(step.Answers, Answer{line, number})
			continue
		}
		words := strings.Fields(line)
		parse, ok := operations[words[0]]
		if !ok {
			return nil, bad("unknown operation %q", words[0])
		}
		operation, err := parse(words[1:])
		if err != nil {
			return nil, bad("%v", err)
		}
		scenario.Steps = append(scenario.Steps, Step{Operation: operation, Line: number})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading a trace: %w", err)
	}
	return scenarios, nil
}

// shorten keeps an error message on a line.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}

// AppendText appends the scenario as a trace, with its answers. Parsing that gives a
// scenario that was parsed again, but for the numbers of lines. It never fails.
func (s Scenario) AppendText(b []byte) ([]byte, error) {
	if s.Name != "" {
		b = append(b, "# "+s.Name+"\n"...)
	}
	for _, note := range s.Notes {
		b = append(b, strings.TrimRight("# "+note, " ")+"\n"...)
	}
	for _, step := range s.Steps {
		b = append(append(b, step.Operation.String()...), '\n')
		for _, answer := range step.Answers {
			b = append(append(b, answer.Text...), '\n')
		}
	}
	return b, nil
}
