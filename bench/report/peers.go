package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// peersRate ends the names of the rows that are drawn: the records of the article.
const peersRate = "/rate=10"

// peerPoints groups the sinks of other engines that are alike, from few files to many. Those
// of which nothing could be read within the hour, or everything at once, have no place on
// logarithmic axes; the tables have them.
func peerPoints(peers []Tradeoff) []frontPoint {
	var points []frontPoint
	for _, p := range peers {
		name := strings.TrimSuffix(strings.TrimPrefix(p.Setting, "peer="), peersRate)
		same := func(f frontPoint) bool { return f.P99 == p.P99 && f.FilesPerHour == p.FilesPerHour }
		if i := slices.IndexFunc(points, same); i >= 0 {
			points[i].settings = append(points[i].settings, name)
			continue
		}
		points = append(points, frontPoint{p, []string{name}})
	}
	return points
}

// peersPicture shows the sinks of other engines as they come beside the front of the grid.
func peersPicture(peers, grid []Tradeoff) picture {
	points, best := peerPoints(peers), front(grid)
	var files, latencies []float64
	for _, t := range slices.Concat(peers, grid) {
		files, latencies = append(files, t.FilesPerHour), append(latencies, t.P99)
	}
	left, right := spread(files, 1.25)
	bottom, top := spread(latencies, 1.25)
	bottom = below(bottom, 1.3) // for the numbers below the points
	slowest := slices.MaxFunc(peers, func(a, b Tradeoff) int {
		if a.P99 < b.P99 {
			return -1
		}
		return 1
	})
	name := strings.TrimSuffix(strings.TrimPrefix(slowest.Setting, "peer="), peersRate)
	return picture{
		title:  "Other engines as they come",
		yLabel: "p99 latency, seconds (logarithmic)",
		say: fmt.Sprintf("With the settings they come with and the same ten records a second the sinks of other engines are anywhere: 99 of 100 records can be read within %s at most with %s. What is far above and right of the line could have less of both.",
			seconds(slowest.P99), name),
		legend: []legend{{ink: inkDefault, text: "other engines"}, {ink: inkTuned, text: "the efficient front of the picture above"}},
		height: heights(460, 340),
		draw: func(s size, p *plot.Plot) {
			latencyAxes(s, p, left, right, bottom, top)
			p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
				if len(best) > 1 {
					c.StrokeLines(line(inkTuned, 1.5), stair(best, x, y))
				}
				for _, f := range points {
					disc(c, vg.Point{X: x(f.FilesPerHour), Y: y(f.P99)}, pick[vg.Length](s, 5, 4), inkDefault)
				}
				numberPoints(c, s, inkDefault, points, x, y)
			}))
		},
	}
}

// peersTable names the points by their numbers.
func peersTable(peers []Tradeoff) table {
	t := table{Title: "The engines of the points", Open: true, Columns: []string{"point", "sink", "p99-visible-ms", "files/hour"}, Words: 2}
	for i, f := range peerPoints(peers) {
		t.Rows = append(t.Rows, tableRow{
			Words: []string{strconv.Itoa(i + 1), strings.Join(f.settings, ", ")},
			Cells: []cell{metricCell(f.p99), metricCell(f.files)},
		})
	}
	return t
}
