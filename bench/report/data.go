package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"sinklab/bench/gate"
)

// ErrFormat is wrapped by the error of a benchmark file that cannot be reported on: it is
// empty, a line of it is malformed or cut off, something in it failed ([gate.CheckLines]), or
// it has a value that no axis can show, above 1e30 or, but for 0, below 1e-30. The text gives
// file and line. Make the file anew with make bench.
var ErrFormat = errors.New("not a complete benchmark file")

// Config is a line of a benchmark file that tells about the machine or the build.
type Config struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Run is what a benchmark file holds. Read makes one.
type Run struct {
	name    string
	config  []Config
	metrics []*metric // in the order of the file
	byKey   map[metricKey]*metric
}

// metricKey names a metric on whatever machine: without the number of processors.
type metricKey struct{ pkg, benchmark, unit string }

// metric is one benchmark's samples in one unit.
type metric struct {
	metricKey
	full    string // the benchmark's name in the file
	samples []float64
	exact   bool
	better  int // +1 if more is better, -1 if less is, 0 if the file does not say
}

// Read reads a benchmark file in Go's format, as make bench writes it. The name is for
// messages and for the page. The error wraps [ErrFormat], or is that of the reader.
func Read(in io.Reader, name string) (*Run, error) {
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := gate.CheckLines(content, name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	r := &Run{name: name, byKey: map[metricKey]*metric{}}
	reader := benchfmt.NewReader(bytes.NewReader(content), name)
	for reader.Scan() {
		if record, ok := reader.Result().(*benchfmt.Result); ok {
			if err := r.add(record); err != nil {
				return nil, err
			}
		}
	}
	if len(r.metrics) == 0 {
		return nil, fmt.Errorf("%w: %s has no benchmark in it", ErrFormat, name)
	}
	units := reader.Units()
	for _, m := range r.metrics {
		m.exact = units.GetAssumption(m.unit) == benchmath.AssumeExact
		m.better = units.GetBetter(m.unit)
		if m.exact && slices.Min(m.samples) != slices.Max(m.samples) {
			return nil, fmt.Errorf("%w: %s: %s differs from one run to the next in %s, though it is said to be exact",
				ErrFormat, name, m.full, m.unit)
		}
	}
	return r, nil
}

// largest is the largest value that is shown; 1 by it is the smallest above 0. Quotients of two
// values, and margins around them, are far from the ends of float64 then.
const largest = 1e30

// add takes in one line.
func (r *Run) add(result *benchfmt.Result) error {
	pkg := ""
	for _, c := range result.Config {
		if !c.File {
			continue
		}
		if c.Key == "pkg" {
			pkg = string(c.Value)
		}
		line := Config{c.Key, string(c.Value)}
		if !slices.Contains(r.config, line) {
			r.config = append(r.config, line)
		}
	}
	file, line := result.Pos()
	full := string(result.Name.Full())
	for _, v := range result.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("%w: %s:%d: %s is %v %s", ErrFormat, file, line, full, value, unit)
		}
		if size := math.Abs(value); size > largest || size != 0 && size < 1/largest {
			return fmt.Errorf("%w: %s:%d: %s is %v %s, which cannot be drawn: beyond %v and %v nothing is measured",
				ErrFormat, file, line, full, value, unit, 1/largest, largest)
		}
		key := metricKey{pkg, machineless(result.Name), unit}
		m := r.byKey[key]
		if m == nil {
			m = &metric{metricKey: key, full: full}
			r.byKey[key] = m
			r.metrics = append(r.metrics, m)
		}
		if m.full != full {
			return fmt.Errorf("%w: %s:%d: %s and %s are one benchmark with different numbers of processors; report on one of them at a time",
				ErrFormat, file, line, m.full, full)
		}
		m.samples = append(m.samples, value)
	}
	return nil
}

// machineless is a name without the number of processors.
func machineless(name benchfmt.Name) string {
	base, parts := name.Parts()
	if n := len(parts); n > 0 && parts[n-1][0] == '-' {
		parts = parts[:n-1]
	}
	return string(base) + string(bytes.Join(parts, nil))
}

// function is the name's part before the first key.
func (k metricKey) function() string {
	function, _, _ := strings.Cut(k.benchmark, "/")
	return function
}

// word is one key=value of a name. The key is empty if the segment is not of that form.
type word struct{ key, value string }

// words are the segments of the name after the function.
func (k metricKey) words() []word {
	_, rest, found := strings.Cut(k.benchmark, "/")
	if !found {
		return nil
	}
	var words []word
	for segment := range strings.SplitSeq(rest, "/") {
		key, value, ok := strings.Cut(segment, "=")
		if !ok {
			key, value = "", segment
		}
		words = append(words, word{key, value})
	}
	return words
}

// value is what the benchmark has for the key, or "".
func (k metricKey) value(key string) string {
	for _, w := range k.words() {
		if w.key == key {
			return w.value
		}
	}
	return ""
}

// summary is the median of the samples with its interval at 95 %. Few samples give no
// interval, which the library says with an infinite one.
func (m *metric) summary() benchmath.Summary {
	assume := benchmath.Assumption(benchmath.AssumeNothing)
	if m.exact {
		assume = benchmath.AssumeExact
	}
	return assume.Summary(m.sample(), confidence)
}

func (m *metric) sample() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(m.samples), &benchmath.DefaultThresholds)
}

// confidence is that of every interval shown.
const confidence = 0.95

// find returns the metrics that the function accepts, in the order of the file.
func (r *Run) find(accept func(*metric) bool) []*metric {
	var found []*metric
	for _, m := range r.metrics {
		if accept(m) {
			found = append(found, m)
		}
	}
	return found
}
