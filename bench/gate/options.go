package gate

import (
	"fmt"
	"strconv"
	"strings"
)

// Defaults of Options; the package documentation says what they were measured to find.
const (
	DefaultAlpha = 0.01
	DefaultLeast = 0.03
)

// Options say how ratios are compared, and whether anything else may fail.
type Options struct {
	// Alpha is the rate of false alarms of the whole comparison: how often a run of
	// unchanged code may fail because of one ratio or another. It is above 0 and below 1;
	// 0 means DefaultAlpha.
	Alpha float64

	// Least is the share by which a median has to be worse before it counts, above 0 and
	// below 1. It holds for every ratio, whatever the Unit lines say, since who asks knows how
	// alike the circumstances of the sides are: those of a baseline are another machine's and
	// another day's, those of sides measured in turns are the same. 0 means least= of the
	// unit's Unit line, and DefaultLeast where there is none.
	Least float64

	// RatiosOnly lets nothing fail but ratios that became worse. All else that differs is told
	// as well. It is for two sides of a change that is meant to change exact metrics or to add
	// benchmarks, which the committed baseline judges; the zero value judges everything.
	RatiosOnly bool
}

// validate checks the options and fills in the defaults.
func (o Options) validate() (Options, error) {
	if o.Alpha == 0 {
		o.Alpha = DefaultAlpha
	}
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return o, fmt.Errorf("%w: Alpha %v: must be above 0 and below 1", ErrOptions, o.Alpha)
	}
	if o.Least != 0 && !(o.Least > 0 && o.Least < 1) {
		return o, fmt.Errorf("%w: Least %v: must be above 0 and below 1", ErrOptions, o.Least)
	}
	return o, nil
}

// ParseLeast reads a least effect as Unit lines and the command line have it: a number
// and a percent sign, above 0% and below 100%. "5%" is 0.05.
func ParseLeast(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(percent > 0 && percent < 100) {
		return 0, fmt.Errorf("%w: least effect %q: must be a percentage above 0%% and below 100%%, such as 5%%", ErrOptions, text)
	}
	return percent / 100, nil
}
