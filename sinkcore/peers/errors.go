package peers

import (
	"errors"
	"fmt"
	"strings"

	"sinklab/sinkcore"
)

// ErrTaskFails is wrapped by the error of a simulation in which the engine itself would
// stop, so that records after it wait for an operator. The text says at which instant
// and by which exception; change the options, or simulate a time without that instant.
var ErrTaskFails = errors.New("the task fails")

// ErrNoOutages is wrapped by the error of a simulation with outages of a peer that is a service: it
// has none of its own. It comes with sinkcore.ErrConfig. Who plays all peers leaves such a one out; for one
// alone, let the arrivals pause.
var ErrNoOutages = errors.New("it has no outages of its own")

// OptionError is a refusal: an option that the peer does not have, that it requires, or
// whose value it does not take. It wraps sinkcore.ErrConfig.
//
// Use errors.As to get at the fields, for example to mark the option in a form; errors.Is
// with sinkcore.ErrConfig tells a refusal from [ErrTaskFails], where the options are
// accepted.
type OptionError struct {
	Peer    string // the peer's name; empty if that is what is unknown
	Option  string // the option's name; empty if none is concerned
	Value   string // as it was given; empty if it is missing
	Problem string // what is wrong and what would be right
	Source  string // where the engine refuses it; empty if the engine does not get to see it
}

// Error has all of it in one line.
func (e *OptionError) Error() string {
	var b strings.Builder
	b.WriteString(sinkcore.ErrConfig.Error())
	if e.Peer != "" {
		b.WriteString(": " + e.Peer)
	}
	if e.Option != "" {
		b.WriteString(": " + e.Option)
		if e.Value != "" {
			b.WriteString("=" + e.Value)
		}
	}
	b.WriteString(": " + e.Problem)
	if e.Source != "" {
		b.WriteString(" (" + e.Source + ")")
	}
	return b.String()
}

// Unwrap returns sinkcore.ErrConfig.
func (e *OptionError) Unwrap() error { return sinkcore.ErrConfig }

// refuse makes an OptionError for an option of a peer.
func refuse(peer, option, value, source, problem string, args ...any) error {
	return &OptionError{Peer: peer, Option: option, Value: value, Source: source, Problem: fmt.Sprintf(problem, args...)}
}
