package report

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A file that is not whole is refused, with the line where there is one.
func TestReadRefuses(t *testing.T) {
	const good = "BenchmarkA/n=1-2 1 5 ns/op\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", "f.txt has no benchmark in it"},
		"no benchmark":      {"PASS\nok x 1s\n", "f.txt has no benchmark in it"},
		"a bad line":        {good + "BenchmarkB-2 1 five ns/op\n", "f.txt:2: parsing measurement"},
		"a failure":         {good + "--- FAIL: BenchmarkB/x\n", "f.txt:2: a benchmark failed: --- FAIL: BenchmarkB/x"},
		"a failure within":  {good + "    --- FAIL: BenchmarkB/x\n", "f.txt:2: a benchmark failed"},
		"a failed package":  {good + "FAIL\tsinklab/bench\t1s\n", "f.txt:2: a benchmark failed"},
		"a failed run":      {good + "FAIL\n", "f.txt:2: a benchmark failed"},
		"not a number":      {"BenchmarkA-2 1 NaN ns/op\n", "f.txt:1: A-2 is NaN ns/op"},
		"infinite":          {"BenchmarkA-2 1 +Inf x\n", "f.txt:1: A-2 is +Inf x"},
		"two machines":      {good + "BenchmarkA/n=1-4 1 5 ns/op\n", "f.txt:2: A/n=1-2 and A/n=1-4 are one benchmark"},
		"exact and differs": {"Unit n assume=exact\nBenchmarkA-2 1 1 n\nBenchmarkA-2 1 2 n\n", "f.txt: A-2 differs from one run to the next in n"},
	} {
		_, err := Read(strings.NewReader(c.text), "f.txt")
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	_, err := Read(iotest.ErrReader(io.ErrUnexpectedEOF), "f.txt")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// A file of another version is refused: one exact figure off by one, or gone, is enough.
func TestNewRefusesAnotherVersion(t *testing.T) {
	settings := reportOf(t, fixture(), "").Article
	for _, s := range settings {
		for _, f := range s.Figures {
			for what, change := range map[string]func(string) string{
				"off by one": func(number string) string { return "1" + number },
				"gone":       nil,
			} {
				var lines []string
				for l := range strings.Lines(fixture()) {
					if strings.HasPrefix(l, "Benchmark"+s.full) {
						before, after, _ := strings.Cut(l, " "+f.Unit)
						at := strings.LastIndexAny(before, " \t") + 1
						if change == nil {
							l = before[:at] + "1 other" + after
						} else {
							l = before[:at] + change(before[at:]) + " " + f.Unit + after
						}
					}
					lines = append(lines, l)
				}
				_, err := New(read(t, strings.Join(lines, "")), nil)
				if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), f.Unit) || !strings.Contains(err.Error(), "make bench") {
					t.Errorf("%s %s %s: %v", s.Name, f.Unit, what, err)
				}
			}
		}
	}
}

// The article's rows have to be there, once.
func TestNewRefusesWithoutTheArticle(t *testing.T) {
	const row = "BenchmarkVisible/policy=tuned/arrivals=constant/rate=10/ckpt=2s/buckets=1/"
	for _, text := range []string{
		"BenchmarkWrite/size=100-2 1 5 ns/op\n",
		strings.Replace(fixture(), row, strings.Replace(row, "rate=10", "rate=100", 1), 1),
		strings.Replace(fixture(), row, strings.Replace(row, "policy=tuned", "policy=odd", 1), 1),
	} {
		if _, err := New(read(t, text), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "no exact figures of policy=") {
			t.Error(err)
		}
	}
	twice := fixture() + strings.Replace(row, "/arrivals", "/more=1/arrivals", 1) + "subtasks=1/outage=none-2 1 5 files/hour\n"
	if _, err := New(read(t, twice), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "are both the article's experiment") {
		t.Error(err)
	}
}

// The comparison needs to know that the figures are exact.
func TestNewRefusesWithoutUnitLines(t *testing.T) {
	text := strings.ReplaceAll(fixture(), "fs-changes better=lower assume=exact", "fs-changes better=lower")
	if _, err := New(read(t, text), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `no line "Unit fs-changes assume=exact"`) {
		t.Error(err)
	}
}

// A file with the exact rows only still makes a report, which says what it lacks.
func TestReportOfTheExactRowsAlone(t *testing.T) {
	var lines []string
	for l := range strings.Lines(fixture()) {
		if !strings.HasPrefix(l, "Benchmark") || strings.HasPrefix(l, "BenchmarkVisible") {
			lines = append(lines, l)
		}
	}
	page := htmlOf(t, reportOf(t, strings.Join(lines, ""), ""))
	for _, want := range []string{"The file has no BenchmarkSettings", "The file has no ratios"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
