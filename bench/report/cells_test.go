package report

import (
	"errors"
	"html"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shown is a figure that the page shows with where it is from.
type shown struct{ benchmark, unit, value, text string }

var (
	tag       = regexp.MustCompile(`<(tr|td)((?: [a-z-]+="[^"]*")*)>([^<]*)`)
	attribute = regexp.MustCompile(`data-([a-z]+)="([^"]*)"`)
)

// cells reads the tables of a page back, and counts the cells that name no origin.
func cells(page string) (found []shown, without int) {
	row := ""
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		data := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
			data[a[1]] = html.UnescapeString(a[2])
		}
		switch {
		case m[1] == "tr":
			row = data["benchmark"]
		case data["value"] != "":
			s := shown{data["benchmark"], data["unit"], data["value"], html.UnescapeString(m[3])}
			if s.benchmark == "" {
				s.benchmark = row
			}
			found = append(found, s)
		case m[3] != "":
			without++
		}
	}
	return found, without
}

// samples reads a benchmark file in the plainest way there is.
func samples(text string) map[[2]string][]float64 {
	all := map[[2]string][]float64{}
	for l := range strings.Lines(text) {
		name, isResult := strings.CutPrefix(l, "Benchmark")
		if fields := strings.Fields(name); isResult {
			for i := 2; i+1 < len(fields); i += 2 {
				v, _ := strconv.ParseFloat(fields[i], 64)
				key := [2]string{fields[0], fields[i+1]}
				all[key] = append(all[key], v)
			}
		}
	}
	return all
}

func medianOf(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// checkCells compares a page with the file that it is of, in both directions.
func checkCells(t *testing.T, page, text string) {
	t.Helper()
	want := samples(text)
	seen := map[[2]string]bool{}
	found, _ := cells(page)
	for _, s := range found {
		key := [2]string{s.benchmark, s.unit}
		in, known := want[key]
		if !known {
			t.Errorf("the page shows %v, which the file does not have", key)
			continue
		}
		seen[key] = true
		value, err := strconv.ParseFloat(s.value, 64)
		if median := medianOf(in); err != nil || abs(value-median) > 1e-12*abs(median) {
			t.Errorf("%v: the page has %s, the file %v", key, s.value, median)
		}
		number, _, _ := strings.Cut(s.text, " ±")
		read, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(number), 64)
		if close := read == value || len(in) > 1 && abs(read-value) <= 5e-4*abs(value); err != nil || !close {
			t.Errorf("%v: the page shows %q for %s", key, s.text, s.value)
		}
	}
	for key := range want {
		if !seen[key] {
			t.Errorf("the page does not show %v", key)
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }

// Each figure of the file is on the page, and each cell of the page says what the file says.
func TestEveryCellIsThatOfTheFile(t *testing.T) {
	checkCells(t, htmlOf(t, reportOf(t, fixture(), "")), fixture())
	checkCells(t, htmlOf(t, reportOf(t, fixture(), other())), fixture())
}

// Cells that are not figures of the file as they are stand in the sections of what was
// computed, and nowhere else.
func TestOnlyComputedSectionsHaveComputedCells(t *testing.T) {
	page := htmlOf(t, reportOf(t, fixture(), other()))
	sections := strings.Split(page, "<section ")
	for _, section := range sections[1:] {
		_, without := cells(section)
		id, _, _ := strings.Cut(strings.TrimPrefix(section, `id="`), `"`)
		if computed := id == "change" || id == "lives"; (without > 0) != computed {
			t.Errorf("section %s has %d cells that do not say where they are from", id, without)
		}
	}
}

// The report of the last make bench is small, and has the figures of its file.
func TestReportOfMakeBench(t *testing.T) {
	const file = "../../out/bench.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skip("no out/bench.txt: run make bench")
	}
	run, err := Read(strings.NewReader(string(text)), file)
	if err != nil {
		t.Skip(err)
	}
	r, err := New(run, run)
	if errors.Is(err, ErrVersion) || errors.Is(err, ErrFormat) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	page := htmlOf(t, r)
	checkCells(t, page, string(text))
	if len(page) >= 1_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// What stands in sentences is what the file says: the cards and the sentence of the first
// picture.
func TestSentencesHaveTheFiguresOfTheFile(t *testing.T) {
	r := reportOf(t, fixture(), "")
	in := samples(fixture())
	cards := r.cards()
	for i, name := range []string{"default", "tuned", "oncheckpoint"} {
		key := "Visible/policy=" + name + "/arrivals=constant/rate=10/ckpt=2s/buckets=1/subtasks=1/outage=none-2"
		value := func(unit string) float64 { return in[[2]string{key, unit}][0] }
		inSeconds := func(unit string) string { return strconv.FormatFloat(value(unit)/1000, 'f', -1, 64) + space + "s" }
		if cards[i].Name != name || cards[i].Waits != inSeconds("first-visible-ms") {
			t.Errorf("%+v, want %s", cards[i], inSeconds("first-visible-ms"))
		}
		for _, want := range []string{"within " + inSeconds("p50-visible-ms"), "99 of 100 within " + inSeconds("p99-visible-ms")} {
			if !strings.Contains(cards[i].Text, want) {
				t.Errorf("%q lacks %q", cards[i].Text, want)
			}
		}
		if i == 0 {
			if say := r.Written.picture(r.Article).say; !strings.Contains(say, inSeconds("first-visible-ms")) {
				t.Errorf("%q lacks %s", say, inSeconds("first-visible-ms"))
			}
		}
	}
}

// The same file gives the same bytes, and nothing of now is in them.
func TestSameFileSamePage(t *testing.T) {
	a, b := htmlOf(t, reportOf(t, fixture(), other())), htmlOf(t, reportOf(t, fixture(), other()))
	if a != b {
		t.Error("two pages of one file differ")
	}
}
