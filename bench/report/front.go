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
}

// tradeoffs reads the grid, by files and then latency.
func tradeoffs(run *Run) []Tradeoff {
	var grid []Tradeoff
	for _, m := range run.metrics {
		if m.function() != "Settings" || m.unit != "p99-visible-ms" {
			continue
		}
		files := run.byKey[metricKey{m.pkg, m.benchmark, "files/hour"}]
		if files == nil || m.samples[0] <= 0 || files.samples[0] <= 0 {
			continue // it has no place on logarithmic axes
		}
		_, setting, _ := strings.Cut(m.benchmark, "/")
		grid = append(grid, Tradeoff{Setting: setting, P99: m.samples[0], FilesPerHour: files.samples[0]})
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
			points[n-1].settings = append(points[n-1].settings, settingWords(t.Setting))
			continue
		}
		points = append(points, frontPoint{t, []string{settingWords(t.Setting)}})
	}
	return points
}

// settingWords is a setting of the grid as a person reads it: key and value, without what
// the setting does not have.
func settingWords(setting string) string {
	var words []string
	for segment := range strings.SplitSeq(setting, "/") {
		key, value, _ := strings.Cut(segment, "=")
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
	return strings.Join(words, ", ")
}

func frontPicture(grid []Tradeoff) picture {
	points := front(grid)
	var files, latencies []float64
	for _, t := range grid {
		files, latencies = append(files, t.FilesPerHour), append(latencies, t.P99)
	}
	left, right := spread(files, 1.25)
	bottom, top := spread(latencies, 1.25)
	few, many := points[0], points[len(points)-1]
	return picture{
		title:  "Latency against files",
		yLabel: "p99 latency, seconds (logarithmic)",
		say: fmt.Sprintf("Of %s, %s on the efficient front, where less latency costs more files: from %s at %s files an hour (point 1) to %s at %s (point %d); at every other one some setting is better in one and no worse in the other.",
			count(len(grid), "setting"), are(efficient(grid)), seconds(few.P99), number(few.FilesPerHour), seconds(many.P99), number(many.FilesPerHour), len(points)),
		legend: []legend{{inkTuned, "the efficient front"}, {inkMuted, "other settings"}},
		height: heights(460, 340),
		draw: func(s size, p *plot.Plot) {
			p.X.Min, p.X.Max, p.X.Scale = left, right, plot.LogScale{}
			p.Y.Min, p.Y.Max, p.Y.Scale = bottom, top, plot.LogScale{}
			p.X.Label.Text = "files an hour (logarithmic)"
			xTicks := logTicks(left, right, pick(s, 12, 6), short)
			yTicks := logTicks(bottom, top, 9, func(ms float64) string { return short(ms / 1000) })
			p.X.Tick.Marker, p.Y.Tick.Marker = xTicks, yTicks
			p.Add(rules(xTicks, yTicks))
			p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
				for _, t := range grid {
					if !t.Efficient {
						ring(c, vg.Point{X: x(t.FilesPerHour), Y: y(t.P99)}, pick[vg.Length](s, 4, 3), inkMuted)
					}
				}
				// Between two points of the front only the worse of both is to be had, so it is a stair.
				var stair []vg.Point
				for i, f := range points {
					at := vg.Point{X: x(f.FilesPerHour), Y: y(f.P99)}
					if i > 0 {
						stair = append(stair, vg.Point{X: at.X, Y: stair[len(stair)-1].Y})
					}
					stair = append(stair, at)
				}
				c.StrokeLines(line(inkTuned, 1.5), stair)
				for _, f := range points {
					disc(c, vg.Point{X: x(f.FilesPerHour), Y: y(f.P99)}, pick[vg.Length](s, 5, 4), inkTuned)
				}
				numberPoints(c, s, points, x, y)
			}))
		},
	}
}

// numberPoints writes the number of each point of the front below and left of it, where no
// setting can be. A number that would touch the one before goes further out.
func numberPoints(c draw.Canvas, s size, points []frontPoint, x, y func(float64) vg.Length) {
	style := s.bold(inkTuned)
	style.XAlign = draw.XRight
	var taken []vg.Rectangle
	for i, f := range points {
		text := strconv.Itoa(i + 1)
		at := vg.Point{X: x(f.FilesPerHour) - 5, Y: y(f.P99) - s.font*.75}
		for range 4 {
			box := vg.Rectangle{Min: vg.Point{X: at.X - style.Width(text), Y: at.Y - s.font/2}, Max: vg.Point{X: at.X, Y: at.Y + s.font/2}}
			if !slices.ContainsFunc(taken, func(t vg.Rectangle) bool {
				return box.Min.X < t.Max.X+1 && t.Min.X < box.Max.X+1 && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y
			}) {
				taken = append(taken, box)
				break
			}
			at.Y -= s.font
		}
		c.FillText(style, at, text)
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
