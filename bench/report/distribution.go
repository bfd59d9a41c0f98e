package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Distribution is what share of the records could be read how soon after they arrived.
type Distribution struct {
	Setting   string     `json:"setting"`
	Quantiles []Quantile `json:"quantiles"` // ascending
}

// Quantile is a latency in milliseconds with the share of the records that had it at most.
type Quantile struct {
	Share   float64 `json:"share"` // 0 to 1
	Latency float64 `json:"latency_ms"`
}

// distributions gives one for each setting, over the records that became visible within
// the hour, at every half percent.
func distributions(settings []Setting) []Distribution {
	const parts = 200
	var all []Distribution
	for _, s := range settings {
		d := Distribution{Setting: s.Name}
		for i := range parts + 1 {
			share := float64(i) / parts
			d.Quantiles = append(d.Quantiles, Quantile{share, float64(s.result.Latency(share).Milliseconds())})
		}
		all = append(all, d)
	}
	return all
}

func distributionPicture(settings []Setting, all []Distribution) picture {
	var half, most []string
	var lines []cumulative
	for i, d := range all {
		half = append(half, seconds(settings[i].figure("p50-visible-ms"))+" with "+d.Setting)
		most = append(most, seconds(settings[i].figure("p99-visible-ms")))
		lines = append(lines, cumulative{legend{ink: settingInk(i), text: d.Setting}, d.Quantiles})
	}
	return cumulativePicture(lines, picture{
		title: "How soon a record can be read",
		say:   fmt.Sprintf("Half of the records can be read within %s, counted from their arrival; 99 of 100 within %s.", list(half), list(most)),
	}, func(s size) string {
		return pick(s, "time from arrival until visible (logarithmic)", "from arrival until visible (log scale)")
	})
}

// cumulative is a distribution as a line.
type cumulative struct {
	legend
	quantiles []Quantile // ascending, in equal steps from 0 to 1
}

// cumulativePicture draws distributions into a picture that has its title and sentence.
func cumulativePicture(lines []cumulative, pic picture, xLabel func(size) string) picture {
	var latencies []float64
	for _, l := range lines {
		for _, q := range l.quantiles {
			latencies = append(latencies, logarithmic(q.Latency))
		}
		pic.legend = append(pic.legend, l.legend)
	}
	low, high := spread(latencies, 1.15)
	pic.yLabel = "share of the records, %"
	pic.height = heights(340, 270)
	pic.draw = func(s size, p *plot.Plot) {
		p.X.Min, p.X.Max, p.X.Scale = low, high, plot.LogScale{}
		p.Y.Min, p.Y.Max = 0, 100
		p.X.Label.Text = xLabel(s)
		xTicks := s.logarithmicFitting(s.width*pick[vg.Length](s, .8, .65), low, high, pick(s, 12, 6), seconds)
		yTicks := evenTicks(0, 100, 5, exactNumber)
		p.X.Tick.Marker, p.Y.Tick.Marker = xTicks, yTicks
		p.Add(rules(xTicks, yTicks))
		for _, l := range lines {
			points := []point{{low, 0}, {logarithmic(l.quantiles[0].Latency), 0}}
			for _, q := range l.quantiles {
				at := logarithmic(q.Latency)
				if last := points[len(points)-1]; last.X != at {
					points = append(points, point{at, last.Y})
				}
				points = append(points, point{at, 100 * q.Share})
			}
			points = append(points, point{high, 100})
			style := line(l.ink, pick[vg.Length](s, 2.25, 1.75))
			style.Dashes = l.dashes
			p.Add(curve(points, style))
		}
		if !s.narrow { // there the legend says it
			p.Add(cumulativeNames(s, lines))
		}
	}
	return pic
}

// cumulativeNames writes the name of each line left of its middle or, where another line or
// name is in the way, left of another place of it. A line without such a place has its name
// in the legend only.
func cumulativeNames(s size, lines []cumulative) painter {
	type box struct{ left, right, bottom, top vg.Length }
	touch := func(a, b box) bool {
		return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top
	}
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		// at is where a line is at a share in percent.
		at := func(l cumulative, share float64) vg.Length {
			n := float64(len(l.quantiles) - 1)
			return x(logarithmic(l.quantiles[int(min(max(share/100, 0), 1)*n)].Latency))
		}
		var taken []box
		for i, l := range lines {
			style := s.text(l.ink)
			style.XAlign = draw.XRight
			words := fit(style, l.text, s.width/4)
			for _, share := range []float64{50, 60, 40, 70, 30, 80, 20, 90, 10} {
				const above = 4 // so that the line passes below the name
				to := vg.Point{X: at(l, share) - 8, Y: y(share + above)}
				name := box{to.X - style.Width(words), to.X, to.Y - s.font*.6, to.Y + s.font*.6}
				free := name.left >= c.Min.X
				for _, other := range taken {
					free = free && !touch(name, other)
				}
				for j, other := range lines {
					if j != i {
						const around = 5 // percent, more than a name is high
						free = free && (at(other, share+above-around) > name.right || at(other, share+above+around) < name.left)
					}
				}
				if free {
					s.write(c, style, to, words)
					taken = append(taken, name)
					break
				}
			}
		}
	}
}

// logarithmic is a latency as a logarithmic axis can show it: a record that could be read
// in the millisecond in which it arrived stands at one millisecond.
func logarithmic(ms float64) float64 { return max(ms, 1) }
