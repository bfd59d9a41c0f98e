package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchmarks is a small run with an exact metric and a ratio.
func benchmarks() string {
	text := "Unit p50-visible-ms better=lower assume=exact\nUnit x-bufio better=lower\npkg: sinklab/bench\n" +
		"BenchmarkVisible/policy=default-2 1 60100 p50-visible-ms\n"
	for round := range 8 {
		text += fmt.Sprintf("BenchmarkWrite/size=100-2 1 1.10%d x-bufio 70 ns/op\n", round)
	}
	return text + "PASS\n"
}

// written puts text into a file of a new directory.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// madeBaseline is a baseline that the command wrote.
func madeBaseline(t *testing.T) string {
	t.Helper()
	base := filepath.Join(t.TempDir(), "baseline.txt")
	status, out, errs := sinklab(t, "", "baseline", written(t, benchmarks()), base)
	want := "baseline: 1 exact value and 1 ratio; as before 0 exact values and 0 ratios; 0 changes\n"
	if status != statusOK || out != want || errs != "" {
		t.Fatalf("status %d, %q, %s; want %q", status, out, errs, want)
	}
	return base
}

// Every planted regression fails with status 1, everything that is no side with status 2,
// and either says what it is.
func TestGateStatus(t *testing.T) {
	base := madeBaseline(t)
	for _, test := range []struct {
		name, old, new string
		status         int
		says           string
	}{
		{"nothing", "", "", statusOK, "gate: 1 exact value equal, 1 ratio within their limits, 1 machine-dependent value not judged\n"},
		{"exact metric off by one", "60100", "60101", statusFound, "60100 → 60101"},
		{"ratio off by a tenth", "1.10", "1.21", statusFound, "worse"},
		{"ratio better by a tenth", "1.10", "0.99", statusOK, "improvement"},
		{"benchmark gone", "BenchmarkWrite", "# ", statusFound, "missing benchmark"},
		{"unit renamed", "p50-visible", "p51-visible", statusFound, "is it p51-visible-ms now?"},
		{"benchmark new", "PASS", "BenchmarkNew 1 1 p50-visible-ms", statusFound, "new benchmark"},
		{"unit not exact any more", " assume=exact", "", statusFound, "unit differs"},
		{"a failure", "PASS", "--- FAIL: BenchmarkWrite", statusBadInput, "bench.txt:13: the run failed"},
		{"a syntax error", "1 1.100", "1.100", statusBadInput, "bench.txt:5: not a benchmark line"},
		{"two configurations", "PASS", "pkg: other\nBenchmarkWrite/size=100-2 1 1.1 x-bufio", statusBadInput, "two configurations in one row"},
		{"no Unit line", "Unit x-bufio better=lower\n", "", statusBadInput, "no Unit line"},
		{"an empty side", "Benchmark", "#", statusBadInput, "nothing to compare"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out, errs := sinklab(t, "", "gate", base, written(t, strings.ReplaceAll(benchmarks(), test.old, test.new)))
			told := out
			if status == statusBadInput {
				told = errs
			}
			if status != test.status || !strings.Contains(told, test.says) || (status == statusBadInput) != (errs != "") {
				t.Errorf("status %d, %s%s; want %d, %q", status, out, errs, test.status, test.says)
			}
			if hint := strings.Contains(out, "write a new baseline"); hint != (status == statusFound) {
				t.Errorf("what to do next is told: %v\n%s", hint, out)
			}
		})
	}
}

// Files that are not there and options that make no sense are bad input.
func TestGateRefuses(t *testing.T) {
	base, run, absent := madeBaseline(t), written(t, benchmarks()), filepath.Join(t.TempDir(), "absent.txt")
	few := written(t, strings.Join(strings.SplitAfter(benchmarks(), "\n")[:6], ""))
	for _, args := range [][]string{
		{absent, run}, {base, absent}, {base}, {few, few},
		{"--alpha", "0", base, run}, {"--alpha", "1", base, run}, {"--alpha", "NaN", base, run},
		{"--least", "0%", base, run}, {"--least", "0.05", base, run}, {"--least", "100%", base, run},
	} {
		if status, out, errs := sinklab(t, "", append([]string{"gate"}, args...)...); status != statusBadInput || out != "" || errs == "" {
			t.Errorf("%q: status %d, %q, %q", args, status, out, errs)
		}
	}
}

// The options reach the comparison.
func TestGateOptions(t *testing.T) {
	base, worse := madeBaseline(t), written(t, strings.ReplaceAll(benchmarks(), "1.10", "1.21"))
	for _, test := range []struct {
		flag   string
		status int
	}{{"--least=9%", statusFound}, {"--least=11%", statusOK}, {"--alpha=0.001", statusFound}, {"--alpha=0.0001", statusBadInput}} {
		if status, out, errs := sinklab(t, "", "gate", test.flag, base, worse); status != test.status {
			t.Errorf("%s: status %d, %s%s", test.flag, status, out, errs)
		}
	}
}

// With --ratios an exact metric that differs is told and passes, a ratio that is worse fails,
// in text and in JSON.
func TestGateRatios(t *testing.T) {
	base := written(t, benchmarks())
	for _, test := range []struct {
		old, new, says string
		status         int
	}{
		{"60100", "60101", "60100 → 60101", statusOK},
		{"policy=default", "policy=other", "missing benchmark", statusOK},
		{"1.10", "1.21", "All samples", statusFound},
		{"x-bufio", "x-plain", "nothing to compare", statusBadInput},
	} {
		run := written(t, strings.ReplaceAll(benchmarks(), test.old, test.new))
		status, out, errs := sinklab(t, "", "gate", "--ratios", base, run)
		if status != test.status || !strings.Contains(out+errs, test.says) || strings.Contains(out, "new baseline") {
			t.Errorf("%s: status %d, %s%s; want %d, %q", test.new, status, out, errs, test.status, test.says)
		}
		if status == statusBadInput {
			continue
		}
		status, out, errs = sinklab(t, "", "gate", "--ratios", "--json", base, run)
		var report struct {
			OK         bool
			RatiosOnly bool `json:"ratios_only"`
			Findings   []struct{ Kind string }
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || status != test.status || report.OK != (status == statusOK) || !report.RatiosOnly || len(report.Findings) == 0 {
			t.Errorf("%s: status %d, %v, %s%s", test.new, status, err, out, errs)
		}
	}
}

// Programs get the same verdict as JSON.
func TestGateJSON(t *testing.T) {
	base := madeBaseline(t)
	for _, test := range []struct {
		run    string
		status int
	}{{benchmarks(), statusOK}, {strings.ReplaceAll(benchmarks(), "60100", "60101"), statusFound}} {
		status, out, _ := sinklab(t, "", "gate", "--json", base, written(t, test.run))
		var report struct {
			OK         bool
			Findings   []struct{ Kind, Benchmark, Unit string }
			ExactEqual int `json:"exact_equal"`
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || status != test.status || report.OK != (status == statusOK) || report.Findings == nil {
			t.Errorf("status %d, %v, %s", status, err, out)
		}
		if !report.OK && (len(report.Findings) != 1 || report.Findings[0].Unit != "p50-visible-ms" || report.ExactEqual != 0) {
			t.Errorf("%+v", report)
		}
	}
}

// The new baseline replaces the old one, says what it changes, and leaves nothing beside
// it; the mode is that of a file in a repository.
func TestBaselineReplaces(t *testing.T) {
	base := madeBaseline(t)
	run := written(t, strings.ReplaceAll(benchmarks(), "60100", "60101"))
	status, out, errs := sinklab(t, "", "baseline", run, base)
	want := "exact differs  BenchmarkVisible/policy=default  p50-visible-ms  60100 → 60101\n" +
		"baseline: 1 exact value and 1 ratio; as before 0 exact values and 1 ratio; 1 change\n"
	if status != statusOK || out != want || errs != "" {
		t.Errorf("status %d, %s\n%s\nwant\n%s", status, errs, out, want)
	}
	if status, out, _ := sinklab(t, "", "gate", base, run); status != statusOK {
		t.Errorf("the run does not pass beside its own baseline: %s", out)
	}
	entries, err := os.ReadDir(filepath.Dir(base))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if info, err := os.Stat(base); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A run of some of the benchmarks does not drop the others without being asked to.
func TestBaselineKeepsWhatARunLacks(t *testing.T) {
	base := madeBaseline(t)
	before, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{{"BenchmarkVisible", "# "}, {" 70 ns/op", ""}} {
		run := written(t, strings.ReplaceAll(benchmarks(), edit[0], edit[1]))
		status, out, errs := sinklab(t, "", "baseline", run, base)
		if status != statusFound || !strings.Contains(out, "missing ") || !strings.Contains(out, base+" stays as it is") || !strings.Contains(out, "--drop") || errs != "" {
			t.Errorf("%s: status %d, %s%s", edit[0], status, out, errs)
		}
		status, out, _ = sinklab(t, "", "baseline", "--json", run, base)
		var said struct {
			Written  bool
			Findings []struct{ Kind string }
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil || status != statusFound || said.Written || len(said.Findings) != 1 {
			t.Errorf("%s: status %d, %v, %s", edit[0], status, err, out)
		}
		if after, err := os.ReadFile(base); err != nil || string(after) != string(before) {
			t.Errorf("%s: %v, the baseline is\n%s", edit[0], err, after)
		}
	}
	run := written(t, strings.ReplaceAll(benchmarks(), "BenchmarkVisible", "# "))
	if status, out, errs := sinklab(t, "", "baseline", "--drop", run, base); status != statusOK || !strings.Contains(out, "missing benchmark") || errs != "" {
		t.Errorf("--drop: status %d, %s%s", status, out, errs)
	}
	if after, err := os.ReadFile(base); err != nil || strings.Contains(string(after), "BenchmarkVisible") {
		t.Errorf("--drop: %v, the baseline is\n%s", err, after)
	}
}

// A run that is refused leaves the old baseline as it was.
func TestBaselineRefuses(t *testing.T) {
	base := madeBaseline(t)
	before, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	failed := written(t, benchmarks()+"FAIL\n")
	few := written(t, strings.Join(strings.SplitAfter(benchmarks(), "\n")[:6], ""))
	for _, run := range []string{failed, few, filepath.Join(t.TempDir(), "absent.txt")} {
		if status, out, errs := sinklab(t, "", "baseline", run, base); status != statusBadInput || out != "" || errs == "" {
			t.Errorf("status %d, %q, %q", status, out, errs)
		}
	}
	if after, err := os.ReadFile(base); err != nil || string(after) != string(before) {
		t.Errorf("%v, the baseline is\n%s", err, after)
	}
	if status, _, errs := sinklab(t, "", "baseline", written(t, benchmarks()), filepath.Join(t.TempDir(), "absent", "baseline.txt")); status != statusBadInput || errs == "" {
		t.Errorf("status %d, %q", status, errs)
	}
}

// A baseline that cannot be read, such as one with the marks of a merge in it, is
// replaced, and it is said that its changes are not known.
func TestBaselineReplacesWhatCannotBeRead(t *testing.T) {
	base := written(t, "BenchmarkX\tnonsense\n")
	status, out, errs := sinklab(t, "", "baseline", "--json", written(t, benchmarks()), base)
	var changes struct{ Exact, Ratios int }
	if err := json.Unmarshal([]byte(out), &changes); err != nil || status != statusOK || changes.Exact != 1 || changes.Ratios != 1 || strings.Contains(out, "null") {
		t.Errorf("status %d, %v, %s", status, err, out)
	}
	if !strings.Contains(errs, "bench.txt:1: not a benchmark line") {
		t.Errorf("%q", errs)
	}
}
