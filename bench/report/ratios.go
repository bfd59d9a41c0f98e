package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RatioGroup is the ratios of one unit: how many times what the sink does takes as long as
// its physical reference in the same run.
type RatioGroup struct {
	Unit   string  `json:"unit"`
	Better string  `json:"better"` // lower, higher, or empty if the file does not say
	Ratios []Ratio `json:"ratios"` // in the order of the file
}

// Ratio is the median of a benchmark's samples.
type Ratio struct {
	Benchmark string    `json:"benchmark"`
	Median    float64   `json:"median"`
	Interval  []float64 `json:"interval,omitempty"` // two bounds at 95 %; absent if the samples are too few
	Samples   int       `json:"samples"`

	label string
}

// ratioPrefix begins the units of ratios.
const ratioPrefix = "x-"

// ratioGroups collects the ratios, by unit in the order of the file.
func ratioGroups(run *Run) []RatioGroup {
	var groups []RatioGroup
	labels := shortNames(run.metrics)
	for _, m := range run.metrics {
		if !strings.HasPrefix(m.unit, ratioPrefix) {
			continue
		}
		i := slices.IndexFunc(groups, func(g RatioGroup) bool { return g.Unit == m.unit })
		if i < 0 {
			i = len(groups)
			groups = append(groups, RatioGroup{Unit: m.unit, Better: betterWord(m.better)})
		}
		summary := m.summary()
		groups[i].Ratios = append(groups[i].Ratios, Ratio{
			Benchmark: m.benchmark, Median: summary.Center, Interval: interval(summary), Samples: len(m.samples), label: labels[m.metricKey],
		})
	}
	return groups
}

func betterWord(better int) string {
	switch {
	case better < 0:
		return "lower"
	case better > 0:
		return "higher"
	}
	return ""
}

// interval gives the bounds, or nil if the samples are too few for any.
func interval(s benchmath.Summary) []float64 {
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return nil
	}
	return []float64{s.Lo, s.Hi}
}

// shortNames names benchmarks by what tells them apart: without the keys that have one value
// in all benchmarks of a function.
func shortNames(metrics []*metric) map[metricKey]string {
	type keyOf struct{ function, key string }
	values := map[keyOf]string{}
	varies := map[keyOf]bool{}
	for _, m := range metrics {
		for _, w := range m.words() {
			k := keyOf{m.function(), w.key}
			if old, known := values[k]; known && old != w.value {
				varies[k] = true
			}
			values[k] = w.value
		}
	}
	names := map[metricKey]string{}
	for _, m := range metrics {
		parts := []string{m.function()}
		for _, w := range m.words() {
			switch {
			case !varies[keyOf{m.function(), w.key}]:
			case w.key == "":
				parts = append(parts, w.value)
			default:
				parts = append(parts, w.key+"="+w.value)
			}
		}
		names[m.metricKey] = strings.Join(parts, " ")
	}
	return names
}

// references are what the ratios of package bench are beside; bench/doc.go says more. Of a unit that
// is not among them its name has to do.
var references = map[string]string{
	"x-bufio":      "a bufio.Writer with the same buffer for each file",
	"x-bufio-disk": "a bufio.Writer with the same buffer for each file, and as many fsyncs and renames,",
	"x-bare":       "the same calls of the file system with nothing around them",
	"x-bare-disk":  "the same calls of the file system with nothing around them, on a disk,",
	"x-walk":       "asking the policy about each open file, as Flink does, when none is due,",
	"x-walk-due":   "asking the policy about each open file, as Flink does, when one is due,",
	"x-copy":       "copying and checksumming as many bytes",
	"x-recover":    "the same calls of a recovery with nothing around them",
	"x-memory":     "the memory of a file, a bufio.Writer, its names and an entry of a map",
}

// referenceOf says what a unit is beside.
func referenceOf(unit string) string {
	if text, known := references[unit]; known {
		return text
	}
	return "the reference (" + strings.TrimPrefix(unit, ratioPrefix) + ")"
}

func (g RatioGroup) picture() picture {
	low, high := g.Ratios[0], g.Ratios[0]
	var rows []row
	for _, r := range g.Ratios {
		if r.Median < low.Median {
			low = r
		}
		if r.Median > high.Median {
			high = r
		}
		rows = append(rows, row{label: r.label, value: r.Median, interval: r.Interval, text: short(r.Median) + "×", ink: inkTuned, filled: true})
	}
	reference := referenceOf(g.Unit)
	say := fmt.Sprintf("1 is as much as %s in the same run: from %s times for %s to %s times for %s.",
		reference, short(low.Median), low.label, short(high.Median), high.label)
	if len(g.Ratios) == 1 {
		say = fmt.Sprintf("1 is as much as %s in the same run; %s is at %s times.", reference, low.label, short(low.Median))
	}
	if g.Better != "" {
		say += " The " + g.Better + " the better."
	}
	return rowPicture(rows, rowAxis{
		title: "Against the physical reference: " + g.Unit, xName: g.Unit, xLabel: ", times (logarithmic)",
		reference: 1, logarithmic: true, say: say, tick: func(v float64) string { return short(v) + "×" },
	})
}

// row is a value with its interval, drawn as a dot on a line of its own.
type row struct {
	label    string
	value    float64
	interval []float64
	text     string // at the right
	ink      ink
	filled   bool
}

// rowAxis is what all rows share.
type rowAxis struct {
	title, say    string
	xName, xLabel string // under the axis; the name is shortened to what room there is
	legend        []legend
	reference     float64 // a line is drawn there
	logarithmic   bool    // if all values allow it
	tick          func(float64) string
}

// rowPicture draws rows from top to bottom. On a phone the label stands above its row, for
// beside it there would be no room for the data.
func rowPicture(rows []row, axis rowAxis) picture {
	low, high := axis.reference, axis.reference
	for _, r := range rows {
		for _, v := range append([]float64{r.value}, r.interval...) {
			low, high = min(low, v), max(high, v)
		}
	}
	logarithmic := axis.logarithmic && low > 0
	low, high = widened(low, high, logarithmic)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.text
	}
	return picture{
		title: axis.title, say: axis.say, legend: axis.legend,
		height: func(s size) vg.Length { return vg.Length(len(rows))*rowHeight(s) + 56 },
		left:   leftOfRows,
		right:  func(s size) vg.Length { return s.labelMargin(texts...) },
		draw: func(s size, p *plot.Plot) {
			p.X.Min, p.X.Max = low, high
			p.Y.Min, p.Y.Max = -float64(len(rows)), 0
			taken := leftOfRows(s)
			if !s.narrow {
				for _, r := range rows {
					taken = max(taken, s.text(inkText).Width(fit(s.text(inkText), r.label, s.width*.55)))
				}
			}
			room := s.width - taken - s.labelMargin(texts...)
			p.X.Label.Text = fit(s.text(inkMuted), axis.xName, .75*room-s.text(inkMuted).Width(axis.xLabel)) + axis.xLabel
			xTicks := s.fitting(room, pick(s, 9, 5), func(n int) plot.ConstantTicks { return evenTicks(low, high, n, axis.tick) })
			if logarithmic {
				p.X.Scale = plot.LogScale{}
				xTicks = s.fitting(room, pick(s, 11, 6), func(n int) plot.ConstantTicks { return logTicks(low, high, n, axis.tick) })
			}
			p.X.Tick.Marker = xTicks
			yTicks := plot.ConstantTicks{}
			if !s.narrow {
				for i, r := range rows {
					yTicks = append(yTicks, plot.Tick{Value: -float64(i) - .5, Label: fit(s.text(inkText), r.label, s.width*.55)})
				}
			}
			p.Y.Tick.Marker = yTicks
			p.Y.Tick.Label.Color = inkText.color()
			p.Add(rules(xTicks, nil))
			p.Add(painter(func(c draw.Canvas, place, y func(float64) vg.Length) {
				x := func(v float64) vg.Length { return place(min(max(v, low), high)) }
				dashed := line(inkText, 1)
				dashed.Dashes = []vg.Length{4, 3}
				c.StrokeLine2(dashed, x(axis.reference), c.Min.Y, x(axis.reference), c.Max.Y)
				for i, r := range rows {
					at := vg.Point{X: x(r.value), Y: y(-float64(i) - .5)}
					if s.narrow {
						at.Y -= rowHeight(s) / 4
						s.write(c, s.text(inkText), vg.Point{X: 2, Y: at.Y + rowHeight(s)/2}, fit(s.text(inkText), r.label, s.width-8))
					}
					if r.interval != nil {
						c.StrokeLine2(line(r.ink, 2), x(r.interval[0]), at.Y, x(r.interval[1]), at.Y)
					}
					if r.filled {
						disc(c, at, 4, r.ink)
					} else {
						ring(c, at, 4, r.ink)
					}
					s.write(c, s.text(inkText), vg.Point{X: c.Max.X + 8, Y: at.Y}, r.text)
				}
			}))
		},
	}
}

// leftOfRows is room for half of the first tick's label where no labels of rows stand there.
func leftOfRows(s size) vg.Length { return pick[vg.Length](s, 2, 26) }

func rowHeight(s size) vg.Length { return pick[vg.Length](s, 22, 36) }
