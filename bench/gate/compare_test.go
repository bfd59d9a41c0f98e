package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// side is a small run: two benchmarks with exact metrics, two with a ratio over eight
// rounds, and one that depends on the machine.
func side() string {
	var b strings.Builder
	b.WriteString(`Unit p50-visible-ms better=lower assume=exact
Unit files/hour better=lower assume=exact
Unit x-bufio better=lower
Unit x-speed better=higher least=10%
Unit ns/record better=lower
goos: linux
goarch: amd64
pkg: sinklab/bench
cpu: AMD EPYC
BenchmarkVisible/policy=default-2   1   29.00 files/hour   60100 p50-visible-ms
BenchmarkVisible/policy=tuned-2     1   327.0 files/hour   6200 p50-visible-ms
BenchmarkHour/policy=default-2     10   7357200 ns/op
`)
	for round := range 8 {
		fmt.Fprintf(&b, "BenchmarkWrite/size=100-2  1  7%d.5 ns/record  1.10%d x-bufio\n", round, round)
		fmt.Fprintf(&b, "BenchmarkRead/size=100-2   1  2.00%d x-speed\n", round)
	}
	b.WriteString("PASS\nok  \tsinklab/bench\t0.067s\n")
	return b.String()
}

func read(t *testing.T, text string) *Run {
	t.Helper()
	run, err := Read(strings.NewReader(text), "bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// edited replaces text in the side, and fails if there was nothing to replace.
func edited(t *testing.T, pairs ...string) string {
	t.Helper()
	text := side()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("there is no %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// found is a finding in short.
type found struct {
	kind            Kind
	benchmark, unit string
}

// The same run twice passes, and everything in it was looked at.
func TestEqualSidesPass(t *testing.T) {
	report, err := Compare(read(t, side()), read(t, side()), Options{})
	if err != nil || !report.OK() || report.ExactEqual != 4 || report.RatiosWithin != 2 || report.NotJudged != 2 || len(report.Findings) != 0 {
		t.Errorf("%v, %+v", err, report)
	}
}

// Each kind of difference is found, told with its benchmark and unit, and fails unless it
// is an improvement.
func TestCompareFinds(t *testing.T) {
	visible, tuned, write, speed := "BenchmarkVisible/policy=default", "BenchmarkVisible/policy=tuned", "BenchmarkWrite/size=100", "BenchmarkRead/size=100"
	for _, test := range []struct {
		name string
		edit []string
		want []found
		ok   bool
	}{
		{"an exact metric off by one", []string{"60100", "60101"}, []found{{ExactDiffers, visible, "p50-visible-ms"}}, false},
		{"an exact metric that became better", []string{"60100", "60099"}, []found{{ExactDiffers, visible, "p50-visible-ms"}}, false},
		{"a ratio worse by a tenth", []string{"1.10", "1.21"}, []found{{Regression, write, "x-bufio"}}, false},
		{"a ratio better by a tenth", []string{"1.10", "0.99"}, []found{{Improvement, write, "x-bufio"}}, true},
		{"a ratio worse by less than counts", []string{"1.10", "1.11"}, nil, true},
		{"a ratio worse, higher is better", []string{"2.00", "1.70"}, []found{{Regression, speed, "x-speed"}}, false},
		{"a ratio better, higher is better", []string{"2.00", "2.40"}, []found{{Improvement, speed, "x-speed"}}, true},
		{"a ratio worse by less than the least= of its unit", []string{"2.00", "1.85"}, nil, true},
		{"a benchmark gone", []string{"BenchmarkWrite", "# "}, []found{{MissingBenchmark, write, ""}}, false},
		{"a machine-dependent benchmark gone", []string{"BenchmarkHour", "# "}, []found{{MissingBenchmark, "BenchmarkHour/policy=default", ""}}, false},
		{"a benchmark renamed", []string{"policy=tuned", "policy=tight"}, []found{{MissingBenchmark, tuned, ""}, {NewBenchmark, "BenchmarkVisible/policy=tight", ""}}, false},
		{"a unit renamed", []string{"p50-visible-ms", "p51-visible-ms"}, []found{{MissingUnit, "", "p50-visible-ms"}, {NewUnit, "", "p51-visible-ms"}}, false},
		{"a ratio renamed", []string{"x-bufio", "x-plain"}, []found{{MissingUnit, "", "x-bufio"}, {NewUnit, "", "x-plain"}}, false},
		{"a unit gone from one benchmark", []string{"60100 p50-visible-ms", ""}, []found{{MissingUnit, visible, "p50-visible-ms"}}, false},
		{"a unit new in one benchmark", []string{"7357200 ns/op", "7357200 ns/op 3 files/hour"}, []found{{NewUnit, "BenchmarkHour/policy=default", "files/hour"}}, false},
		{"a unit not exact any more", []string{"ms better=lower assume=exact", "ms better=lower"}, []found{{UnitDiffers, "", "p50-visible-ms"}}, false},
		{"another way is better", []string{"x-bufio better=lower", "x-bufio better=higher"}, []found{{UnitDiffers, "", "x-bufio"}}, false},
		{"another least effect", []string{"least=10%", "least=50%"}, []found{{UnitDiffers, "", "x-speed"}}, false},
		{"a minus before an exact 0", []string{"29.00", "-0"}, []found{{ExactDiffers, visible, "files/hour"}}, false},
		{"a ratio worse by chance", []string{"1.101", "1.3", "1.103", "1.3", "1.105", "1.3", "1.107", "1.3"}, nil, true},
		{"a machine-dependent unit described anew", []string{"ns/record better=lower", "ns/record better=higher"}, nil, true},
		{"another machine", []string{"linux", "darwin", "amd64", "arm64", "AMD EPYC", "Apple M4", "-2 ", "-10 "}, nil, true},
		{"one processor", []string{"-2 ", " "}, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := side()
			if test.edit[1] == "-0" {
				base = strings.Replace(base, test.edit[0], "0", 1)
			}
			report, err := Compare(read(t, base), read(t, edited(t, test.edit...)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []found
			for _, f := range report.Findings {
				got = append(got, found{f.Kind, f.Benchmark, f.Unit})
			}
			if !slices.Equal(got, test.want) || report.OK() != test.ok {
				t.Errorf("OK %v, got %v; want %v", report.OK(), got, test.want)
			}
		})
	}
}

// A unit that the new run alone calls exact is not compared, only told.
func TestAUnitExactOfLate(t *testing.T) {
	one := "Unit a assume=exact\nUnit b better=lower\nBenchmarkX 1 1 a 2 b\n"
	report, err := Compare(read(t, one), read(t, strings.Replace(one, "b better", "b assume=exact better", 1)), Options{})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Kind != UnitDiffers || report.ExactEqual != 1 {
		t.Errorf("%v, %+v", err, report)
	}
}

// The new name of a unit is guessed when there is one only.
func TestTheNewNameOfAUnit(t *testing.T) {
	detail := func(text string) string {
		report, err := Compare(read(t, side()), read(t, text), Options{})
		if err != nil || len(report.Findings) == 0 {
			t.Fatal(err, report)
		}
		return report.Findings[0].Detail
	}
	if got, want := detail(edited(t, "p50-visible-ms", "p51-visible-ms")), "the baseline has it in 2 benchmarks; is it p51-visible-ms now?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	two := edited(t, "p50-visible-ms", "p51-visible-ms", "files/hour  ", "files/hour 1 q-visible-ms  ") + "Unit q-visible-ms assume=exact\n"
	if got, want := detail(two), "the baseline has it in 2 benchmarks"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Sides of which one lies under another package or configuration cannot be compared.
func TestCompareRefusesOtherConfigurations(t *testing.T) {
	for _, edit := range [][]string{{"pkg: sinklab/bench\n", "pkg: sinklab/other\n"}, {"pkg:", "disk: slow\npkg:"}} {
		if _, err := Compare(read(t, side()), read(t, edited(t, edit...)), Options{}); !errors.Is(err, ErrMixed) {
			t.Errorf("%q: %v", edit[1], err)
		}
	}
}

// In which order configuration lines come says nothing.
func TestConfigurationInAnotherOrder(t *testing.T) {
	old, now := edited(t, "pkg:", "disk: slow\nfs: ext4\npkg:"), edited(t, "pkg:", "fs: ext4\ndisk: slow\npkg:")
	if report, err := Compare(read(t, old), read(t, now), Options{}); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

// A run that was compared is as it was.
func TestCompareChangesNoRun(t *testing.T) {
	base, run := read(t, "Unit x-a better=lower\n"+strings.Repeat("BenchmarkX 1 2 x-a\nBenchmarkX 1 1 x-a\n", 4)), read(t, side())
	for range 2 {
		if _, err := Compare(base, base, Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Compare(base, run, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := base.byName["X"].samples["x-a"]; !slices.Equal(got, []float64{2, 1, 2, 1, 2, 1, 2, 1}) || len(base.units) != 1 {
		t.Errorf("samples %v, %d units", got, len(base.units))
	}
}

// With too few samples even sides that do not overlap would pass, so it is an error; one
// sample more on either side is enough.
func TestCompareRefusesTooFewSamples(t *testing.T) {
	sized := func(n int) *Run {
		text := "Unit x-a better=lower\n"
		for i := range n {
			text += fmt.Sprintf("BenchmarkX 1 1.%d x-a\n", i)
		}
		return read(t, text)
	}
	// 2/C(10,5) is 0.0079, 2/C(9,4) is 0.016, 2/C(29,4) is 0.000084; beyond 25 samples equal
	// values make the test an approximation that does not get below 0.0014 for 30 and 4.
	for _, test := range []struct {
		base, run int
		alpha     float64
		refused   bool
	}{{5, 5, 0.01, false}, {4, 5, 0.01, true}, {5, 4, 0.01, true}, {8, 4, 0.01, false}, {4, 4, 0.01, true}, {4, 4, 0.03, false}, {1, 1, 0.5, true}, {25, 4, 0.001, false}, {30, 4, 0.001, true}, {200, 1, 0.01, true}} {
		_, err := Compare(sized(test.base), sized(test.run), Options{Alpha: test.alpha})
		if errors.Is(err, ErrSamples) != test.refused || err != nil && !test.refused {
			t.Errorf("%+v: %v", test, err)
		}
	}
	_, err := Compare(sized(4), sized(4), Options{})
	want := "bench.txt: too few samples: BenchmarkX x-a has 4 samples, and 4 in the baseline; among 1 ratio no difference, however large, could be told at the rate 0.01; 5 rounds on each side are enough, as are fewer against a longer baseline"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// The more ratios the more samples are needed.
func TestMoreRatiosNeedMoreSamples(t *testing.T) {
	text := "Unit x-a better=lower\n"
	for i := range 5 {
		text += fmt.Sprintf("BenchmarkX 1 1.%d x-a\nBenchmarkY 1 1.%d x-a\n", i, i)
	}
	if _, err := Compare(read(t, text), read(t, text), Options{}); !errors.Is(err, ErrSamples) {
		t.Errorf("5 samples of two ratios were enough: %v", err)
	}
}

func TestCompareRefusesOptions(t *testing.T) {
	for _, o := range []Options{{Alpha: -1}, {Alpha: 1}, {Least: -1}, {Least: 1}} {
		if _, err := Compare(read(t, side()), read(t, side()), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// The least effect that is asked for counts for every ratio, and otherwise that of the
// unit, or the default.
func TestLeastEffect(t *testing.T) {
	run := read(t, edited(t, "1.10", "1.16", "2.00", "1.85"))
	for _, test := range []struct {
		least float64
		want  int
	}{{0, 1}, {0.04, 2}, {0.06, 1}, {0.08, 0}} {
		report, err := Compare(read(t, side()), run, Options{Least: test.least})
		if err != nil || len(report.Findings) != test.want {
			t.Errorf("least %v: %v, %+v", test.least, err, report)
		}
	}
}

// The worst comes first: by kind, and within one by how much worse it is.
func TestTheWorstFirst(t *testing.T) {
	text := edited(t, "1.10", "1.21", "2.00", "1.00", "60100", "60101", "6200", "9000", "BenchmarkHour", "# ")
	report, err := Compare(read(t, side()), read(t, text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	want := `missing benchmark  BenchmarkHour/policy=default     (all units)     the baseline has it
exact differs      BenchmarkVisible/policy=tuned    p50-visible-ms  6200 → 9000
exact differs      BenchmarkVisible/policy=default  p50-visible-ms  60100 → 60101
regression         BenchmarkRead/size=100           x-speed         2.003 → 1.003, 49.9% worse (limit 10%, p=0.00016)
regression         BenchmarkWrite/size=100          x-bufio         1.103 → 1.214, 9.97% worse (limit 3%, p=0.00016)
gate: 2 exact values equal, 0 ratios within their limits, 1 machine-dependent value not judged; FAILED by 5 findings
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// What became better is told as such, and counted apart.
func TestAnImprovementInWords(t *testing.T) {
	report, err := Compare(read(t, side()), read(t, edited(t, "1.10", "0.99")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	want := `improvement  BenchmarkWrite/size=100  x-bufio  1.103 → 0.9935, 9.97% better (limit 3%, p=0.00016)
gate: 4 exact values equal, 1 ratio within their limits, 2 machine-dependent values not judged, 1 improvement
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// If only ratios are judged all else is told, and only a ratio that became worse fails.
func TestRatiosOnly(t *testing.T) {
	for _, test := range []struct {
		name string
		edit []string
		want []Kind
		ok   bool
	}{
		{"nothing", nil, nil, true},
		{"an exact metric", []string{"60100", "60101"}, []Kind{ExactDiffers}, true},
		{"a benchmark gone", []string{"BenchmarkHour", "# "}, []Kind{MissingBenchmark}, true},
		{"a benchmark renamed", []string{"policy=tuned", "policy=tight"}, []Kind{MissingBenchmark, NewBenchmark}, true},
		{"a unit renamed", []string{"p50-visible-ms", "p51-visible-ms"}, []Kind{MissingUnit, NewUnit}, true},
		{"a unit described anew", []string{"least=10%", "least=50%"}, []Kind{UnitDiffers}, true},
		{"a ratio that became better", []string{"1.10", "0.99"}, []Kind{Improvement}, true},
		{"a ratio that became worse", []string{"1.10", "1.21"}, []Kind{Regression}, false},
		{"both", []string{"1.10", "1.21", "60100", "60101"}, []Kind{ExactDiffers, Regression}, false},
	} {
		report, err := Compare(read(t, side()), read(t, edited(t, test.edit...)), Options{RatiosOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []Kind
		for _, f := range report.Findings {
			got = append(got, f.Kind)
			if report.Fails(f) != (f.Kind == Regression) {
				t.Errorf("%s: fails by %+v: %v", test.name, f, report.Fails(f))
			}
		}
		if !slices.Equal(got, test.want) || report.OK() != test.ok || !report.RatiosOnly {
			t.Errorf("%s: OK %v, %v; want %v", test.name, report.OK(), got, test.want)
		}
	}
	report, err := Compare(read(t, side()), read(t, edited(t, "1.10", "1.21", "60100", "60101", "PASS", "BenchmarkNew 1 1 ns/op")), Options{RatiosOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	want := "gate: 3 exact values equal, 1 ratio within their limits, 3 machine-dependent values not judged, 2 other differences that cannot fail; FAILED by 1 finding\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	// Without a ratio in common nothing could fail, which is no verdict.
	if _, err := Compare(read(t, side()), read(t, edited(t, "x-bufio", "x-plain", "x-speed", "x-pace")), Options{RatiosOnly: true}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}

// Programs find the same in JSON.
func TestReportJSON(t *testing.T) {
	report, err := Compare(read(t, side()), read(t, edited(t, "60100", "60101")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"findings":[{"kind":"exact differs","benchmark":"BenchmarkVisible/policy=default","unit":"p50-visible-ms","old":60100,"new":60101,"worse":0.000016638935108153077}],` +
		`"exact_equal":3,"ratios_within":2,"ratios":2,"not_judged":2,"alpha":0.01,"ratios_only":false}`
	if string(content) != want {
		t.Errorf("got\n%s\nwant\n%s", content, want)
	}
}
