package gate

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func baseline(t *testing.T, run *Run) string {
	t.Helper()
	var out bytes.Buffer
	if err := run.WriteBaseline(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A baseline holds what is judged, and of the rest one sample each, with all Unit lines.
func TestWriteBaseline(t *testing.T) {
	got := baseline(t, read(t, side()+"BenchmarkVisible/policy=default-2 1 29 files/hour 60100 p50-visible-ms 1 ns/op\n"+
		"Unit odd assume=nothing\nBenchmarkOdd 1 2 odd\nBenchmarkOdd 1 3 odd\n"))
	want := `Unit files/hour better=lower
Unit files/hour assume=exact
Unit ns/record better=lower
Unit odd assume=nothing
Unit p50-visible-ms better=lower
Unit p50-visible-ms assume=exact
Unit x-bufio better=lower
Unit x-speed better=higher
Unit x-speed least=10%
goos: linux
goarch: amd64
pkg: sinklab/bench
cpu: AMD EPYC

BenchmarkHour/policy=default-2 10 7.3572e+06 ns/op
BenchmarkOdd 1 2 odd
BenchmarkRead/size=100-2 1 2 x-speed
BenchmarkRead/size=100-2 1 2.001 x-speed
BenchmarkRead/size=100-2 1 2.002 x-speed
BenchmarkRead/size=100-2 1 2.003 x-speed
BenchmarkRead/size=100-2 1 2.004 x-speed
BenchmarkRead/size=100-2 1 2.005 x-speed
BenchmarkRead/size=100-2 1 2.006 x-speed
BenchmarkRead/size=100-2 1 2.007 x-speed
BenchmarkVisible/policy=default-2 1 29 files/hour 60100 p50-visible-ms
BenchmarkVisible/policy=default-2 1 1 ns/op
BenchmarkVisible/policy=tuned-2 1 327 files/hour 6200 p50-visible-ms
BenchmarkWrite/size=100-2 1 70.5 ns/record 1.1 x-bufio
BenchmarkWrite/size=100-2 1 1.101 x-bufio
BenchmarkWrite/size=100-2 1 1.102 x-bufio
BenchmarkWrite/size=100-2 1 1.103 x-bufio
BenchmarkWrite/size=100-2 1 1.104 x-bufio
BenchmarkWrite/size=100-2 1 1.105 x-bufio
BenchmarkWrite/size=100-2 1 1.106 x-bufio
BenchmarkWrite/size=100-2 1 1.107 x-bufio
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A baseline is a run that passes beside the run it was made of, and of which the same
// baseline is made; the order in the run does not
// matter.
func TestABaselineIsARun(t *testing.T) {
	first := baseline(t, read(t, side()))
	if again := baseline(t, read(t, first)); again != first {
		t.Errorf("a baseline of the baseline is\n%s", again)
	}
	report, err := Compare(read(t, first), read(t, side()), Options{})
	if err != nil || !report.OK() || report.ExactEqual != 4 || report.RatiosWithin != 2 {
		t.Errorf("%v, %+v", err, report)
	}
	var config, units, visible, others []string
	for text := range strings.Lines(side()) {
		switch {
		case strings.HasPrefix(text, "Unit"):
			units = append(units, text)
		case strings.HasPrefix(text, "BenchmarkVisible"):
			visible = append(visible, text)
		case strings.HasPrefix(text, "Benchmark"):
			others = append(others, text)
		default:
			config = append(config, text)
		}
	}
	slices.Reverse(units)
	slices.Reverse(visible)
	for i := range visible {
		visible[i] = regexp.MustCompile(`(\S+ files/hour) +(\S+ p50-visible-ms)`).ReplaceAllString(visible[i], "$2 $1")
	}
	other := strings.Join(slices.Concat(config, others, visible, units), "")
	other = strings.ReplaceAll(other, "\n", "\r\n") // as a system writes it that ends lines so
	if got := baseline(t, read(t, other)); got != first {
		t.Errorf("in another order\n%s\nwant\n%s", got, first)
	}
}

// A run that has not measured what depends on the machine, or measured more of it, does not
// pass beside a baseline, though no value of it is judged.
func TestABaselineMissesWhatDependsOnTheMachine(t *testing.T) {
	base := read(t, baseline(t, read(t, side())))
	for _, test := range []struct {
		edit []string
		want found
	}{
		{[]string{"BenchmarkHour", "# "}, found{MissingBenchmark, "BenchmarkHour/policy=default", ""}},
		{[]string{"BenchmarkHour/policy=default", "BenchmarkHour/policy=new"}, found{MissingBenchmark, "BenchmarkHour/policy=default", ""}},
		{[]string{"ns/record  1.10", "allocs/op  1.10"}, found{MissingUnit, "", "ns/record"}},
		{[]string{" 7357200 ns/op", " 7357200 ns/op 3 MB/s"}, found{NewUnit, "", "MB/s"}},
		{[]string{"PASS", "BenchmarkMore 1 3 ns/op"}, found{NewBenchmark, "BenchmarkMore", ""}},
	} {
		report, err := Compare(base, read(t, edited(t, test.edit...)), Options{})
		if err != nil || report.OK() || len(report.Findings) == 0 {
			t.Errorf("%q: %v, %+v", test.edit, err, report)
			continue
		}
		if f := report.Findings[0]; (found{f.Kind, f.Benchmark, f.Unit}) != test.want {
			t.Errorf("%q: %+v, want %+v", test.edit, f, test.want)
		}
	}
	if report, err := Compare(base, read(t, edited(t, "7357200", "9999999", " 7", " 9")), Options{}); err != nil || !report.OK() {
		t.Errorf("values of the machine were judged: %v, %+v", err, report)
	}
}

// What a new baseline would lose is told as such.
func TestChangesDrop(t *testing.T) {
	for _, test := range []struct {
		edit []string
		want bool
	}{
		{[]string{"60100", "60101"}, false},
		{[]string{"PASS", "BenchmarkMore 1 3 ns/op"}, false},
		{[]string{"BenchmarkHour", "# "}, true},
		{[]string{"60100 p50-visible-ms", ""}, true},
	} {
		changes, err := CompareBaselines(read(t, baseline(t, read(t, side()))), read(t, edited(t, test.edit...)))
		if err != nil || changes.Drops() != test.want {
			t.Errorf("%q: %v, drops %v, want %v", test.edit, err, changes.Drops(), test.want)
		}
	}
}

// Exact values come back bit for bit, however many digits they have.
func TestABaselineKeepsEveryBit(t *testing.T) {
	text := "Unit a assume=exact\n"
	for _, x := range []string{"0.1", "1e-300", "123456789012345680", "1e300", "-0", "3"} {
		text += "BenchmarkX/of=" + x + "v 1 " + x + " a\n"
	}
	run := read(t, text)
	again := read(t, baseline(t, run))
	for name, row := range run.byName {
		if got := again.byName[name]; got == nil || !equal(got.samples["a"][0], row.samples["a"][0]) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a new baseline changes is told by benchmark and unit, and counted.
func TestCompareBaselines(t *testing.T) {
	now := read(t, edited(t, "60100", "60101", "1.10", "1.21", "policy=tuned", "policy=tight"))
	changes, err := CompareBaselines(read(t, baseline(t, read(t, side()))), now)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := changes.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	want := `missing benchmark  BenchmarkVisible/policy=tuned    (all units)     the baseline has it
exact differs      BenchmarkVisible/policy=default  p50-visible-ms  60100 → 60101
regression         BenchmarkWrite/size=100          x-bufio         1.103 → 1.214, 9.97% worse (limit 3%, p=0.00016)
new benchmark      BenchmarkVisible/policy=tight    (all units)     the baseline lacks it
baseline: 4 exact values and 2 ratios; as before 1 exact value and 1 ratio; 4 changes
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	if first, err := CompareBaselines(nil, now); err != nil || first.Exact != 4 || first.Ratios != 2 || len(first.Findings) != 0 {
		t.Errorf("%v, %+v", err, first)
	}
}

// A ratio of a single sample would make every later comparison an error.
func TestABaselineNeedsSamples(t *testing.T) {
	if _, err := CompareBaselines(nil, read(t, "Unit x-a better=lower\nBenchmarkX 1 1 x-a\n")); !errors.Is(err, ErrSamples) {
		t.Error(err)
	}
}
