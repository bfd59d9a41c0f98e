package report

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
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
		"a bad line":        {good + "BenchmarkB-2 1 five ns/op\n", "f.txt:2: not a benchmark line: parsing measurement"},
		"a failure":         {good + "--- FAIL: BenchmarkB/x\n", `f.txt:2: the run failed: "--- FAIL: BenchmarkB/x"`},
		"a failure within":  {good + "    --- FAIL: BenchmarkB/x\n", "f.txt:2: the run failed"},
		"a failed package":  {good + "FAIL\tsinklab/bench\t1s\n", "f.txt:2: the run failed"},
		"a failed run":      {good + "FAIL\n", "f.txt:2: the run failed"},
		"not a number":      {"BenchmarkA-2 1 NaN ns/op\n", "f.txt:1: A-2 is NaN ns/op"},
		"infinite":          {"BenchmarkA-2 1 +Inf x\n", "f.txt:1: A-2 is +Inf x"},
		"a panic":           {good + "panic: lost\n", "f.txt:2: the run failed"},
		"an exit status":    {good + "exit status 2\n", "f.txt:2: the run failed"},
		"a killed test":     {good + "*** Test killed with quit: ran too long (11m0s).\n", "f.txt:2: the run failed"},
		"a killed process":  {good + "signal: killed\n", "f.txt:2: the run failed"},
		"a unit twice":      {"BenchmarkA-2 1 5 ns/op 6 ns/op\n", "f.txt:1: impossible value: BenchmarkA has ns/op twice"},
		"cut to a name":     {good + "BenchmarkB-2", "f.txt:2: not a benchmark line: the file ends within this line"},
		"cut to a value":    {good + "BenchmarkA/n=1-2 1 5 ns/o", "f.txt:2: not a benchmark line: the file ends within this line"},
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

// What no axis can show is refused, with its line, on both sides of zero; what is just within
// the bounds is drawn, with labels that fit.
func TestValuesBeyondEveryAxis(t *testing.T) {
	lines := map[string]string{
		"a ratio":         "BenchmarkWrite/fs=mem/size=100-2 1 %s x-bufio\n",
		"files":           "BenchmarkSettings/policy=rolling/rollover=7s/check=7s/ckpt=2s-2 1 %s files/hour 5 p99-visible-ms\n",
		"latency":         "BenchmarkSettings/policy=rolling/rollover=8s/check=8s/ckpt=2s-2 1 5 files/hour %s p99-visible-ms\n",
		"a peer's files":  "BenchmarkPeers/peer=odd/rate=10-2 1 %s files/hour 5 p99-visible-ms\n",
		"what is changed": "BenchmarkTick/open=1-2 1 %s ns/record\n",
	}
	for what, line := range lines {
		for _, value := range []string{"1e300", "5e-324", "1.7976931348623157e308", "2.2e-308", "-1e300", "1.1e30", "0.9e-30"} {
			_, err := Read(strings.NewReader(fixture()+fmt.Sprintf(line, value)), "f.txt")
			want := fmt.Sprintf("f.txt:%d: ", strings.Count(fixture(), "\n")+1)
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "cannot be drawn") {
				t.Errorf("%s of %s: %v", what, value, err)
			}
		}
	}
	for _, value := range []string{"1e30", "1e-30", "0", "-1e30"} {
		text, base := fixture(), other()
		for _, what := range slices.Sorted(maps.Keys(lines)) {
			text += fmt.Sprintf(lines[what], value)
			base += fmt.Sprintf(lines[what], "3")
		}
		page := htmlOf(t, reportOf(t, text, base))
		if bad := regexp.MustCompile(`NaN|Inf|\d(,\d{3}){6}[^<]*</text>`).FindString(page); bad != "" {
			t.Errorf("%s: the page has %q", value, bad)
		}
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
