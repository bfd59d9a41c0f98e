package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"

	"sinklab/bench/watch"
)

// ErrWatched is wrapped by the error of a watch that cannot be shown: it is not what
// sinklab watch DIR --json prints, what it says cannot be, its name is no line of text, or
// another watch has the same name. The text says which watch and what is wrong with it. Watch
// again, or give it another name.
var ErrWatched = errors.New("not a watch that can be shown")

// remake says where watches come from.
const remake = "sinklab watch DIR --json makes one"

// Watched is what a watch has found in a real directory, with a name to show. ReadWatched and
// WatchedOf make one. Its fields are those of [watch.Result], but for all that names the
// directory, its files or what is in them: a report may be shown to others.
type Watched struct {
	Name       string `json:"name"`
	Watched    int64  `json:"watched_ms"`    // how long
	Resolution int64  `json:"resolution_ms"` // how much too long a latency may be

	// FirstVisible is when the first file was seen, counted from the beginning of the watch;
	// nil if none was.
	FirstVisible *int64  `json:"first_visible_ms"`
	Files        int64   `json:"files"`
	FilesPerHour float64 `json:"files_per_hour"` // 0 also if the watch took no time
	Records      int64   `json:"records"`

	Changed int64 `json:"changed"` // files that changed after they were visible: a violation
	Doubled int64 `json:"doubled"` // records that were there before: a violation; 0 also if the watch was told of no ids

	Timed       int64   `json:"timed_records"`  // records with a time of their own
	Percentiles []int64 `json:"percentiles_ms"` // latencies of these from the 0th to the 100th; empty without such records
}

// ReadWatched reads the JSON that sinklab watch DIR --json prints, or that of a
// [watch.Result]. The name is for messages and for the page. The error wraps [ErrWatched], or
// is that of the reader.
func ReadWatched(in io.Reader, name string) (Watched, error) {
	if err := validateName(name); err != nil {
		return Watched{}, err
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return Watched{}, fmt.Errorf("watch %s: %w", name, err)
	}
	var r watch.Result
	if err := readResult(content, &r); err != nil {
		return Watched{}, fmt.Errorf("watch %s: %w: %w; %s", name, ErrWatched, err, remake)
	}
	return WatchedOf(r, name)
}

// WatchedOf is for a program that has watched by itself. The error wraps [ErrWatched].
func WatchedOf(r watch.Result, name string) (Watched, error) {
	w := Watched{
		Name: name, Watched: r.Watched, Resolution: r.Resolution,
		FirstVisible: r.FirstVisible, Files: r.Files, FilesPerHour: r.FilesPerHour(), Records: r.Records,
		Changed: r.Changed, Doubled: r.Doubled, Timed: r.Timed, Percentiles: r.Percentiles,
	}
	if err := w.validate(); err != nil {
		return Watched{}, err
	}
	return w, nil
}

// readResult reads those fields that are shown. Each of them has to be there: without a look
// at that, any JSON would be a watch that has seen nothing.
func readResult(content []byte, r *watch.Result) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &kind):
			return fmt.Errorf("it is a JSON %s, want an object", kind.Value)
		case len(bytes.TrimSpace(content)) == 0:
			return errors.New("it is empty")
		}
		return fmt.Errorf("it is no JSON: %w", err)
	}
	var percentiles []*int64
	wanted := []struct {
		name string
		to   any
	}{
		{"watched_ms", &r.Watched}, {"resolution_ms", &r.Resolution}, {"first_visible_ms", &r.FirstVisible},
		{"files", &r.Files}, {"records", &r.Records}, {"changed", &r.Changed}, {"doubled", &r.Doubled},
		{"timed_records", &r.Timed}, {"percentiles_ms", &percentiles},
	}
	var missing []string
	for _, w := range wanted {
		if fields[w.name] == nil {
			missing = append(missing, w.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it has no %s", list(missing))
	}
	for _, w := range wanted {
		value := string(fields[w.name])
		if value == "null" && w.to != any(&r.FirstVisible) {
			return fmt.Errorf("%s is null", w.name)
		}
		if err := json.Unmarshal(fields[w.name], w.to); err != nil {
			var kind *json.UnmarshalTypeError
			if errors.As(err, &kind) {
				return fmt.Errorf("%s has a %s where a whole number is wanted", w.name, kind.Value)
			}
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	for _, p := range percentiles {
		if p == nil {
			return errors.New("percentiles_ms has null where a whole number is wanted")
		}
		r.Percentiles = append(r.Percentiles, *p)
	}
	return nil
}

// longest is the largest number of anything in a watch. All up to it are shown with every
// digit, milliseconds as seconds too; as a time it is 30,000 years.
const longest int64 = 1e15

// hundred is the last percentile; the first is the 0th.
const hundred = 100

// validateName refuses a name that cannot be read in a table or in a message.
func validateName(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || name != strings.TrimSpace(name) || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%w: its name is %q; give it one of printable characters, with no space around them", ErrWatched, name)
	}
	return nil
}

// validate refuses what no watch finds.
func (w Watched) validate() error {
	if err := validateName(w.Name); err != nil {
		return err
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("watch %s: %w: %s; %s", w.Name, ErrWatched, fmt.Sprintf(format, args...), remake)
	}
	first := int64(0)
	if w.FirstVisible != nil {
		first = *w.FirstVisible
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"watched_ms", w.Watched}, {"resolution_ms", w.Resolution}, {"first_visible_ms", first}, {"files", w.Files},
		{"records", w.Records}, {"changed", w.Changed}, {"doubled", w.Doubled}, {"timed_records", w.Timed},
	} {
		if f.value < 0 {
			return wrong("%s is negative: %d", f.name, f.value)
		}
		if f.value > longest {
			return wrong("%s is %d, and more than %d of anything is not measured", f.name, f.value, longest)
		}
	}
	want := 0
	if w.Timed > 0 {
		want = hundred + 1
	}
	switch {
	case (w.Files == 0) != (w.FirstVisible == nil):
		return wrong("first_visible_ms has to be null if files is 0, and only then")
	case w.Files == 0 && w.Records > 0:
		return wrong("it has %d records in no file", w.Records)
	case w.Timed > w.Records:
		return wrong("timed_records is %d, more than records, which is %d", w.Timed, w.Records)
	case len(w.Percentiles) != want:
		return wrong("percentiles_ms has %d values, want %d if timed_records is %d", len(w.Percentiles), want, w.Timed)
	}
	for i, p := range w.Percentiles {
		if p > longest || p < -longest {
			return wrong("percentiles_ms has %d, and no latency is beyond %d", p, longest)
		}
		if i > 0 && p < w.Percentiles[i-1] {
			return wrong("percentiles_ms do not ascend: the %dth is %d, the %dth %d", i-1, w.Percentiles[i-1], i, p)
		}
	}
	return nil
}

// distinct refuses watches that could not be told apart, and those that were made in another
// way than by ReadWatched and cannot be.
func distinct(all []Watched) error {
	names := map[string]bool{}
	for _, w := range all {
		if err := w.validate(); err != nil {
			return err
		}
		if names[w.Name] {
			return fmt.Errorf("%w: two watches have the name %s; give one of them another, as NAME=FILE", ErrWatched, w.Name)
		}
		names[w.Name] = true
	}
	return nil
}

// watchedSection is what was seen of real directories.
func watchedSection(all []Watched) section {
	f := figure{
		Title: "How soon a reader saw a record",
		Say:   "None of the watches has seen a record with a time of its own, so there is no latency to draw." + watchedViolations(all),
	}
	if p, found := watchedPicture(all); found {
		p.say += watchedViolations(all)
		f = newFigure(p)
	}
	f.Tables = []table{watchedTable(all)}
	return section{
		ID: "watched", Title: "What readers of real directories saw", Figures: []figure{f},
		Intro: "These are not of the benchmarks: sinklab watch has looked at directories while engines wrote to them. A latency is from a record's own time until its file was seen, and may be too long by the resolution. " +
			"Changed are files that did so after they could be seen; doubled are records whose id was there before, where ids were looked at.",
	}
}

// watchedDashes tell lines of one colour apart.
var watchedDashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 2.5, 2, 2.5}}

// watchedDrawn is how many watches the picture shows, each with a line of its own kind; the
// table has all of them.
const watchedDrawn = 12

// watchedPicture shows the latencies, or nothing if there are none.
func watchedPicture(all []Watched) (picture, bool) {
	var lines []cumulative
	var drawn []Watched
	var without, early []string
	left := 0
	for _, w := range all {
		switch n := len(lines); {
		case w.Timed == 0:
			without = append(without, w.Name)
		case n == watchedDrawn:
			left++
		default:
			l := cumulative{legend: legend{ink: settingInk(n), text: w.Name, dashes: watchedDashes[n/3]}}
			for i, p := range w.Percentiles {
				l.quantiles = append(l.quantiles, Quantile{float64(i) / hundred, float64(p)})
			}
			lines, drawn = append(lines, l), append(drawn, w)
			if w.Percentiles[0] < 0 {
				early = append(early, w.Name)
			}
		}
	}
	if len(lines) == 0 {
		return picture{}, false
	}
	say := watchedWords(drawn)
	if len(early) > 0 {
		say += fmt.Sprintf(" Of %s some were seen before their own time, so two clocks differ; they stand at the left end.", list(early))
	}
	if len(without) > 0 {
		say += fmt.Sprintf(" No record of %s has a time of its own, so there is no line.", list(without))
	}
	if left > 0 {
		say += fmt.Sprintf(" Shown are %d, the table has all.", len(lines))
	}
	return cumulativePicture(lines, picture{title: "How soon a reader saw a record", say: say}, func(s size) string {
		return pick(s, "time until a reader saw it (logarithmic)", "until visible (log scale)")
	}), true
}

// watchedWords say how soon, of each watch or of the first and the last.
func watchedWords(drawn []Watched) string {
	const told = 3
	half := func(w Watched) string { return seconds(float64(w.Percentiles[50])) }
	most := func(w Watched) string { return seconds(float64(w.Percentiles[99])) }
	if len(drawn) <= told {
		var halves, mosts []string
		for _, w := range drawn {
			halves, mosts = append(halves, half(w)+" with "+w.Name), append(mosts, most(w))
		}
		return fmt.Sprintf("Half of the records were seen within %s, counted from their own time; 99 of 100 within %s.", list(halves), list(mosts))
	}
	soon, late := drawn[0], drawn[0]
	for _, w := range drawn {
		if w.Percentiles[99] < soon.Percentiles[99] {
			soon = w
		}
		if w.Percentiles[99] > late.Percentiles[99] {
			late = w
		}
	}
	return fmt.Sprintf("99 of 100 records were seen within %s of their own time with %s, the soonest, and within %s with %s, the latest; half of them within %s and %s.",
		most(soon), soon.Name, most(late), late.Name, half(soon), half(late))
}

// watchedViolations says which rules were broken, or nothing.
func watchedViolations(all []Watched) string {
	var wrong []string
	for _, w := range all {
		if w.Changed > 0 {
			wrong = append(wrong, fmt.Sprintf("%s changed after a reader could see %s (%s)", count(int(w.Changed), "file"), itThem(w.Changed), w.Name))
		}
		if w.Doubled > 0 {
			wrong = append(wrong, fmt.Sprintf("%s there twice (%s)", countWere(int(w.Doubled), "record"), w.Name))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return " No exactly-once sink does this: " + list(wrong) + "."
}

func itThem(n int64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// watchedTable has a row for each watch.
func watchedTable(all []Watched) table {
	t := table{
		Title: "The watches in figures", Open: true, Words: 1,
		Columns: []string{"watch", "watched", "first file", "p50", "p99", "max", "files", "files/hour", "records", "resolution", "changed", "doubled"},
		Caption: "First file: from the beginning of the watch. Bold: a broken rule.",
	}
	for _, w := range all {
		duration := func(field string, ms int64) cell {
			return cell{Unit: field, Value: strconv.FormatInt(ms, 10), Text: seconds(float64(ms))}
		}
		amount := func(field string, n int64) cell {
			return cell{Unit: field, Value: strconv.FormatInt(n, 10), Text: exactNumber(float64(n))}
		}
		violations := func(field string, n int64) cell {
			c := amount(field, n)
			c.Bad = n > 0
			return c
		}
		latency := func(p int) cell {
			if w.Timed == 0 {
				return none
			}
			return duration(fmt.Sprintf("percentiles_ms[%d]", p), w.Percentiles[p])
		}
		first, hourly := none, none
		if w.FirstVisible != nil {
			first = duration("first_visible_ms", *w.FirstVisible)
		}
		if w.Watched > 0 {
			hourly = cell{Text: number(w.FilesPerHour)}
		}
		t.Rows = append(t.Rows, tableRow{Watch: w.Name, Words: []string{w.Name}, Cells: []cell{
			duration("watched_ms", w.Watched), first, latency(50), latency(99), latency(100),
			amount("files", w.Files), hourly, amount("records", w.Records), duration("resolution_ms", w.Resolution),
			violations("changed", w.Changed), violations("doubled", w.Doubled),
		}})
	}
	return t
}

// none is the cell of what is not known.
var none = cell{Text: "-"}
