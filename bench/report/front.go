package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Tradeoff is what a setting of the grid of BenchmarkSettings costs: latency against files.
type Tradeoff struct {
	Setting      string  `json:"setting"` // the benchmark's name without the function
	P99          float64 `json:"p99_visible_ms"`
	FilesPerHour float64 `json:"files_per_hour"`

	// Efficient tells that no other setting has fewer files at the same latency, or a smaller
	// latency at as many files.
	Efficient bool `json:"efficient"`

	p99, files *metric
}

// tradeoffs reads the grid, by files and then latency.
func tradeoffs(run *Run) []Tradeoff { return tradeoffsOf(run, "Settings", "") }

// tradeoffsOf reads what a benchmark says of latency and files, of the rows whose names end
// so.
func tradeoffsOf(run *Run, function, end string) []Tradeoff {
	var grid []Tradeoff
	for _, m := range run.metrics {
		if m.function() != function || m.unit != "p99-visible-ms" || !strings.HasSuffix(m.benchmark, end) {
			continue
		}
		files := run.byKey[metricKey{m.pkg, m.benchmark, "files/hour"}]
		if files == nil || m.samples[0] <= 0 || files.samples[0] <= 0 {
			continue // it has no place on logarithmic axes
		}
		_, setting, _ := strings.Cut(m.benchmark, "/")
		grid = append(grid, Tradeoff{Setting: setting, P99: m.samples[0], FilesPerHour: files.samples[0], p99: m, files: files})
	}
	slices.SortStableFunc(grid, func(a, b Tradeoff) int {
		return cmp.Or(cmp.Compare(a.FilesPerHour, b.FilesPerHour), cmp.Compare(a.P99, b.P99))
	})
	for i, t := range grid {
		grid[i].Efficient = !slices.ContainsFunc(grid, func(other Tradeoff) bool {
			return other.P99 <= t.P99 && other.FilesPerHour <= t.FilesPerHour &&
				(other.P99 < t.P99 || other.FilesPerHour < t.FilesPerHour)
		})
	}
	return grid
}

// frontPoint is a point of the front with the settings that share it.
type frontPoint struct {
	Tradeoff
	settings []string
}

// front is the efficient front, from few files to many.
func front(grid []Tradeoff) []frontPoint {
	var points []frontPoint
	for _, t := range grid {
		if !t.Efficient {
			continue
		}
		if n := len(points); n > 0 && points[n-1].P99 == t.P99 && points[n-1].FilesPerHour == t.FilesPerHour {
			points[n-1].settings = append(points[n-1].settings, t.Setting)
			continue
		}
		points = append(points, frontPoint{t, []string{t.Setting}})
	}
	return points
}

// words name the settings of the point. Those that differ in one key only are told together,
// and where there are too many the rest is counted.
func (f frontPoint) words() string {
	type values [][]string // of each key
	var settings []values
	var keys []string
	for _, setting := range f.settings {
		var v values
		var own []string
		for _, w := range (metricKey{benchmark: "/" + setting}).words() {
			own, v = append(own, w.key), append(v, []string{w.value})
		}
		if keys != nil && !slices.Equal(keys, own) {
			return strings.Join(f.settings, "; or ") // not a grid
		}
		keys, settings = own, append(settings, v)
	}
	for key := len(keys) - 1; key >= 0; key-- {
		var merged []values
	next:
		for _, v := range settings {
			for _, m := range merged {
				same := true
				for other := range keys {
					same = same && (other == key || slices.Equal(m[other], v[other]))
				}
				if same {
					m[key] = append(m[key], v[key]...)
					continue next
				}
			}
			merged = append(merged, v)
		}
		settings = merged
	}
	var texts []string
	const told = 2
	others := 0
	for n, v := range settings {
		if n >= told {
			product := 1
			for _, values := range v {
				product *= len(values)
			}
			others += product
			continue
		}
		var words []string
		for i, key := range keys {
			value := either(v[i])
			switch {
			case value == "none" || key == "policy" && value == "rolling":
			case key == "policy":
				words = append(words, value)
			case key == "ckpt":
				words = append(words, "checkpoint "+value)
			default:
				words = append(words, key+" "+value)
			}
		}
		texts = append(texts, strings.Join(words, ", "))
	}
	if others > 0 {
		texts = append(texts, "one of "+thousands(strconv.Itoa(others))+" more")
	}
	return strings.Join(texts, "; or ")
}

// either joins words of which one holds.
func either(words []string) string {
	n := len(words)
	if n == 1 {
		return words[0]
	}
	return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
}

func frontPicture(grid []Tradeoff) picture {
	points := front(grid)
	var files, latencies []float64
	for _, t := range grid {
		files, latencies = append(files, t.FilesPerHour), append(latencies, t.P99)
	}
	left, right := spread(files, 1.25)
	bottom, top := spread(latencies, 1.25)
	bottom = below(bottom, 1.3) // for the numbers below the points
	few, many := points[0], points[len(points)-1]
	return picture{
		title:  "Latency against files",
		yLabel: "p99 latency, seconds (logarithmic)",
		say: fmt.Sprintf("On the efficient front less latency costs more files, from %s at %s files an hour (point 1) to %s at %s (point %d). Of %s %s on it; for each of the others there is one that is better in one and no worse in the other.",
			seconds(few.P99), number(few.FilesPerHour), seconds(many.P99), number(many.FilesPerHour), len(points), count(len(grid), "setting"), are(efficient(grid))),
		legend: []legend{{ink: inkTuned, text: "the efficient front"}, {ink: inkMuted, text: "other settings"}},
		height: heights(460, 340),
		draw: func(s size, p *plot.Plot) {
			latencyAxes(s, p, left, right, bottom, top)
			p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
				for _, t := range grid {
					if !t.Efficient {
						ring(c, vg.Point{X: x(t.FilesPerHour), Y: y(t.P99)}, pick[vg.Length](s, 4, 3), inkMuted)
					}
				}
				c.StrokeLines(line(inkTuned, 1.5), stair(points, x, y))
				for _, f := range points {
					disc(c, vg.Point{X: x(f.FilesPerHour), Y: y(f.P99)}, pick[vg.Length](s, 5, 4), inkTuned)
				}
				numberPoints(c, s, inkTuned, points, x, y)
			}))
		},
	}
}

// latencyAxes are logarithmic ones for latency against files, with rules.
func latencyAxes(s size, p *plot.Plot, left, right, bottom, top float64) {
	p.X.Min, p.X.Max, p.X.Scale = left, right, plot.LogScale{}
	p.Y.Min, p.Y.Max, p.Y.Scale = bottom, top, plot.LogScale{}
	p.X.Label.Text = "files an hour (logarithmic)"
	xTicks := logTicks(left, right, pick(s, 12, 6), short)
	yTicks := logTicks(bottom, top, 9, func(ms float64) string { return short(ms / 1000) })
	p.X.Tick.Marker, p.Y.Tick.Marker = xTicks, yTicks
	p.Add(rules(xTicks, yTicks))
}

// stair is the line of a front. Between two points of it only the worse of both is to be had.
func stair(points []frontPoint, x, y func(float64) vg.Length) []vg.Point {
	var stair []vg.Point
	for i, f := range points {
		at := vg.Point{X: x(f.FilesPerHour), Y: y(f.P99)}
		if i > 0 {
			stair = append(stair, vg.Point{X: at.X, Y: stair[len(stair)-1].Y})
		}
		stair = append(stair, at)
	}
	return stair
}

// numberPoints writes the numbers of the points of the front below and left of them, where no
// setting can be. Points that are too close to each other for a number each share one.
func numberPoints(c draw.Canvas, s size, i ink, points []frontPoint, x, y func(float64) vg.Length) {
	style := s.bold(i)
	style.XAlign = draw.XRight
	type label struct {
		first, last int
		at          vg.Point // right end, middle
		words       string
	}
	labelOf := func(first, last int) label {
		words := strconv.Itoa(first + 1)
		if last > first {
			words += "–" + strconv.Itoa(last+1)
		}
		return label{first, last, vg.Point{X: x(points[first].FilesPerHour) - 5, Y: y(points[last].P99) - s.font*.8}, words}
	}
	touch := func(a, b label) bool {
		left, right := a, b
		if a.at.X > b.at.X {
			left, right = b, a
		}
		return right.at.X-style.Width(right.words) < left.at.X+2 && a.at.Y-b.at.Y < s.font && b.at.Y-a.at.Y < s.font
	}
	var labels []label
	for point := range points {
		next := labelOf(point, point)
		for n := len(labels); n > 0 && touch(labels[n-1], next); n-- {
			next = labelOf(labels[n-1].first, point)
			labels = labels[:n-1]
		}
		labels = append(labels, next)
	}
	for _, l := range labels {
		s.write(c, style, l.at, l.words)
	}
}

func efficient(grid []Tradeoff) int {
	n := 0
	for _, t := range grid {
		if t.Efficient {
			n++
		}
	}
	return n
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return thousands(strconv.Itoa(n)) + " are"
}

// disc draws a filled circle with a rim of paper, so that those that overlap can be told apart.
func disc(c draw.Canvas, at vg.Point, radius vg.Length, i ink) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: inkPaper.color(), Radius: radius + 1, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: i.color(), Radius: radius, Shape: draw.CircleGlyph{}}, at)
}

// ring draws a circle that is not filled.
func ring(c draw.Canvas, at vg.Point, radius vg.Length, i ink) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: inkPaper.color(), Radius: radius, Shape: draw.CircleGlyph{}}, at)
	c.SetLineWidth(1.25)
	c.SetColor(i.color())
	var path vg.Path
	path.Move(vg.Point{X: at.X + radius, Y: at.Y})
	path.Arc(at, radius, 0, 2*math.Pi)
	path.Close()
	c.Stroke(path)
}
