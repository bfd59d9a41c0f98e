package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"sinklab/sinkcore/sim"
)

// Sawtooth is how old the oldest record was that had arrived and could not be read yet.
type Sawtooth struct {
	Setting string `json:"setting"`
	Ages    []Age  `json:"ages"` // between two points the age grows with the time, or falls at once
}

// Age is the age of the oldest invisible record at an instant, both in milliseconds; 0 if
// everything that had arrived could be read.
type Age struct {
	At  float64 `json:"at_ms"`
	Age float64 `json:"age_ms"`
}

// sawtooths gives one for each setting, over the first minutes.
func sawtooths(settings []Setting) []Sawtooth {
	var all []Sawtooth
	for _, s := range settings {
		all = append(all, Sawtooth{s.Name, ages(s.result.Records, window.Milliseconds())})
	}
	return all
}

// ages follows the oldest invisible record. The records are in the order in which they
// arrived, and one that is visible stays so.
func ages(records []sim.Visit, end int64) []Age {
	var points []Age
	for oldest := 0; oldest < len(records) && records[oldest].Arrived <= end; {
		arrived, until := records[oldest].Arrived, records[oldest].Visible
		if until < 0 || until > end {
			from := max(arrived, lastInstant(points))
			return append(points, Age{float64(from), float64(from - arrived)}, Age{float64(end), float64(end - arrived)})
		}
		for oldest < len(records) && records[oldest].Visible >= 0 && records[oldest].Visible <= until {
			oldest++
		}
		from := max(arrived, lastInstant(points))
		points = append(points, Age{float64(from), float64(from - arrived)}, Age{float64(until), float64(until - arrived)})
		if oldest == len(records) || records[oldest].Arrived > until {
			points = append(points, Age{float64(until), 0}) // for a while nothing is invisible
			if oldest < len(records) && records[oldest].Arrived <= end {
				points = append(points, Age{float64(records[oldest].Arrived), 0})
			}
		}
	}
	return points
}

// lastInstant is where the points end.
func lastInstant(points []Age) int64 {
	if len(points) == 0 {
		return 0
	}
	return int64(points[len(points)-1].At)
}

// most is the largest age.
func (s Sawtooth) most() float64 {
	most := 0.0
	for _, a := range s.Ages {
		most = max(most, a.Age)
	}
	return most
}

func sawtoothPicture(all []Sawtooth) picture {
	end := float64(window.Milliseconds())
	top, words := 0.0, []string(nil)
	var legends []legend
	var labels []endLabel
	var texts []string
	for i, s := range all {
		most := s.most()
		top = max(top, most)
		words = append(words, fmt.Sprintf("%s with %s", seconds(most), s.Setting))
		legends = append(legends, legend{ink: settingInk(i), text: s.Setting})
		labels = append(labels, endLabel{s.Ages[len(s.Ages)-1].Age, s.Setting, settingInk(i)})
		texts = append(texts, s.Setting)
	}
	return picture{
		title:  "Age of the oldest invisible record",
		yLabel: "age, seconds",
		say: fmt.Sprintf("What a reader does not see grows older until a checkpoint commits the file it is in: within these %s up to %s.",
			duration(window), list(words)),
		legend: legends,
		height: heights(340, 270),
		right:  func(s size) vg.Length { return pick(s, s.labelMargin(texts...), 14) },
		draw: func(s size, p *plot.Plot) {
			p.X.Min, p.X.Max = 0, end
			p.Y.Min, p.Y.Max = 0, top
			p.X.Label.Text = "time since the start of the job"
			yTicks := evenTicks(0, top/1000, 6, exactNumber)
			for i := range yTicks {
				yTicks[i].Value *= 1000
			}
			p.X.Tick.Marker, p.Y.Tick.Marker = timeTicks(end, 6), yTicks
			p.Add(rules(nil, yTicks))
			for i, saw := range all {
				points := make([]point, len(saw.Ages))
				for n, a := range saw.Ages {
					points[n] = point{a.At, a.Age}
				}
				p.Add(curve(points, line(settingInk(i), pick[vg.Length](s, 1.75, 1.25))))
			}
			if !s.narrow {
				p.Add(endLabels(s, labels))
			}
		},
	}
}
