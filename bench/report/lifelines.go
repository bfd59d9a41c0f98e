package report

import (
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sinklab/sinkcore/sim"
)

// Lifelines is what became of each part file of a setting that was opened in the first
// minutes.
type Lifelines struct {
	Setting string     `json:"setting"`
	Until   float64    `json:"until_ms"`
	Parts   []Lifeline `json:"parts"` // in the order in which they were opened

	check time.Duration
	ink   ink
}

// Lifeline is one part file. Instants are milliseconds from the start of the job, and -1 if
// it did not come to that within the hour.
type Lifeline struct {
	Opened  float64 `json:"opened_ms"` // its first record was written
	Closed  float64 `json:"closed_ms"` // the policy closed it, or the checkpoint did
	Reason  string  `json:"reason"`
	Handed  float64 `json:"prepared_ms"` // a checkpoint handed it over to be committed
	Visible float64 `json:"committed_ms"`
	Records int64   `json:"records"`
	Bytes   int64   `json:"bytes"`
}

// lifelineTimes says which settings get a picture, and how much time it shows: enough for
// some files.
func lifelineTimes(settings []Setting) []Lifelines {
	var all []Lifelines
	for i, s := range settings {
		switch s.Name {
		case "default":
			all = append(all, lifelines(s, 10*time.Minute, settingInk(i)))
		case "tuned":
			all = append(all, lifelines(s, time.Minute, settingInk(i)))
		}
	}
	return all
}

func lifelines(s Setting, until time.Duration, i ink) Lifelines {
	l := Lifelines{Setting: s.Name, Until: float64(until.Milliseconds()), check: s.check, ink: i}
	for _, p := range s.result.Parts {
		if float64(p.Opened) <= l.Until {
			l.Parts = append(l.Parts, lifeline(p))
		}
	}
	return l
}

func lifeline(p sim.Part) Lifeline {
	return Lifeline{
		Opened: float64(p.Opened), Closed: float64(p.Closed), Reason: p.Reason.String(), Handed: float64(p.Handed), Visible: float64(p.Visible),
		Records: p.Records, Bytes: p.Bytes,
	}
}

// longest is the part that was open for the longest time, of those that became visible.
func (l Lifelines) longest() (Lifeline, bool) {
	longest, found := Lifeline{}, false
	for _, p := range l.Parts {
		if p.Visible >= 0 && (!found || p.Closed-p.Opened > longest.Closed-longest.Opened) {
			longest, found = p, true
		}
	}
	return longest, found
}

func (l Lifelines) picture() picture {
	say := "No file became visible."
	if p, found := l.longest(); found {
		say = fmt.Sprintf("%s opened; the one open for the longest time took records for %s, was closed by %s at the check that came every %s, and could be read %s later, when a checkpoint had committed it.",
			countWere(len(l.Parts), "file"), seconds(p.Closed-p.Opened), reasonWords(p.Reason), duration(l.check), seconds(p.Visible-p.Closed))
	}
	return picture{
		title: "Life of every part file, setting " + l.Setting,
		say:   say,
		legend: []legend{
			{ink: l.ink, text: "open: records are written, none can be read"},
			{ink: inkText, text: "closed, until a checkpoint takes it"},
			{ink: inkBetter, text: "committed: can be read"},
		},
		height: func(s size) vg.Length { return vg.Length(len(l.Parts))*lifelineHeight(s) + 56 },
		draw: func(s size, p *plot.Plot) {
			p.X.Min, p.X.Max = 0, l.Until
			p.Y.Min, p.Y.Max = -float64(len(l.Parts)), 0
			p.X.Label.Text = "time since the start of the job"
			xTicks := timeTicks(l.Until, pick(s, 10, 5))
			p.X.Tick.Marker = xTicks
			yTicks := plot.ConstantTicks{}
			for i := range l.Parts {
				yTicks = append(yTicks, plot.Tick{Value: -float64(i) - .5, Label: pick(s, "file ", "") + strconv.Itoa(i+1)})
			}
			p.Y.Tick.Marker = yTicks
			p.Add(rules(xTicks, nil))
			p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
				for i, part := range l.Parts {
					part.paint(c, s, l.ink, x, y(-float64(i)-.5)-lifelineHeight(s)*.2)
				}
			}))
		},
	}
}

func lifelineHeight(s size) vg.Length { return pick[vg.Length](s, 42, 40) }

// paint draws a life at a height: bars, and the words above them.
func (p Lifeline) paint(c draw.Canvas, s size, open ink, x func(float64) vg.Length, y vg.Length) {
	const half = 5
	bar := func(from, to, half vg.Length, i ink) {
		from, to = max(from, c.Min.X), min(to, c.Max.X)
		if from < to {
			c.FillPolygon(i.color(), []vg.Point{{X: from, Y: y - half}, {X: to, Y: y - half}, {X: to, Y: y + half}, {X: from, Y: y + half}})
		}
	}
	at := func(ms float64) vg.Length {
		if ms < 0 {
			return c.Max.X + 1
		}
		return x(ms)
	}
	bar(x(p.Opened), at(p.Closed), half, open)
	bar(at(p.Closed), at(p.Visible), half, inkText)
	bar(at(p.Visible), c.Max.X, 1.25, inkBetter)
	if visible := at(p.Visible); visible <= c.Max.X {
		disc(c, vg.Point{X: visible, Y: y}, 4, inkBetter)
	}
	style, start, last := s.text(inkText), vg.Point{Y: y + half + s.font*.85}, ""
	for _, words := range p.words(s) {
		start.X = max(x(p.Opened), c.Min.X)
		if start.X+style.Width(words) <= c.Max.X {
			c.FillText(style, start, words)
			return
		}
		last = words
	}
	start.X, style.XAlign = c.Max.X, draw.XRight
	c.FillText(style, start, last)
}

// words tell the life, in longer words and in shorter ones for where there is no room.
func (p Lifeline) words(s size) []string {
	switch {
	case p.Closed < 0:
		return []string{seconds(p.Opened) + ", still open at the end"}
	case p.Handed < 0:
		return []string{fmt.Sprintf("%s – %s %s", seconds(p.Opened), seconds(p.Closed), p.Reason)}
	case p.Visible < 0:
		return []string{fmt.Sprintf("%s – %s %s, prepared %s", seconds(p.Opened), seconds(p.Closed), p.Reason, seconds(p.Handed))}
	}
	long := fmt.Sprintf("%s – %s rolled by %s, prepared %s, committed %s", seconds(p.Opened), seconds(p.Closed), p.Reason, seconds(p.Handed), seconds(p.Visible))
	brief := fmt.Sprintf("%s – %s %s, visible %s", seconds(p.Opened), seconds(p.Closed), p.Reason, seconds(p.Visible))
	briefer := fmt.Sprintf("closed %s by %s", seconds(p.Closed), p.Reason)
	briefest := fmt.Sprintf("%s %s", seconds(p.Closed), p.Reason)
	return []string{long, brief, briefer, briefest}[pick(s, 0, 1):]
}

// reasonWords is a reason as the rest of a sentence.
func reasonWords(reason string) string {
	if reason == "checkpoint" {
		return "a checkpoint"
	}
	return "its " + reason
}

func countWere(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return count(n, noun) + " were"
}
