package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
)

// ErrRead is wrapped by the error of a text that cannot be read.
var ErrRead = errors.New("the text cannot be read")

// ReadError says where a text cannot be read, and what would be right.
type ReadError struct {
	Line    int // from 1
	Problem string
}

// Error gives the line and the problem.
func (e *ReadError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// Unwrap gives ErrRead.
func (e *ReadError) Unwrap() error { return ErrRead }

// Option is a setting as it stands in a text.
type Option struct {
	Name, Value string
	Line        int // from 1
}

// File is what a text says about sinks.
type File struct {
	Form  Form
	Sinks []Sink // in the order of the text

	Checkpoint     time.Duration // interval between checkpoints; 0 if the text does not say, or turns them off
	CheckpointLine int           // 0 if the text does not say

	MinPause     time.Duration // from the end of a checkpoint to the start of the next, at least; 0 if the text does not say
	MinPauseLine int

	// NoCheckpoints is the line at which checkpoints would have to be turned on, as nothing in the
	// text does. 0 if something does or may do, for a job in batch mode, for a connector, and for
	// a text in which there is no job.
	NoCheckpoints int

	environment      string // the variable with Flink's StreamExecutionEnvironment
	environmentGiven bool   // it is made elsewhere

	// Unread are settings of the job, such as the checkpoint interval, whose value is not in the
	// text; it is as if the text did not say them.
	Unread []Refusal
}

// Sink is one sink of a text.
type Sink struct {
	Name    string // of the table, the connector or the variable; empty if it has none
	Line    int    // where it begins
	Options []Option

	// Peer is the sink as its engine would run it; nil if the engine refuses it, and for a
	// policy of one's own.
	Peer peers.Peer

	// Policy and Check are its rolling policy and how often that is asked, without what comes
	// after, such as a compaction. Policy is nil if it has none.
	Policy sinkcore.RollingPolicy
	Check  time.Duration

	Refusals []Refusal // what the engine, or the compiler, does not take

	// Misplaced are options that stand where nothing reads them. They are not among Options.
	Misplaced []Refusal

	// Unread are options whose value is not in the text, so that nothing can be said about
	// the sink.
	Unread []Refusal
}

// Refusal is an option that is not taken.
type Refusal struct {
	Line    int
	Option  string
	Value   string // as it was given; empty if it is missing
	Problem string // what is wrong, and what would be right
	Source  string // where that is written; empty if nowhere
}

// Option is the option of a name that counts, which is the last one.
func (s Sink) Option(name string) (Option, bool) {
	for i := len(s.Options) - 1; i >= 0; i-- {
		if s.Options[i].Name == name {
			return s.Options[i], true
		}
	}
	return Option{}, false
}

// lineOf is the line of the first of some options that is there, or that of the sink.
func (s Sink) lineOf(names ...string) int {
	for _, name := range names {
		if o, ok := s.Option(name); ok {
			return o.Line
		}
	}
	return s.Line
}

// Read finds the sinks in a text of a form. That the engine refuses an option is no error: see
// [Sink]. A text without any sink is an error, as is one that is not in the form; it is a
// [*ReadError].
func Read(form Form, text string) (File, error) {
	var f File
	var err error
	switch form {
	case FlinkJava:
		f, err = readJava(text)
	case FlinkSQL:
		f, err = readSQL(text)
	case KafkaConnect:
		f, err = readConnect(text)
	default:
		return File{}, fmt.Errorf("%w: %q is no form", ErrRead, form)
	}
	f.Form = form
	return f, err
}

// asPeer makes the peer of a name from options. One that is refused is left out and the
// others are tried once more, so that all refusals are found; an engine would not start
// then, so there is no peer.
func (s *Sink) asPeer(name string, options []Option) {
	var left []Option
	for i, o := range options {
		o.Value = strings.ReplaceAll(o.Value, "'", "\"") // no value of an option that is known has one
		if !slices.ContainsFunc(options[i+1:], func(later Option) bool { return later.Name == o.Name }) {
			left = append(left, o)
		}
	}
	for {
		words := name
		for _, o := range left {
			words += " " + o.Name + "='" + o.Value + "'"
		}
		peer, err := peers.Parse(words)
		if err == nil {
			if len(s.Refusals) == 0 {
				s.setPeer(peer)
			}
			return
		}
		var refused *peers.OptionError
		if !errors.As(err, &refused) {
			s.Refusals = append(s.Refusals, Refusal{Line: s.Line, Problem: err.Error()})
			return
		}
		if slices.ContainsFunc(s.Refusals, func(r Refusal) bool { return r.Option == refused.Option && r.Option != "" }) {
			return // it cannot be left out
		}
		s.Refusals = append(s.Refusals, Refusal{Line: s.lineOf(refused.Option), Option: refused.Option, Value: refused.Value, Problem: refused.Problem, Source: refused.Source})
		at := slices.IndexFunc(left, func(o Option) bool { return o.Name == refused.Option })
		if at < 0 {
			return // something is missing
		}
		left = slices.Delete(left, at, at+1)
	}
}

// setPeer takes a peer and its policy.
func (s *Sink) setPeer(peer peers.Peer) {
	s.Peer = peer
	switch p := peer.(type) {
	case peers.FlinkFileSink:
		p.Compaction = peers.Compaction{}
		peer = p
	case peers.FlinkFileSinkBulk:
		p.Compaction = peers.Compaction{}
		peer = p
	case peers.FlinkSQL:
		p.CommitPolicy = ""
		peer = p
	}
	if r, rolling := peer.(peers.Rolling); rolling {
		if policy, check, ok := r.Policy(); ok {
			s.Policy, s.Check = policy, check
		}
	}
}
