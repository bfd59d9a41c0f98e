package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/afero"
	"gonum.org/v1/plot/vg"

	"sinklab/bench/watch"
	"sinklab/fsmem"
)

// resultOf is what a watch finds of a sink with random files, in virtual time: records with a
// time of their own or without, and with broken rules if asked for.
func resultOf(t *testing.T, seed uint64, timed, broken bool) watch.Result {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	fsys, now := fsmem.New(fsmem.Options{}), int64(1777593600000)
	o := watch.Options{Dir: "/secret/out", Fs: fsys, Now: func() int64 { return now }, Format: watch.Format{Kind: watch.CSV, ID: "2"}}
	if timed {
		o.Format.Time = "1"
	}
	must(fsys.MkdirAll(o.Dir, 0o777))
	w, err := watch.New(o)
	must(err)
	w.Look()
	for file := range 12 {
		now += 1 + random.Int64N(400)
		var text strings.Builder
		for record := range 1 + random.IntN(200) {
			fmt.Fprintf(&text, "%d,id-%d-%d\n", now-int64(random.ExpFloat64()*2000), file, record)
		}
		if broken {
			text.WriteString("1777593600000,again\n")
		}
		name := fmt.Sprintf("%s/part-%d", o.Dir, file)
		must(afero.WriteFile(fsys, name, []byte(text.String()), 0o666))
		now += random.Int64N(200)
		w.Look()
		if broken && file%5 == 0 {
			must(afero.WriteFile(fsys, name, []byte("other"), 0o666))
		}
	}
	w.Finish()
	r := w.Result()
	if (r.Changed > 0) != broken || (r.Doubled > 0) != broken || (r.Timed > 0) != timed || r.Files != 12 {
		t.Fatalf("the watch has found %+v", r)
	}
	return r
}

// nothingOf is what a watch finds where nothing happens.
func nothingOf(t *testing.T) watch.Result {
	t.Helper()
	w, err := watch.New(watch.Options{Dir: "/secret/none", Fs: fsmem.New(fsmem.Options{}), Now: func() int64 { return 5 }})
	if err != nil {
		t.Fatal(err)
	}
	w.Finish()
	return w.Result()
}

// jsonOf is a result as the command prints it.
func jsonOf(t *testing.T, r watch.Result) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// watchedOf goes by way of JSON.
func watchedOf(t *testing.T, r watch.Result, name string) Watched {
	t.Helper()
	w, err := ReadWatched(strings.NewReader(jsonOf(t, r)), name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// watches are three, of which the last breaks rules.
func watches(t *testing.T) []Watched {
	return []Watched{
		watchedOf(t, resultOf(t, 1, true, false), "flink"), watchedOf(t, resultOf(t, 2, true, false), "checkpoint = 1 s"), watchedOf(t, resultOf(t, 3, true, true), "other"),
	}
}

var (
	watchedPart = regexp.MustCompile(`(?s)<section id="watched".*?</section>\n`)
	watchedLink = `<li><a href="#watched">What readers of real directories saw</a></li>`
)

// partOf is what a page says of watches.
func partOf(t *testing.T, all ...Watched) string {
	t.Helper()
	page := htmlOf(t, reportOf(t, fixture(), "", all...))
	part := watchedPart.FindString(page)
	before, _, found := strings.Cut(page, part)
	if part == "" || !found || !strings.Contains(page, watchedLink) ||
		strings.Count(before, "<section ") != 2 || !strings.Contains(before, `<section id="visible"`) {
		t.Fatal("there is no section of watches after the article's, or no link to it")
	}
	return part
}

// Without watches a page has nothing of them, and with them nothing else is different.
func TestWatchesChangeNothingElse(t *testing.T) {
	with, without := reportOf(t, fixture(), other(), watches(t)...), reportOf(t, fixture(), other())
	page := htmlOf(t, with)
	rest := strings.Replace(watchedPart.ReplaceAllString(page, ""), watchedLink, "", 1)
	if plain := htmlOf(t, without); rest != plain || plain == page {
		t.Error("a page with watches differs in more than their section")
	}
	text, err := json.Marshal(without)
	if err != nil || strings.Contains(string(text), "watched") {
		t.Errorf("%v, or the JSON without watches names them", err)
	}
}

// Each cell of the table has what the JSON of the watch has, and each figure that is to be
// shown is there.
func TestWatchedCellsAreThoseOfTheFile(t *testing.T) {
	results := map[string]watch.Result{
		"a": resultOf(t, 1, true, false), "b": resultOf(t, 2, true, true), "no times": resultOf(t, 3, false, false), "broken, no times": resultOf(t, 4, false, true), "nothing": nothingOf(t),
	}
	names := slices.Sorted(maps.Keys(results))
	var all []Watched
	for _, name := range names {
		all = append(all, watchedOf(t, results[name], name))
	}
	part := partOf(t, all...)
	rows := regexp.MustCompile(`<tr data-watch="([^"]*)"><th scope="row">([^<]*)</th>(.*?)</tr>`).FindAllStringSubmatch(part, -1)
	if len(rows) != len(names) || strings.Count(part, "<tr") != len(names)+1 {
		t.Fatalf("%d rows", len(rows))
	}
	cell := regexp.MustCompile(`<td( data-unit="([^"]*)" data-value="([^"]*)")?( style="[^"]*--worse[^"]*")?>([^<]*)</td>`)
	heads := regexp.MustCompile(`<th scope="col"[^>]*>([^<]*)</th>`).FindAllStringSubmatch(part, -1)
	fields := []string{"watched_ms", "first_visible_ms", "percentiles_ms[50]", "percentiles_ms[99]", "percentiles_ms[100]", "files", "", "records", "resolution_ms", "changed", "doubled"}
	if len(heads) != len(fields)+1 {
		t.Fatalf("%d columns", len(heads))
	}
	for i, row := range rows {
		var file map[string]any
		decoder := json.NewDecoder(strings.NewReader(jsonOf(t, results[names[i]])))
		decoder.UseNumber()
		if err := decoder.Decode(&file); err != nil {
			t.Fatal(err)
		}
		for field, value := range maps.Clone(file) {
			if percentiles, is := value.([]any); is && field == "percentiles_ms" {
				for p, v := range percentiles {
					file[fmt.Sprintf("percentiles_ms[%d]", p)] = v
				}
			}
		}
		if row[1] != names[i] || row[2] != names[i] {
			t.Errorf("row %d is of %q and %q, want %q", i, row[1], row[2], names[i])
		}
		cells := cell.FindAllStringSubmatch(row[3], -1)
		if len(cells) != len(fields) || strings.Count(row[3], "<td") != len(fields) {
			t.Fatalf("%s has %d cells: %s", names[i], len(cells), row[3])
		}
		for c, field := range fields {
			unit, value, bad, text := cells[c][2], cells[c][3], cells[c][4] != "", html.UnescapeString(cells[c][5])
			want, is := file[field].(json.Number)
			switch {
			case field == "":
				want := "-"
				if r := results[names[i]]; r.Watched > 0 {
					want = number(float64(r.Files) * 3600e3 / float64(r.Watched))
				}
				if unit != "" || text != want {
					t.Errorf("%s: %s files an hour, want %s", names[i], text, want)
				}
			case !is:
				if text != "-" || value != "" {
					t.Errorf("%s: %s is %q, and the file has none", names[i], field, text)
				}
			default:
				ms, _ := want.Float64()
				shown := strings.ReplaceAll(text, ",", "")
				if strings.Contains(field, "_ms") {
					read, err := strconv.ParseFloat(strings.TrimSuffix(shown, space+"s"), 64)
					if err != nil || !strings.HasSuffix(text, space+"s") || math.Round(read*1e6) != ms*1e3 {
						t.Errorf("%s: %s is shown as %q, want %v ms", names[i], field, text, want)
					}
				} else if shown != want.String() {
					t.Errorf("%s: %s is shown as %q, want %v", names[i], field, text, want)
				}
				if unit != field || value != want.String() {
					t.Errorf("%s: %s has %s of %s, want %v", names[i], field, value, unit, want)
				}
			}
			if rule := field == "changed" || field == "doubled"; bad != (rule && value != "0") {
				t.Errorf("%s: %s is %s, marked as bad: %v", names[i], field, value, bad)
			}
		}
	}
	if strings.Contains(part, "secret") || strings.Contains(part, "part-") {
		t.Error("the page names the directory or a file")
	}
}

// Each line goes through the percentiles of its watch.
func TestWatchedLinesAreThePercentiles(t *testing.T) {
	all := watches(t)
	part := partOf(t, all...)
	low, high := math.Inf(1), 0.
	for _, w := range all {
		for _, p := range w.Percentiles {
			low, high = min(low, max(float64(p), 1)), max(high, float64(p))
		}
	}
	low, high = low/1.15, high*1.15
	for _, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(part, -1) {
		for i, w := range all {
			lines := regexp.MustCompile(`<path d="([^"]*)"[^>]*stroke:`+regexp.QuoteMeta(settingInk(i).variable())).FindAllStringSubmatch(svg, -1)
			if len(lines) != 1 {
				t.Fatalf("%d lines of %s", len(lines), w.Name)
			}
			var points []point
			for _, m := range regexp.MustCompile(`(-?[\d.]+),(-?[\d.]+)`).FindAllStringSubmatch(lines[0][1], -1) {
				x, _ := strconv.ParseFloat(m[1], 64)
				y, _ := strconv.ParseFloat(m[2], 64)
				points = append(points, point{x, y})
			}
			// The line begins and ends in corners of the axes.
			first, last := points[0], points[len(points)-1]
			for p, ms := range w.Percentiles {
				x := first.X + (last.X-first.X)*math.Log(max(float64(ms), 1)/low)/math.Log(high/low)
				y := first.Y + (last.Y-first.Y)*float64(p)/100
				if !slices.ContainsFunc(points, func(at point) bool { return abs(at.X-x) < .1 && abs(at.Y-y) < .1 }) {
					t.Errorf("%s: the line does not go through the %dth percentile, %d ms", w.Name, p, ms)
				}
			}
		}
	}
	// The JSON form has them too.
	text, err := json.Marshal(reportOf(t, fixture(), "", all...))
	var r struct{ Watched []map[string]any }
	if err := errors.Join(err, json.Unmarshal(text, &r)); err != nil || len(r.Watched) != len(all) {
		t.Fatalf("%v, %d watches", err, len(r.Watched))
	}
	for i, w := range all {
		got := r.Watched[i]
		if got["name"] != w.Name || got["files"] != float64(w.Files) || fmt.Sprint(got["percentiles_ms"]) != fmt.Sprint(floats(w.Percentiles)) {
			t.Errorf("%v, want %+v", got, w)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Error("the JSON names the directory")
	}
}

func floats(list []int64) (all []any) {
	for _, v := range list {
		all = append(all, float64(v))
	}
	return all
}

// No two lines look alike; of more watches than there are kinds of lines the rest is in the
// table only, and the page says so.
func TestManyWatches(t *testing.T) {
	var all []Watched
	for n := range watchedDrawn + 2 {
		all = append(all, watchedOf(t, resultOf(t, uint64(n), true, false), fmt.Sprintf("watch %d", n)))
	}
	part := partOf(t, all...)
	swatches := map[string]bool{}
	for _, m := range regexp.MustCompile(`class="swatch" style="([^"]*)"`).FindAllStringSubmatch(part, -1) {
		swatches[m[1]] = true
	}
	lines := map[string]bool{}
	svg, _, _ := strings.Cut(part, "</svg>")
	for _, m := range regexp.MustCompile(`<path d="[^"]{1000,}" style="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		lines[m[1]] = true
	}
	if len(swatches) != watchedDrawn || len(lines) != watchedDrawn || strings.Count(part, "<tr data-watch=") != len(all) ||
		!strings.Contains(part, fmt.Sprintf("Shown are %d, the table has all.", watchedDrawn)) {
		t.Errorf("%d kinds of lines, %d in the legend, %d rows", len(lines), len(swatches), strings.Count(part, "<tr data-watch="))
	}
	if strings.Contains(partOf(t, all[:watchedDrawn]...), "Shown are") {
		t.Error("all are shown, and the page says that some are not")
	}
}

// evenly is a watch whose latencies are from least to most, at equal distances on a logarithmic
// axis.
func evenly(name string, least, most float64) Watched {
	first := int64(0)
	w := Watched{Name: name, FirstVisible: &first, Files: 1, Records: 101, Timed: 101}
	for p := range 101 {
		w.Percentiles = append(w.Percentiles, int64(least*math.Pow(most/least, float64(p)/100)))
	}
	return w
}

// words are the texts of a picture with the places at which they begin.
func words(t *testing.T, s size, all ...Watched) map[string]point {
	t.Helper()
	p, found := watchedPicture(all)
	if !found {
		t.Fatal("there is no picture")
	}
	places := map[string]point{}
	for _, m := range regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)</text>`).FindAllStringSubmatch(string(p.svg(s)), -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		places[m[3]] = point{x, y}
	}
	return places
}

// A name stands at its line, and on no other line or name; one that has no such place is in the
// legend only, and a long one is shortened.
func TestNamesOfLines(t *testing.T) {
	a := evenly("first", 1000, 60000)
	long := strings.Repeat("long", 20)
	for _, c := range []struct {
		other Watched
		name  string // of the other, as it is written
		want  bool   // whether there is a place
	}{
		{evenly("other", 20, 900), "other", true},
		{evenly("other", 1100, 66000), "other", false}, // the first line is between the name and its line
		{evenly("other", 1000, 60000), "other", true},
		{evenly(long, 20, 900), fit(wide.text(inkText), long, wide.width/4), true},
	} {
		places := words(t, wide, a, c.other)
		first, there := places["first"]
		other, both := places[c.name]
		if !there || both != c.want || both && abs(first.X-other.X) < 30 && abs(first.Y-other.Y) < 13 {
			t.Errorf("first at %v and %s at %v of %v", first, c.name, other, places)
		}
		if _, there := words(t, narrow, a, c.other)["first"]; there {
			t.Error("there is no room for names on a phone")
		}
	}
	// One without room at the left edge.
	if at, there := words(t, wide, evenly("first", 1, 2), evenly("far", 1e9, 1e12))["first"]; there {
		t.Errorf("a name at %v", at)
	}
}

// The marks of the axis of latencies do not touch each other.
func TestMarksOfLatencies(t *testing.T) {
	for _, s := range []size{wide, narrow} {
		for most := 10.; most < 1e15; most *= 3.7 {
			for least := 1.; least < most; least *= 4.3 {
				type mark struct{ from, to float64 }
				var marks []mark
				for text, at := range words(t, s, evenly("", least, most)) {
					if strings.HasSuffix(text, space+"s") {
						marks = append(marks, mark{at.X, at.X + float64(s.text(inkMuted).Width(text))})
					}
				}
				slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.from, b.from) })
				for i := 1; i < len(marks); i++ {
					if gap := marks[i].from - marks[i-1].to; gap < 3 {
						t.Errorf("from %v to %v ms, width %v: %v between two marks of %d", least, most, s.width, gap, len(marks))
						break
					}
				}
				if len(marks) == 0 {
					t.Errorf("from %v to %v ms, width %v: no mark", least, most, s.width)
				}
			}
		}
	}
}

// A legend shows the gaps of its line.
func TestLegendHasTheGapsOfItsLine(t *testing.T) {
	for want, l := range map[string]legend{
		"var(--tuned)": {ink: inkTuned},
		"repeating-linear-gradient(90deg, var(--default) 0px 7px, transparent 7px 10px)": {ink: inkDefault, dashes: []vg.Length{7, 3}},
	} {
		if got := string(l.background()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The sentence has the figures of the watches, and tells what is not well.
func TestWatchedSentence(t *testing.T) {
	sentence := func(all ...Watched) string {
		part := partOf(t, all...)
		m := regexp.MustCompile(`<figcaption>([^<]*)</figcaption>`).FindStringSubmatch(part)
		if strings.Contains(part, "<svg") && strings.Count(part, `aria-label="How soon a reader saw a record. `+m[1]+`"`) != 2 {
			t.Errorf("who cannot see the picture is not told %q", m[1])
		}
		return strings.ReplaceAll(html.UnescapeString(m[1]), space, " ")
	}
	of := func(name string, least, half, most int64) Watched {
		first := int64(7)
		w := Watched{Name: name, Watched: 1e6, FirstVisible: &first, Files: 3, Records: 200, Timed: 200}
		w.Percentiles = slices.Concat(slices.Repeat([]int64{least}, 50), slices.Repeat([]int64{half}, 49), []int64{most, most})
		return w
	}
	a, b := of("a", 10, 1500, 2250), of("b", 20, 61, 119000)
	early, untimed := of("early", -5, 3, 4), Watched{Name: "untimed", Watched: 5}
	changed, doubled := of("c", 1, 2, 3), of("d", 1, 2, 4)
	changed.Changed, changed.Doubled, doubled.Doubled = 1, 1, 1200
	for _, c := range []struct{ got, want string }{
		{sentence(a), "Half of the records were seen within 1.5 s with a, counted from their own time; 99 of 100 within 2.25 s."},
		{sentence(a, b), "Half of the records were seen within 1.5 s with a and 0.061 s with b, counted from their own time; 99 of 100 within 2.25 s and 119 s."},
		{sentence(a, b, changed, doubled), "99 of 100 records were seen within 0.003 s of their own time with c, the soonest, and within 119 s with b, the latest; half of them within 0.002 s and 0.061 s. " +
			"No exactly-once sink does this: 1 file changed after a reader could see it (c), 1 record was there twice (c) and 1,200 records were there twice (d)."},
		{sentence(early, untimed), "Half of the records were seen within 0.003 s with early, counted from their own time; 99 of 100 within 0.004 s. " +
			"Of early some were seen before their own time, so two clocks differ; they stand at the left end. No record of untimed has a time of its own, so there is no line."},
		{sentence(untimed), "None of the watches has seen a record with a time of its own, so there is no latency to draw."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Latencies of any size are drawn.
func TestWatchesOfAnyLatency(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	for range 200 {
		var all []Watched
		for n := range 1 + random.IntN(4) {
			first := int64(0)
			w := Watched{Name: strings.Repeat("name", 1+random.IntN(50)) + strconv.Itoa(n), FirstVisible: &first, Files: 1, Records: 1, Timed: 1, Percentiles: make([]int64, 101)}
			for p := range w.Percentiles {
				if w.Percentiles[p] = int64(math.Pow(10, 15*random.Float64())); random.IntN(4) == 0 {
					w.Percentiles[p] = -w.Percentiles[p]
				}
			}
			slices.Sort(w.Percentiles)
			if random.IntN(4) == 0 {
				for p := range w.Percentiles {
					w.Percentiles[p] = w.Percentiles[50]
				}
			}
			if err := w.validate(); err != nil {
				t.Fatal(err)
			}
			all = append(all, w)
		}
		p, _ := watchedPicture(all)
		for _, s := range []size{wide, narrow} {
			if svg := string(p.svg(s)); regexp.MustCompile(`NaN|Inf`).MatchString(svg) {
				t.Fatalf("the picture of %+v has %.300s", all, svg)
			}
		}
	}
}

// What is no watch, and what no watch finds, is refused, and it is said what is wrong and how
// to make one.
func TestReadWatchedRefuses(t *testing.T) {
	good := jsonOf(t, resultOf(t, 1, true, false))
	field := func(name, value string) string {
		pattern := regexp.MustCompile(`"` + name + `":(\[[^\]]*\]|[^,}]*)`)
		if !pattern.MatchString(good) {
			t.Fatalf("there is no %s", name)
		}
		return pattern.ReplaceAllString(good, `"`+name+`":`+value)
	}
	percentiles := func(change func([]string) []string) string {
		list := strings.Split(regexp.MustCompile(`"percentiles_ms":\[([^\]]*)\]`).FindStringSubmatch(good)[1], ",")
		return field("percentiles_ms", "["+strings.Join(change(list), ",")+"]")
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {" \n", "it is empty"},
		"a table":           {"out, watched for 5s\n", "it is no JSON: invalid character 'o'"},
		"cut off":           {good[:len(good)/2], "it is no JSON: unexpected end of JSON input"},
		"two":               {good + good, "it is no JSON: invalid character '{' after top-level value"},
		"a list":            {"[" + good + "]", "it is a JSON array, want an object"},
		"a number":          {"5", "it is a JSON number, want an object"},
		"null":              {"null", "it has no watched_ms, "},
		"another object":    {`{"files": 3}`, "it has no watched_ms, resolution_ms, first_visible_ms, records, changed, doubled, timed_records and percentiles_ms"},
		"an older one":      {strings.Replace(good, `"resolution_ms"`, `"other"`, 1), "it has no resolution_ms"},
		"a word":            {field("files", `"many"`), "files has a string where a whole number is wanted"},
		"a fraction":        {field("watched_ms", "1.5"), "watched_ms has a number 1.5 where a whole number is wanted"},
		"null for a count":  {field("changed", "null"), "changed is null"},
		"null for all":      {field("percentiles_ms", "null"), "percentiles_ms is null"},
		"no time":           {field("watched_ms", "-1"), "watched_ms is negative: -1"},
		"no files":          {field("files", "-3"), "files is negative: -3"},
		"no records":        {field("records", "-3"), "records is negative: -3"},
		"less than none":    {field("doubled", "-1"), "doubled is negative: -1"},
		"changed less":      {field("changed", "-1"), "changed is negative: -1"},
		"a fine look":       {field("resolution_ms", "-1"), "resolution_ms is negative: -1"},
		"before the start":  {field("first_visible_ms", "-1"), "first_visible_ms is negative: -1"},
		"timed less":        {field("timed_records", "-1"), "timed_records is negative: -1"},
		"too many":          {field("records", "1000000000000001"), "records is 1000000000000001, and more than 1000000000000000"},
		"far too many":      {field("records", "1e400"), "records has a number 1e400 where a whole number is wanted"},
		"a file, not seen":  {field("first_visible_ms", "null"), "first_visible_ms has to be null if files is 0, and only then"},
		"no file, seen":     {field("files", "0"), "first_visible_ms has to be null if files is 0, and only then"},
		"more times":        {field("records", "1"), "more than records, which is 1"},
		"a hundred":         {percentiles(func(l []string) []string { return l[1:] }), "percentiles_ms has 100 values, want 101"},
		"a hundred and two": {percentiles(func(l []string) []string { return append(l, l[100]) }), "percentiles_ms has 102 values, want 101"},
		"no percentiles":    {field("percentiles_ms", "[]"), "percentiles_ms has 0 values, want 101"},
		"times of none":     {field("timed_records", "0"), "percentiles_ms has 101 values, want 0 if timed_records is 0"},
		"a hole":            {percentiles(func(l []string) []string { l[7] = "null"; return l }), "percentiles_ms has null where"},
		"a word among":      {percentiles(func(l []string) []string { l[7] = `"x"`; return l }), "percentiles_ms has a string where"},
		"descending":        {percentiles(func(l []string) []string { l[7] = "99999"; return l }), "percentiles_ms do not ascend: the 7th is 99999, the 8th "},
		"for ever":          {percentiles(func(l []string) []string { l[100] = "1000000000000001"; return l }), "percentiles_ms has 1000000000000001"},
		"since ever":        {percentiles(func(l []string) []string { l[0] = "-1000000000000001"; return l }), "percentiles_ms has -1000000000000001"},
	} {
		_, err := ReadWatched(strings.NewReader(c.text), "flink")
		if !errors.Is(err, ErrWatched) || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(fmt.Sprint(err), "watch flink: ") ||
			!strings.Contains(fmt.Sprint(err), "sinklab watch DIR --json makes one") || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	nothing := nothingOf(t)
	nothing.Records = 3
	if _, err := WatchedOf(nothing, "x"); !errors.Is(err, ErrWatched) || !strings.Contains(err.Error(), "it has 3 records in no file") {
		t.Error(err)
	}
	if _, err := ReadWatched(iotest.ErrReader(io.ErrUnexpectedEOF), "x"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	for _, name := range []string{"", " a", "a ", "a\nb", "a\x00", "\xff"} {
		for _, text := range []string{good, "bad"} {
			if _, err := ReadWatched(strings.NewReader(text), name); !errors.Is(err, ErrWatched) || !strings.Contains(err.Error(), strconv.Quote(name)) {
				t.Errorf("the name %q: %v", name, err)
			}
		}
	}
}

// Two watches of one name could not be told apart.
func TestNewRefusesTwoWatchesOfOneName(t *testing.T) {
	all := watches(t)
	all[2].Name = all[0].Name
	if _, err := New(read(t, fixture()), nil, all...); !errors.Is(err, ErrWatched) || !strings.Contains(err.Error(), "two watches have the name flink; give one of them another") {
		t.Error(err)
	}
	if _, err := New(read(t, fixture()), nil, Watched{}); !errors.Is(err, ErrWatched) {
		t.Error(err)
	}
}

// The fields that are shown are those of the result: a watch of a program is that of its JSON.
func TestWatchedOfIsThatOfTheJSON(t *testing.T) {
	for _, r := range []watch.Result{resultOf(t, 1, true, true), resultOf(t, 2, false, false), nothingOf(t)} {
		direct, err := WatchedOf(r, "x")
		if err != nil {
			t.Fatal(err)
		}
		a, b := htmlOf(t, reportOf(t, fixture(), "", direct)), htmlOf(t, reportOf(t, fixture(), "", watchedOf(t, r, "x")))
		if a != b {
			t.Errorf("%+v and its JSON give two pages", r)
		}
	}
}
