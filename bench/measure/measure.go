package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Side is a version of the module.
type Side struct {
	Dir string // the module's directory, where its go.mod is
	Out string // file for the results, another one for each side; its directory is made
}

// Options of a run. The zero value measures everything, eight rounds of what is noisy.
type Options struct {
	// Rounds is how often the noisy benchmarks run, one process each; 0 means 8, which is
	// as few as let a rank test say anything at a level of 1 %.
	Rounds int

	// Only is a regular expression for the names of benchmarks, "" for all. Behind slashes
	// may be more for their segments, in order, as in "Settings/policy=deadline".
	Only string

	// Progress, if not nil, is told what is going on: each time a benchmark has ended, and
	// when a step begins.
	Progress func(Progress)
}

// Progress is how far a run has come.
type Progress struct {
	Step, Steps int    // a step is a process: a build, or a round of one side
	Doing       string // what this one does
	Name        string // the benchmark that has just ended, or "" at the beginning of a step
}

// DefaultRounds is what Options.Rounds is if it is 0.
const DefaultRounds = 8

// exact are the benchmarks whose every metric is exact. One that is missing here runs in
// every round, and its samples are equal.
var exact = []string{"BenchmarkVisible", "BenchmarkSettings", "BenchmarkPeers"}

// ErrFailed: a benchmark has failed, or did not compile; the text has what it printed. A run
// that lost or doubled a record is no result, so nothing is kept.
var ErrFailed = errors.New("benchmarks failed")

// ErrNone: there are no benchmarks of such names, or none at all.
var ErrNone = errors.New("no benchmark was run")

// validate fills in the defaults.
func (o Options) validate() (Options, error) {
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
	}
	if o.Rounds < 0 {
		return o, fmt.Errorf("rounds %d: must be at least 1", o.Rounds)
	}
	if o.Only == "" {
		o.Only = "."
	}
	if _, err := regexp.Compile(o.Only); err != nil {
		return o, fmt.Errorf("names of benchmarks: %w", err)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o, nil
}

// Run measures all sides and writes their results. If it returns an error, which wraps
// [ErrFailed], [ErrNone] or [ErrOutput] or is one of the system, no file is changed; but if
// the system refuses to rename a file where it has let one be made before, those of the
// sides before are new. When ctx is over the error wraps that of ctx. Run needs the go command.
func Run(ctx context.Context, sides []Side, o Options) error {
	o, err := o.validate()
	if err != nil {
		return err
	}
	out, err := reserve(sides)
	if err != nil {
		return err
	}
	defer out.discard()
	bin, err := os.MkdirTemp("", "sinklab-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)

	r := runner{Options: o, temp: bin, steps: len(sides) * (2 + o.Rounds)}
	versions := make([]version, len(sides))
	for i, side := range sides {
		v := &versions[i]
		v.Side, v.program = side, filepath.Join(bin, fmt.Sprintf("side%d.test", i))
		if len(sides) > 1 {
			v.label = ", " + string(rune('A'+i))
		}
		if err := r.build(ctx, v); err != nil {
			return err
		}
	}
	for round := range o.Rounds + 1 {
		for i := range versions {
			v, names, doing := &versions[i], versions[i].noisy, fmt.Sprintf("round %d of %d", round, o.Rounds)
			if round == 0 {
				names, doing = v.exact, "exact benchmarks"
			}
			if err := r.measure(ctx, v, names, doing); err != nil {
				return err
			}
		}
	}
	for i := range versions {
		if versions[i].count == 0 {
			return fmt.Errorf("%w in %s: no name fits %q", ErrNone, versions[i].Dir, o.Only)
		}
	}
	contents := make([][]byte, len(versions))
	for i := range versions {
		contents[i] = versions[i].results.Bytes()
	}
	return out.write(contents)
}
