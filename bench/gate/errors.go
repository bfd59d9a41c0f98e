package gate

import (
	"errors"
	"fmt"
)

// What can be wrong with an input or a call. None of these is a verdict: nothing was
// compared, and the caller mends the input first.
var (
	// ErrSyntax is a line that looks like a benchmark or Unit line and is none, or one that was
	// cut off.
	ErrSyntax = errors.New("not a benchmark line")

	// ErrFailed is a run in which something failed. What such a run measured is no result,
	// whatever it printed before and after.
	ErrFailed = errors.New("the run failed")

	// ErrEmpty is a side without a single exact metric or ratio, or two sides without a ratio
	// in common if nothing else is to be judged.
	ErrEmpty = errors.New("nothing to compare")

	// ErrMixed is two configurations in one row: the same benchmark twice with a differing
	// package, GOMAXPROCS or other configuration, or two machines in one file.
	ErrMixed = errors.New("two configurations in one row")

	// ErrUnit is a unit without a Unit line, or with one that makes no sense.
	ErrUnit = errors.New("unit not described")

	// ErrValue is a value that its unit does not allow: no number, a ratio that is not
	// above 0, samples of an exact metric that differ within one side, or one unit twice in a
	// line.
	ErrValue = errors.New("impossible value")

	// ErrSamples is a ratio with so few samples that no difference however large could be
	// told from chance.
	ErrSamples = errors.New("too few samples")

	// ErrOptions is an option out of range.
	ErrOptions = errors.New("bad option")
)

// InputError is one problem of a file. errors.Is finds which of the sentinels it is.
type InputError struct {
	File    string
	Line    int // 0 if the problem is not in one line
	Kind    error
	Problem string // what was found, and what to do about it where that is not plain
}

// Error names the place, the kind of problem and the problem.
func (e *InputError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s: %v: %s", place, e.Kind, e.Problem)
}

// Unwrap makes errors.Is find the kind.
func (e *InputError) Unwrap() error { return e.Kind }

// shown is how many problems of one file are told; the first ones cause the others as a
// rule.
const shown = 10

// problems collects what is wrong with one file.
type problems struct {
	file string
	all  []error
}

func (p *problems) add(line int, kind error, format string, args ...any) {
	p.all = append(p.all, &InputError{p.file, line, kind, fmt.Sprintf(format, args...)})
}

// err is nil if there were no problems.
func (p *problems) err() error {
	if more := len(p.all) - shown; more > 0 {
		return errors.Join(append(p.all[:shown:shown], fmt.Errorf("%s: and %d more problems", p.file, more))...)
	}
	return errors.Join(p.all...)
}
