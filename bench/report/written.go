package report

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sinklab/sinkcore/sim"
)

// Written is how many records were written, and how many could be read, over time.
type Written struct {
	Written []Count        `json:"written"` // a point for each change of the rate
	Visible []VisibleCount `json:"visible"`
}

// Count is a number of records at an instant, milliseconds from the start of the job.
type Count struct {
	At      float64 `json:"at_ms"`
	Records float64 `json:"records"`
}

// VisibleCount is a setting's steps: from each instant on so many records could be read.
type VisibleCount struct {
	Setting string  `json:"setting"`
	Steps   []Count `json:"steps"`
}

// written counts the records of the first minutes. The settings get the same records.
func written(settings []Setting) Written {
	end := window.Milliseconds()
	var w Written
	for i, r := range settings[0].result.Records {
		if r.Arrived > end {
			break
		}
		w.Written = append(w.Written, Count{float64(r.Arrived), float64(i + 1)})
	}
	w.Written = straighten(w.Written)
	for _, s := range settings {
		v := VisibleCount{Setting: s.Name, Steps: []Count{{0, 0}}}
		for _, at := range visibleInstants(s.result.Records) {
			if at > end {
				break
			}
			if last := &v.Steps[len(v.Steps)-1]; last.At == float64(at) {
				last.Records++
			} else {
				v.Steps = append(v.Steps, Count{float64(at), last.Records + 1})
			}
		}
		w.Visible = append(w.Visible, v)
	}
	return w
}

// visibleInstants are when the records could be seen, in order, of those that could.
func visibleInstants(records []sim.Visit) []int64 {
	var instants []int64
	for _, r := range records {
		if r.Visible >= 0 {
			instants = append(instants, r.Visible)
		}
	}
	slices.Sort(instants)
	return instants
}

// straighten drops the points that lie on a straight line between their neighbours.
func straighten(points []Count) []Count {
	var kept []Count
	for _, p := range points {
		if n := len(kept); n >= 2 {
			a, b := kept[n-2], kept[n-1]
			if (b.Records-a.Records)*(p.At-b.At) == (p.Records-b.Records)*(b.At-a.At) {
				kept = kept[:n-1]
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// at is how many records could be read at an instant.
func (v VisibleCount) at(ms float64) float64 {
	n := sort.Search(len(v.Steps), func(i int) bool { return v.Steps[i].At > ms })
	return v.Steps[n-1].Records
}

// slowest is the setting that shows its first record last.
func slowest(settings []Setting) int {
	worst := 0
	for i, s := range settings {
		if s.result.FirstVisible > settings[worst].result.FirstVisible {
			worst = i
		}
	}
	return worst
}

func (w Written) picture(settings []Setting) picture {
	end := float64(window.Milliseconds())
	slow := slowest(settings)
	first := settings[slow].figure("first-visible-ms")
	jump := w.Visible[slow].at(first)
	waiting := 0
	for _, r := range settings[slow].result.Records {
		if float64(r.Arrived) <= first {
			waiting++
		}
	}
	legends := []legend{{ink: inkText, text: "written"}}
	labels := []endLabel{{w.Written[len(w.Written)-1].Records, "written", inkText}}
	texts := []string{"written"}
	for i, v := range w.Visible {
		legends = append(legends, legend{ink: settingInk(i), text: "visible, " + v.Setting})
		labels = append(labels, endLabel{v.at(end), v.Setting, settingInk(i)})
		texts = append(texts, v.Setting)
	}
	why := ""
	if settings[slow].looks != "" {
		why = " Why so long: " + settings[slow].looks + "."
	}
	return picture{
		title:  "Records written against records visible",
		yLabel: "records",
		say: fmt.Sprintf("With the setting %s nothing can be read for %s, while %s records are written; then %s appear at once.%s",
			settings[slow].Name, seconds(first), thousands(strconv.Itoa(waiting)), number(jump), why),
		legend: legends,
		height: heights(380, 290),
		right:  func(s size) vg.Length { return pick(s, s.labelMargin(texts...), 14) },
		draw: func(s size, p *plot.Plot) {
			p.X.Min, p.X.Max = 0, end
			p.Y.Min, p.Y.Max = 0, w.Written[len(w.Written)-1].Records
			p.X.Label.Text = "time since the start of the job"
			xTicks, yTicks := timeTicks(end, 6), evenTicks(0, p.Y.Max, 6, exactNumber)
			p.X.Tick.Marker, p.Y.Tick.Marker = xTicks, yTicks
			p.Add(rules(nil, yTicks), curve(countPoints(w.Written), line(inkText, 2)))
			for i := len(w.Visible) - 1; i >= 0; i-- {
				p.Add(curve(steps(w.Visible[i].Steps, end), line(settingInk(i), pick[vg.Length](s, 2.25, 1.75))))
			}
			p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
				style, words := s.bold(settingInk(slow)), "nothing before "+seconds(first)
				at := vg.Point{X: x(first) + 7, Y: c.Min.Y + s.font}
				if at.X+style.Width(words) > c.Max.X {
					at.X, style.XAlign = x(first)-7, draw.XRight
				}
				s.write(c, style, at, words)
			}))
			if !s.narrow {
				p.Add(endLabels(s, labels))
			}
		},
	}
}

func countPoints(counts []Count) []point {
	points := make([]point, len(counts))
	for i, c := range counts {
		points[i] = point{c.At, c.Records}
	}
	return points
}

// steps is a line that goes level from each point to the next, until the end.
func steps(counts []Count, end float64) []point {
	var points []point
	for i, c := range counts {
		if i > 0 {
			points = append(points, point{c.At, counts[i-1].Records})
		}
		points = append(points, point{c.At, c.Records})
	}
	return append(points, point{end, counts[len(counts)-1].Records})
}
