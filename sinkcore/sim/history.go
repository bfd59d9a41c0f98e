package sim

import (
	"strings"
)

// Event is one thing that a reader of the directory could see happen.
//
// Which fields are set depends on the kind: Label and Records for a file that is new, Path
// for all that concern a file, Err for a failed operation.
type Event struct {
	Step    int   // index of the operation in the scenario
	At      int64 // virtual time after the operation, milliseconds since 1970
	Kind    Kind
	Path    string   // of the file, relative to the sink's directory, with / between segments
	Label   string   // the path with the UUID replaced by u0, u1, …
	Records []string // of a new file, one a line
	Err     error    // of a failed operation
}

// Kind is what happened.
//
// Of a sink that keeps its promise only the first is seen, and the last where it refuses: a
// file that readers have seen is never touched again. The others show the sinks that do
// not.
type Kind uint8

// The kinds of events.
const (
	Visible  Kind = iota // a file can be seen that could not before
	Changed              // a visible file has other bytes
	Vanished             // a visible file is gone
	Failed               // the operation returned an error
)

var kindNames = [...]string{"visible", "changed", "vanished", "failed"}

// String gives the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Answer is the event as a line of a trace. It has the label and not the path, so it is the
// same whatever the random source; for a file that changed or vanished it has the path,
// which no recorded trace has.
func (e Event) Answer() string {
	switch e.Kind {
	case Visible:
		return "+ " + e.Label + ": " + strings.Join(e.Records, " ")
	case Changed:
		return "! changed " + e.Path
	case Vanished:
		return "! vanished " + e.Path
	}
	return "! " + failure(e.Err)
}

// History is what a scenario made visible, in order: by step, and within one first what
// changed, then what vanished, then what is new.
//
// Whether it is right is not said here. Package props holds a history against the
// operations that led to it.
type History []Event
