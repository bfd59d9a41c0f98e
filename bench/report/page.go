package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// WriteHTML writes the report as one page that needs nothing else: no network, no scripts,
// no fonts. The same report gives the same bytes. The error is that of the writer.
func (r *Report) WriteHTML(w io.Writer) error {
	return pageTemplate.Execute(w, r.page())
}

// page is what the template fills in.
type page struct {
	Style    template.CSS
	File     string
	Config   []Config
	Summary  []summary
	Article  table
	Sections []section
	All      []table
}

// summary is a card as the template sees it.
type summary struct {
	Color             template.CSS
	Name, Waits, Text string
}

// section is a headline with pictures.
type section struct {
	ID, Title string
	Figures   []figure
	Missing   string // said in place of figures that the file gives no cause for
	Intro     string // said above the figures
}

// figure is a picture as the template sees it.
type figure struct {
	Title, Say string
	Legend     []swatch
	Pictures   []template.HTML
	Tables     []table
}

// swatch is a line of a legend.
type swatch struct {
	Color template.CSS
	Text  string
}

// table is a table of figures.
type table struct {
	Title   string
	Caption string
	Columns []string
	Open    bool // whether it is to be seen before anybody asks
	Words   int  // how many of the columns, from the left, are words
	Rows    []tableRow
}

// tableRow is a row; the template numbers its cells by the columns.
type tableRow struct {
	Benchmark string // of all cells that do not name another
	Watch     string // in place of a benchmark, the name of a watch; Unit is a field of its result then
	Words     []string
	Cells     []cell
}

// cell is a figure with where it comes from, so that a program can read the page back.
type cell struct {
	Text                   string
	Benchmark, Unit, Value string // no Value if the figure is not from the file as it is
	Bad                    bool   // it tells that a rule is broken
}

// newFigure draws a picture in both sizes.
func newFigure(p picture, tables ...table) figure {
	f := figure{Title: p.title, Say: p.say, Pictures: []template.HTML{p.svg(wide), p.svg(narrow)}, Tables: tables}
	for _, l := range p.legend {
		f.Legend = append(f.Legend, swatch{l.background(), l.text})
	}
	return f
}

func (r *Report) page() page {
	visible := section{ID: "visible", Title: "When a record can be read", Figures: []figure{
		newFigure(r.Written.picture(r.Article)),
		newFigure(sawtoothPicture(r.Sawtooths)),
		newFigure(distributionPicture(r.Article, r.Distribution)),
	}}
	settings := section{ID: "settings", Title: "What latency costs"}
	if len(r.Settings) > 0 {
		settings.Figures = []figure{newFigure(frontPicture(r.Settings), frontTable(r.Settings))}
	} else {
		settings.Missing = "The file has no BenchmarkSettings with p99-visible-ms and files/hour."
	}
	if len(r.Peers) > 0 {
		settings.Figures = append(settings.Figures, newFigure(peersPicture(r.Peers, r.Settings), peersTable(r.Peers)))
	}
	ratios := section{ID: "ratios", Title: "What the sink costs"}
	for _, g := range r.Ratios {
		ratios.Figures = append(ratios.Figures, newFigure(g.picture()))
	}
	if len(ratios.Figures) == 0 {
		ratios.Missing = "The file has no ratios, whose units begin with " + ratioPrefix + "."
	}
	lives := section{ID: "lives", Title: "The life of a part file"}
	for _, l := range r.Lifelines {
		lives.Figures = append(lives.Figures, newFigure(l.picture(), l.table()))
	}
	p := page{
		Style: template.CSS(style), File: r.File, Config: r.Config,
		Article: articleTable(r.Article, r.run), Sections: []section{visible}, All: allTables(r.run),
	}
	if len(r.Watched) > 0 {
		p.Sections = append(p.Sections, watchedSection(r.Watched))
	}
	p.Sections = append(p.Sections, settings, ratios)
	for _, c := range r.cards() {
		p.Summary = append(p.Summary, summary{template.CSS(c.Ink), c.Name, c.Waits, c.Text})
	}
	if r.Change != nil {
		p.Sections = append(p.Sections, r.Change.section())
	}
	p.Sections = append(p.Sections, lives)
	return p
}

// articleTable has every exact metric of the article's settings, a column a setting.
func articleTable(settings []Setting, run *Run) table {
	t := table{Title: "The article's settings", Columns: []string{"metric"}, Words: 1,
		Caption: "Ten records a second, a checkpoint every 2 s, one simulated hour."}
	var units []string
	for _, f := range settings[0].Figures {
		units = append(units, f.Unit)
	}
	bySetting := make([]map[string]*metric, len(settings))
	for i, s := range settings {
		t.Columns = append(t.Columns, s.Name)
		bySetting[i] = map[string]*metric{}
		for _, m := range run.metrics {
			if m.full == s.full && m.exact {
				bySetting[i][m.unit] = m
				if !slices.Contains(units, m.unit) {
					units = append(units, m.unit)
				}
			}
		}
	}
	for _, unit := range units {
		row := tableRow{Words: []string{unit}}
		for i := range settings {
			row.Cells = append(row.Cells, metricCell(bySetting[i][unit]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// metricCell is a metric's figure, or nothing if there is none.
func metricCell(m *metric) cell {
	if m == nil {
		return cell{}
	}
	summary := m.summary()
	c := cell{Benchmark: m.full, Unit: m.unit, Value: strconv.FormatFloat(summary.Center, 'g', -1, 64), Text: exactNumber(summary.Center)}
	if !m.exact {
		c.Text = number(summary.Center)
		if interval(summary) != nil {
			c.Text += " ± " + strings.TrimPrefix(summary.PctRangeString(), "±")
		}
	}
	return c
}

// allTables has every metric of the file, a table a function, a row a benchmark.
func allTables(run *Run) []table {
	var tables []table
	var functions []string
	for _, m := range run.metrics {
		if f := m.pkg + " " + m.function(); !slices.Contains(functions, f) {
			functions = append(functions, f)
			tables = append(tables, functionTable(m.function(), run.find(func(o *metric) bool { return o.pkg == m.pkg && o.function() == m.function() })))
		}
	}
	return tables
}

func functionTable(function string, metrics []*metric) table {
	var units, names, keys []string
	values := map[string][]string{} // of a key
	cells := map[string]map[string]*metric{}
	fewest, most := len(metrics[0].samples), 0
	for _, m := range metrics {
		if !slices.Contains(units, m.unit) {
			units = append(units, m.unit)
		}
		if cells[m.full] == nil {
			names, cells[m.full] = append(names, m.full), map[string]*metric{}
		}
		cells[m.full][m.unit] = m
		fewest, most = min(fewest, len(m.samples)), max(most, len(m.samples))
		for _, w := range m.words() {
			if !slices.Contains(keys, w.key) {
				keys = append(keys, w.key)
			}
			if !slices.Contains(values[w.key], w.value) {
				values[w.key] = append(values[w.key], w.value)
			}
		}
	}
	t := table{Title: fmt.Sprintf("%s: %s", function, count(len(names), "benchmark"))}
	var common []string
	for _, key := range keys {
		if len(values[key]) == 1 && len(names) > 1 {
			common = append(common, strings.TrimPrefix(key+"="+values[key][0], "="))
		} else {
			t.Columns = append(t.Columns, key)
		}
	}
	t.Words = len(t.Columns)
	if t.Words == 0 {
		t.Columns, t.Words = []string{"benchmark"}, 1
	}
	samples := count(most, "sample")
	if fewest != most {
		samples = strconv.Itoa(fewest) + " to " + samples
	}
	t.Caption = "Medians of " + samples + "; ± is the interval at 95 %."
	if most == 1 {
		t.Caption = "One sample each."
	}
	if len(common) > 0 {
		t.Caption += " All with " + strings.Join(common, ", ") + "."
	}
	t.Columns = append(t.Columns, units...)
	for _, name := range names {
		row := tableRow{Benchmark: name}
		for _, unit := range units {
			c := metricCell(cells[name][unit])
			c.Benchmark = ""
			row.Cells = append(row.Cells, c)
		}
		var any *metric
		for _, unit := range units {
			if any = cells[name][unit]; any != nil {
				break
			}
		}
		for _, key := range t.Columns[:t.Words] {
			word := any.value(key)
			if key == "benchmark" && word == "" {
				word = function
			}
			row.Words = append(row.Words, word)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// frontTable names the points of the front by their numbers.
func frontTable(grid []Tradeoff) table {
	t := table{Title: "The points of the front", Open: true, Columns: []string{"point", "setting", "p99-visible-ms", "files/hour"}, Words: 2}
	for i, f := range front(grid) {
		t.Rows = append(t.Rows, tableRow{
			Words: []string{strconv.Itoa(i + 1), f.words()},
			Cells: []cell{metricCell(f.p99), metricCell(f.files)},
		})
	}
	return t
}

// table has the instants of the picture.
func (l Lifelines) table() table {
	t := table{
		Title:   "The same in figures",
		Columns: []string{"file", "rolled by", "opened", "closed", "prepared", "committed", "records", "bytes"}, Words: 2,
		Caption: "Instants are seconds from the start of the job.",
	}
	instant := func(ms float64) cell {
		if ms < 0 {
			return cell{Text: "not within the hour"}
		}
		return cell{Text: exactNumber(ms / 1000)}
	}
	for i, p := range l.Parts {
		t.Rows = append(t.Rows, tableRow{
			Words: []string{strconv.Itoa(i + 1), p.Reason},
			Cells: []cell{instant(p.Opened), instant(p.Closed), instant(p.Handed), instant(p.Visible),
				{Text: exactNumber(float64(p.Records))}, {Text: exactNumber(float64(p.Bytes))}},
		})
	}
	return t
}

// section is the comparison with the other run.
func (c *Change) section() section {
	s := section{ID: "change", Title: "What has changed"}
	exact := table{
		Title:   fmt.Sprintf("Exact metrics: %s, %s equal", count(len(c.Exact), "difference"), thousands(strconv.Itoa(c.Equal))),
		Columns: []string{"benchmark", "metric", "old", "new", "change"}, Words: 2,
	}
	noisy := table{
		Title:   fmt.Sprintf("Metrics in real time: %s", count(len(c.Changed), "comparison")),
		Columns: []string{"benchmark", "metric", "old", "new", "change", "interval", "p"}, Words: 2,
		Caption: "Medians. The interval at 95 % and p are those of the Mann-Whitney test.",
	}
	only := table{Title: fmt.Sprintf("In one of the files only: %s", count(len(c.Only), "metric")), Columns: []string{"file and metric"}, Words: 1}
	change := func(d Delta) cell {
		if d.Change == nil {
			return cell{Text: "not a ratio"}
		}
		return cell{Text: percent(*d.Change)}
	}
	for _, d := range c.Exact {
		exact.Rows = append(exact.Rows, tableRow{Words: []string{d.Benchmark, d.Unit}, Cells: []cell{{Text: exactNumber(d.Old)}, {Text: exactNumber(d.New)}, change(d)}})
	}
	for _, d := range c.Changed {
		span := "too few samples"
		if d.Interval != nil {
			span = percent(d.Interval[0]) + " to " + percent(d.Interval[1])
		}
		noisy.Rows = append(noisy.Rows, tableRow{Words: []string{d.Benchmark, d.Unit},
			Cells: []cell{{Text: number(d.Old)}, {Text: number(d.New)}, change(d), {Text: span}, {Text: strconv.FormatFloat(d.P, 'f', 3, 64)}}})
	}
	for _, name := range c.Only {
		only.Rows = append(only.Rows, tableRow{Words: []string{name}})
	}
	var tables []table
	for _, t := range []table{exact, noisy, only} {
		if len(t.Rows) > 0 || t.Title == exact.Title {
			tables = append(tables, t)
		}
	}
	if p, found := c.picture(); found {
		s.Figures = []figure{newFigure(p, tables...)}
	} else {
		s.Figures = []figure{{Title: "Nothing in real time to compare", Say: "The two files have no metric in real time in common.", Tables: tables}}
	}
	return s
}
