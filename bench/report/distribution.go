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
	var latencies []float64
	var half, most []string
	var legends []legend
	for i, d := range all {
		for _, q := range d.Quantiles {
			latencies = append(latencies, logarithmic(q.Latency))
		}
		half = append(half, seconds(settings[i].figure("p50-visible-ms"))+" with "+d.Setting)
		most = append(most, seconds(settings[i].figure("p99-visible-ms")))
		legends = append(legends, legend{settingInk(i), d.Setting})
	}
	low, high := spread(latencies, 1.15)
	return picture{
		title:  "How soon a record can be read",
		yLabel: "share of the records, %",
		say:    fmt.Sprintf("Half of the records can be read within %s, counted from their arrival; 99 of 100 within %s.", list(half), list(most)),
		legend: legends,
		height: heights(340, 270),
		draw: func(s size, p *plot.Plot) {
			p.X.Min, p.X.Max, p.X.Scale = low, high, plot.LogScale{}
			p.Y.Min, p.Y.Max = 0, 100
			p.X.Label.Text = pick(s, "time from arrival until visible (logarithmic)", "from arrival until visible (log scale)")
			xTicks := logTicks(low, high, pick(s, 12, 6), func(ms float64) string { return seconds(ms) })
			yTicks := evenTicks(0, 100, 5, exactNumber)
			p.X.Tick.Marker, p.Y.Tick.Marker = xTicks, yTicks
			p.Add(rules(xTicks, yTicks))
			for i, d := range all {
				points := []point{{low, 0}, {logarithmic(d.Quantiles[0].Latency), 0}}
				for _, q := range d.Quantiles {
					at := logarithmic(q.Latency)
					if last := points[len(points)-1]; last.X != at {
						points = append(points, point{at, last.Y})
					}
					points = append(points, point{at, 100 * q.Share})
				}
				points = append(points, point{high, 100})
				p.Add(curve(points, line(settingInk(i), pick[vg.Length](s, 2.25, 1.75))))
			}
			if s.narrow {
				return // the legend says it
			}
			p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
				for i, d := range all {
					middle := d.Quantiles[len(d.Quantiles)/2]
					style := s.text(settingInk(i))
					style.XAlign = draw.XRight
					s.write(c, style, vg.Point{X: x(logarithmic(middle.Latency)) - 8, Y: y(54)}, d.Setting)
				}
			}))
		},
	}
}

// logarithmic is a latency as a logarithmic axis can show it: a record that could be read
// in the millisecond in which it arrived stands at one millisecond.
func logarithmic(ms float64) float64 { return max(ms, 1) }
