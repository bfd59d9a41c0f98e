package gate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Run is one side of a comparison: a benchmark file that was read and found well-formed.
// Read makes it; its zero value is of no use.
type Run struct {
	file    string
	units   map[string]*unit
	rows    []*row // in the order of the file
	byName  map[string]*row
	machine []benchfmt.Config // goos, goarch and cpu, the same in all rows
}

// row is one benchmark in one configuration.
type row struct {
	name    string // without GOMAXPROCS
	full    string // as printed, without "Benchmark"
	config  []benchfmt.Config
	lines   []line
	units   []string // in the order of the file
	samples map[string][]float64
}

// line is a benchmark line, a sample of each of its units.
type line struct {
	iterations int
	values     []value
}

type value struct {
	unit   string
	number float64
}

// printed is a value with its unit as they stand in the file, not tidied.
func printed(v benchfmt.Value) value {
	if v.OrigUnit != "" {
		return value{v.OrigUnit, v.OrigValue}
	}
	return value{v.Unit, v.Value}
}

// machineKeys are the configuration lines by which go test describes the machine. They
// may differ between two sides.
var machineKeys = []string{"goos", "goarch", "cpu"}

// Read reads a run in Go's benchmark format; file names it in messages. The error has an
// InputError for each problem found, the first ten at most, and then the run is nil. An
// error of r is returned as it is.
func Read(r io.Reader, file string) (*Run, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	run := &Run{file: file, units: map[string]*unit{}, byName: map[string]*row{}}
	wrong := &problems{file: file}
	checkLines(content, wrong)
	reader := benchfmt.NewReader(bytes.NewReader(content), file)
	first := true
	for reader.Scan() {
		_, at := reader.Result().Pos()
		switch record := reader.Result().(type) {
		case *benchfmt.UnitMetadata:
			if err := run.unit(record.OrigUnit).set(record.Key, record.Value); err != nil {
				wrong.add(at, ErrUnit, "%s: %v", record.OrigUnit, err)
			}
		case *benchfmt.Result:
			if first {
				run.machine, first = machineOf(record.Clone()), false // the reader goes on using record
			}
			run.add(record, at, wrong)
		}
	}
	run.check(wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	return run, nil
}

// unit returns what is known of a unit.
func (r *Run) unit(name string) *unit {
	u := r.units[name]
	if u == nil {
		u = &unit{name: name, described: ownUnits[name]}
		r.units[name] = u
	}
	return u
}

// add takes a benchmark line.
func (r *Run) add(result *benchfmt.Result, at int, wrong *problems) {
	full := result.Name.String()
	name := withoutProcs(result.Name)
	if machine := machineOf(result); !sameConfig(machine, r.machine) {
		wrong.add(at, ErrMixed, "%s and before it %s; a side is measured on one machine", configText(machine), configText(r.machine))
	}
	known := r.byName[name]
	if known == nil {
		known = &row{name: name, full: full, config: result.Clone().Config, samples: map[string][]float64{}}
		r.byName[name] = known
		r.rows = append(r.rows, known)
	}
	switch {
	case known.full != full:
		wrong.add(at, ErrMixed, "Benchmark%s and before it Benchmark%s, which differ in GOMAXPROCS", full, known.full)
	case !sameConfig(rowConfig(known.config), rowConfig(result.Config)):
		wrong.add(at, ErrMixed, "Benchmark%s under %s and before it under %s", name, configText(rowConfig(result.Config)), configText(rowConfig(known.config)))
	}
	l := line{iterations: result.Iters}
	for _, v := range result.Values {
		measured := printed(v)
		if slices.ContainsFunc(l.values, func(other value) bool { return other.unit == measured.unit }) {
			continue // checkLines has told
		}
		r.unit(measured.unit)
		if known.samples[measured.unit] == nil {
			known.units = append(known.units, measured.unit)
		}
		known.samples[measured.unit] = append(known.samples[measured.unit], measured.number)
		l.values = append(l.values, measured)
	}
	known.lines = append(known.lines, l)
}

// check looks at what can only be judged when all lines are read, since Unit lines may
// come after the values.
func (r *Run) check(wrong *problems) {
	told := map[string]bool{}
	judged := 0
	for _, row := range r.rows {
		for _, name := range row.units {
			u := r.unit(name)
			switch {
			case told[name]:
			case !u.described:
				told[name] = true
				wrong.add(0, ErrUnit, "%s of Benchmark%s has no Unit line", name, row.name)
			case u.kind() == ratio && u.better == "":
				told[name] = true
				wrong.add(0, ErrUnit, "the Unit line of the ratio %s does not say which way is better", name)
			}
			samples := row.samples[name]
			switch u.kind() {
			case exact:
				judged++
				for _, x := range samples {
					if math.IsNaN(x) || math.IsInf(x, 0) {
						wrong.add(0, ErrValue, "Benchmark%s %s is %v", row.name, name, x)
						break
					}
					if !equal(x, samples[0]) {
						wrong.add(0, ErrValue, "Benchmark%s %s is exact, and was %s and %s in one side", row.name, name, number(samples[0]), number(x))
						break
					}
				}
			case ratio:
				judged++
				for _, x := range samples {
					if !(x > 0) || math.IsInf(x, 0) {
						wrong.add(0, ErrValue, "Benchmark%s %s is %v; a ratio is a number above 0", row.name, name, x)
						break
					}
				}
			}
		}
	}
	if judged == 0 && len(wrong.all) == 0 {
		wrong.add(0, ErrEmpty, "%d benchmarks, none with an exact metric or a ratio", len(r.rows))
	}
}

// equal is the equality of exact metrics.
func equal(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// withoutProcs is the name without the GOMAXPROCS that go test puts at its end, so that
// sides of two machines can be compared.
func withoutProcs(name benchfmt.Name) string {
	base, parts := name.Parts()
	if n := len(parts); n > 0 && parts[n-1][0] == '-' {
		parts = parts[:n-1]
	}
	return string(base) + string(bytes.Join(parts, nil))
}

// machineOf is the configuration of a line that describes the machine, in a fixed order.
func machineOf(result *benchfmt.Result) []benchfmt.Config {
	var machine []benchfmt.Config
	for _, key := range machineKeys {
		if at, ok := result.ConfigIndex(key); ok {
			machine = append(machine, benchfmt.Config{Key: key, Value: result.Config[at].Value, File: true})
		}
	}
	return machine
}

// rowConfig is the configuration but for the machine, in alphabetical order.
func rowConfig(config []benchfmt.Config) []benchfmt.Config {
	var rest []benchfmt.Config
	for _, c := range config {
		if !slices.Contains(machineKeys, c.Key) {
			rest = append(rest, benchfmt.Config{Key: c.Key, Value: c.Value, File: true})
		}
	}
	slices.SortFunc(rest, func(a, b benchfmt.Config) int { return strings.Compare(a.Key, b.Key) })
	return rest
}

func sameConfig(a, b []benchfmt.Config) bool {
	return slices.EqualFunc(a, b, func(a, b benchfmt.Config) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) })
}

func configText(config []benchfmt.Config) string {
	if len(config) == 0 {
		return "no configuration"
	}
	var words []string
	for _, c := range config {
		words = append(words, fmt.Sprintf("%s: %s", c.Key, c.Value))
	}
	return strings.Join(words, ", ")
}
