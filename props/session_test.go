package props

import (
	"errors"
	"strings"
	"testing"

	"sinklab/sinkcore/sim"
)

// A rule without the word error gives EIO, and what it disturbs is no fault of the sink.
func TestAFaultThatNamesNoErrorIsAnError(t *testing.T) {
	for _, rule := range []string{"sync", "sync nth=1", "sync path=** times=1", "sync after", "sync nth=1 clean"} {
		verdict, err := Play(parse("open policy=oncheckpoint\nfault "+rule+"\nwrite r\ncheckpoint 1"), Options{})
		if err != nil || verdict.Violation != nil || len(verdict.Failures) != 1 {
			t.Errorf("%s: %v, %v, %d failures", rule, err, verdict.Violation, len(verdict.Failures))
		}
	}
	verdict, err := Play(parse("open policy=oncheckpoint\nfault sync stall=1s\nwrite r\ncheckpoint 1\ncomplete 1"), Options{})
	if err != nil || verdict.Violation != nil || len(verdict.History) != 1 {
		t.Errorf("stall: %v, %v, %v", err, verdict.Violation, verdict.History)
	}
}

// An operation before open is an error of the program, whichever it is.
func TestAProgramThatDoesNotOpenIsRefused(t *testing.T) {
	for _, operation := range []string{"savepoint 1", "abort 1", "write r", "checkpoint 1", "complete 1", "restore 1", "recover", "end", "advance 1"} {
		var refused *sim.ProgramError
		if _, err := Play(parse(operation), Options{}); !errors.As(err, &refused) || !errors.Is(err, sim.ErrProgram) {
			t.Errorf("%s: %v", operation, err)
		}
	}
}

// The text of a program is without answers, and the program keeps them.
func TestTextLeavesTheProgramAsItIs(t *testing.T) {
	program := parse("open\nwrite r")
	program.Steps[1].Answers = []sim.Answer{{Text: "+ part-u0-0: r"}}
	if text := Text(program); strings.Contains(text, "+") || len(program.Steps[1].Answers) != 1 {
		t.Errorf("%q, %v", text, program.Steps[1].Answers)
	}
}
