package sinktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Kind is a kind of sinks and what it promises. Name, New and Restore suffice: then
// everything is promised but what needs one of the functions that are nil.
type Kind struct {
	Name string // in the table; one line

	// New starts a sink with no state. Before the first checkpoint that is how it starts
	// again, too, and the directory holds what the last process has left.
	New func(Setup) (Sink, error)

	// Restore starts a sink in a new process from what Prepare has returned. That the
	// checkpoint is restored means that it has completed, although Commit may not have
	// been called: what it covers must be visible when Restore returns. An older
	// checkpoint than the newest may be refused; then nothing may have changed.
	Restore func(s Setup, checkpoint int64, state []byte) (Sink, error)

	// Factory stands for New and Restore if a sink has several subtasks, which have numbers
	// and can become more or fewer at a restore.
	Factory sim.Factory

	// Parallelism is the largest number of subtasks to try, at most 4; 0 means 1. Only a
	// Factory can have more.
	Parallelism int

	// Open holds the words of the operation open by which a Factory is told its
	// settings, such as "policy=oncheckpoint"; without parallelism and tick.
	Open string

	// Latency is the longest time from the write of a record until it is visible, if checkpoints
	// start at most so far apart and complete within the duration, timers are
	// punctual and nothing fails. Nil: the sink promises none.
	Latency func(checkpoint, duration time.Duration) time.Duration

	// Files is the least and the largest number of files that a bucket gets if nothing
	// fails. Nil: the sink promises none.
	Files func(Load) (least, most int)

	// Sweep removes the hidden files that none of the states names, and returns the
	// paths of those that they do name. Nil: the sink leaves them to somebody else, unless
	// it has a Factory that is a props.Sweeper.
	Sweep func(fsys afero.Fs, dir string, states [][]byte) (owned map[string]bool, err error)

	// Lacks lists what the sink must never meet; no program holds it.
	Lacks []Feature

	// Waived lists rules that the sink does not promise, with the reason or source.
	Waived []Waiver

	// Programs is the number of programs to play; 0 means 1,000.
	Programs int

	// Seed chooses other programs and other random names.
	Seed uint64

	// Progress, if not nil, is told before each program how many have been played, of how
	// many. Shrinking what breaks a rule, which comes last, is not counted.
	Progress func(played, of int)
}

// Load is what a bucket has got until the end of a program.
type Load struct {
	Records   int
	Intervals int // between two checkpoints, or before the first, with a record in it
}

// Waiver is a rule that a sink does not promise.
type Waiver struct {
	Rule   props.Rule
	Reason string // one line: why, or where its documentation says so
}

// Feature is something that can happen to a sink.
type Feature string

// The features that a sink can lack.
const (
	Aborts      Feature = "aborts"       // checkpoints that do not complete although nothing fails; completions that are late or come twice
	Older       Feature = "older"        // restores of another checkpoint than the newest completed one
	Savepoints  Feature = "savepoints"   // checkpoints of which nobody is told that they completed
	ClockSteps  Feature = "clock steps"  // a clock that jumps
	Faults      Feature = "faults"       // errors of the file system
	Crashes     Feature = "crashes"      // death of the process between any two operations of the file system
	PowerCuts   Feature = "power cuts"   // loss of what was not synced
	ManyBuckets Feature = "many buckets" // records of other buckets than ""
	EndOfInput  Feature = "end of input" // an end of the input before that of the program
)

var features = []Feature{Aborts, Older, Savepoints, ClockSteps, Faults, Crashes, PowerCuts, ManyBuckets, EndOfInput}

// ErrKind is wrapped by the error for a [Kind] that cannot be tested. Correct it.
var ErrKind = errors.New("kind of sink not usable")

const defaultPrograms = 1000

// maxParallelism is as far as the drawn programs rescale.
const maxParallelism = 4

// validate checks a kind and fills in what zero values stand for.
func (k Kind) validate() (Kind, error) {
	bad := func(format string, args ...any) (Kind, error) {
		return k, fmt.Errorf("sinktest: %w: %s", ErrKind, fmt.Sprintf(format, args...))
	}
	switch small := k.New != nil && k.Restore != nil; {
	case k.Factory == nil && !small:
		return bad("it needs New and Restore, or a Factory")
	case k.Factory != nil && (k.New != nil || k.Restore != nil || k.Sweep != nil):
		return bad("it has a Factory, and New, Restore or Sweep besides")
	case k.Factory == nil && (k.Parallelism > 1 || k.Open != ""):
		return bad("Parallelism and Open need a Factory")
	case k.Parallelism < 0 || k.Parallelism > maxParallelism:
		return bad("Parallelism %d: want 0 to %d", k.Parallelism, maxParallelism)
	case k.Programs < 0:
		return bad("Programs %d is less than 0", k.Programs)
	case strings.ContainsAny(k.Name, "\r\n"):
		return bad("Name has more than a line")
	}
	for _, w := range k.Waived {
		if sentence(w.Rule) == "" {
			return bad("Waived: there is no rule %q", w.Rule)
		}
		if w.Reason == "" || strings.ContainsAny(w.Reason, "\r\n") {
			return bad("Waived: %s needs a reason of one line", w.Rule)
		}
	}
	for _, f := range k.Lacks {
		if !slices.Contains(features, f) {
			return bad("Lacks: there is no feature %q", f)
		}
	}
	if _, err := parse([]string{openLine(k, 1)}); err != nil {
		return bad("Open %q: %v", k.Open, err)
	}
	k.Parallelism = max(k.Parallelism, 1)
	if k.Programs == 0 {
		k.Programs = defaultPrograms
	}
	k.Waived = slices.Clone(k.Waived)
	waive := func(rule props.Rule, yes bool, reason string) {
		if yes && !k.waived(rule) {
			k.Waived = append(k.Waived, Waiver{rule, reason})
		}
	}
	_, sweeps := k.Factory.(props.Sweeper)
	waive(props.Latency, k.Latency == nil, "Kind.Latency is nil")
	waive(props.FileCount, k.Files == nil, "Kind.Files is nil")
	waive(props.Orphans, k.Sweep == nil && !sweeps, "Kind.Sweep is nil")
	return k, nil
}

func (k Kind) waived(rule props.Rule) bool {
	return slices.ContainsFunc(k.Waived, func(w Waiver) bool { return w.Rule == rule })
}

func (k Kind) lacks(f Feature) bool { return slices.Contains(k.Lacks, f) }

// sentence is what a rule says, "" if there is no such rule.
func sentence(rule props.Rule) string {
	for _, r := range props.Rules {
		if r.Rule == rule {
			return r.Sentence
		}
	}
	return ""
}
