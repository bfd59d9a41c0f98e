package sim

import (
	"fmt"
	"strconv"
)

// Operation is one line of a scenario.
//
// An operation of another package does its work by the methods of [Runner]; what became
// visible by it is found by the runner afterwards, so that no operation has to tell.
type Operation interface {
	// String is the line, without answers and end of line. Parsing it gives the operation
	// again.
	String() string

	// Play does it. An error that wraps [ErrProgram] means that the scenario makes no
	// sense at this point; any other error is the sink's answer and ends the scenario.
	Play(r *Runner) error
}

// ParseFunc reads an operation from the words after its name. The text of its error is shown
// with the line.
type ParseFunc func(args []string) (Operation, error)

// Syntax is a set of operations by name.
//
// Names are single words. It is only looked up, so its order never shows.
type Syntax map[string]ParseFunc

// Operations returns the operations of a trace. The map is the caller's to add to.
func Operations() Syntax {
	return Syntax{
		"open":       parseOpen,
		"write":      parseWrite,
		"advance":    parseAdvance,
		"checkpoint": parseCheckpoint,
		"complete":   parseComplete,
		"abort":      parseAbort,
		"restore":    parseRestore,
		"end":        parseEnd,
	}
}

// errArgs is the error for a wrong number of words.
func errArgs(usage string) error { return fmt.Errorf("want %q", usage) }

// number reads a word as a whole number of at least least. The error says which one of a
// line's numbers it was, and what would do.
func number(what, word string, least int64) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a whole number", what, word)
	}
	if n < least {
		return 0, fmt.Errorf("%s %d is less than %d", what, n, least)
	}
	return n, nil
}
