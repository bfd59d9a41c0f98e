package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// picture is one picture with what stands around it. It is drawn twice: for screens and
// paper, and for phones, where text of a shrunk picture could not be read.
type picture struct {
	title  string
	yLabel string   // above the vertical axis, where it costs no width
	say    string   // the sentence under it
	legend []legend // above it

	height func(size) vg.Length
	left   func(size) vg.Length // margin; nil means a small one
	right  func(size) vg.Length // margin for what stands beside the data; nil means a small one
	draw   func(size, *plot.Plot)
}

// legend is a line with its meaning.
type legend struct {
	ink    ink
	text   string
	dashes []vg.Length // as those of draw.LineStyle; nil for a line without gaps
}

// background is the line as CSS draws it.
func (l legend) background() template.CSS {
	colour := l.ink.variable()
	if len(l.dashes) == 0 {
		return template.CSS(colour)
	}
	var stops []string
	at := vg.Length(0)
	for i, length := range l.dashes {
		stops = append(stops, fmt.Sprintf("%s %gpx %gpx", []string{colour, "transparent"}[i%2], float64(at), float64(at+length)))
		at += length
	}
	return template.CSS("repeating-linear-gradient(90deg, " + strings.Join(stops, ", ") + ")")
}

// size is one of the two that a picture is drawn in.
type size struct {
	narrow bool
	width  vg.Length
	font   vg.Length
}

// The sizes, in CSS pixels.
var (
	wide   = size{width: 760, font: 13}
	narrow = size{narrow: true, width: 336, font: 12}
)

// pick returns the one or the other.
func pick[T any](s size, wide, narrow T) T {
	if s.narrow {
		return narrow
	}
	return wide
}

// heights is the height of a picture that has the same one whatever is in it.
func heights(wide, narrow vg.Length) func(size) vg.Length {
	return func(s size) vg.Length { return pick(s, wide, narrow) }
}

// ink is a colour by its role. The page gives each a light and a dark value; the colour
// here only marks it between the drawing and the page.
type ink uint8

const (
	inkText ink = iota
	inkMuted
	inkGrid
	inkPaper
	inkDefault
	inkTuned
	inkOnCheckpoint
	inkBetter
	inkWorse

	inks
)

// inkVariables are the names of the CSS variables, in style.css.
var inkVariables = [inks]string{"text", "muted", "grid", "paper", "default", "tuned", "oncheckpoint", "better", "worse"}

// color is the mark.
func (i ink) color() color.Color { return color.RGBA{R: 16 * (uint8(i) + 1), G: 8, B: 8, A: 255} }

// variable is the ink as CSS has it.
func (i ink) variable() string { return "var(--" + inkVariables[i] + ")" }

// settingInk is the colour of an article's setting, the same in every picture.
func settingInk(n int) ink { return inkDefault + ink(n%3) }

var hexColor = regexp.MustCompile(`#[0-9A-F]{6}`)

// variables puts the variables in place of the marks. The drawing library rounds colours, so
// the nearest mark is the one that was meant.
func variables(svg string) string {
	return hexColor.ReplaceAllStringFunc(svg, func(hex string) string {
		red, _ := strconv.ParseUint(hex[1:3], 16, 8)
		n := min(max(int(math.Round(float64(red)/16))-1, 0), int(inks)-1)
		return ink(n).variable()
	})
}

// fontStyle is what the drawing library says about a face of normal weight. The page says it
// once for all pictures; it names faces of the same widths, so the layout holds.
const fontStyle = "font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;"

// svg draws the picture.
func (pic picture) svg(s size) template.HTML {
	height := pic.height(s)
	canvas := vgsvg.NewWith(vgsvg.UseWH(s.width, height))
	area := draw.New(canvas)
	label := s.text(inkMuted)
	label.YAlign = draw.YTop
	area.FillText(label, vg.Point{X: 0, Y: height - 1}, pic.yLabel)

	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding = 0
		axis.LineStyle = draw.LineStyle{}
		axis.Tick.Label.Font = s.face()
		axis.Tick.Label.Color = inkMuted.color()
		axis.Tick.LineStyle = draw.LineStyle{Color: inkMuted.color(), Width: 1}
		axis.Tick.Length = 4
		axis.Label.TextStyle.Font = s.face()
		axis.Label.TextStyle.Color = inkMuted.color()
		axis.Label.Padding = 4
	}
	p.X.LineStyle = draw.LineStyle{Color: inkMuted.color(), Width: 1}
	p.Y.Tick.Length = 0
	p.Y.Padding = 4
	pic.draw(s, p)

	left, right := vg.Length(2), vg.Length(14)
	if pic.left != nil {
		left = pic.left(s)
	}
	if pic.right != nil {
		right = pic.right(s)
	}
	top := vg.Length(8)
	if pic.yLabel != "" {
		top += s.font * 1.5
	}
	p.Draw(draw.Crop(area, left, -right, 2, -top))

	var b bytes.Buffer
	canvas.WriteTo(&b) // to memory; it cannot fail
	_, drawing, _ := strings.Cut(b.String(), "<g ")
	drawing = strings.ReplaceAll("<g "+drawing, fontStyle, "")
	drawing = strings.ReplaceAll(drawing, "\n\t", " ")
	title := html.EscapeString(pic.title)
	return template.HTML(fmt.Sprintf(`<svg class="%s" viewBox="0 0 %g %g" role="img" tabindex="0" aria-label="%s"><title>%s</title>%s`,
		pick(s, "wide", "narrow"), float64(s.width), float64(height), html.EscapeString(pic.title+". "+pic.say), title, variables(drawing)))
}

// face is the font of all text.
func (s size) face() font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: s.font}
}

// text is a style of text: left, and upright on its line.
func (s size) text(i ink) text.Style {
	return text.Style{Color: i.color(), Font: s.face(), XAlign: draw.XLeft, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
}

// bold is the same in bold.
func (s size) bold(i ink) text.Style {
	style := s.text(i)
	style.Font.Weight = xfont.WeightBold
	return style
}

// write writes text with its middle at the height of a point.
func (s size) write(c draw.Canvas, style text.Style, at vg.Point, words string) {
	at.Y += style.FontExtents().Descent
	c.FillText(style, at, words)
}

// fit shortens a text to a width.
func fit(style text.Style, words string, width vg.Length) string {
	if style.Width(words) <= width {
		return words
	}
	letters := []rune(words)
	for n := len(letters) - 1; n > 0; n-- {
		if short := string(letters[:n]) + "…"; style.Width(short) <= width {
			return short
		}
	}
	return ""
}

// line is a style of lines.
func line(i ink, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: i.color(), Width: width}
}

// painter draws with the data's coordinates at hand.
type painter func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot makes a painter a [plot.Plotter].
func (f painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

// point is a place in the data's units.
type point struct{ X, Y float64 }

// curve draws lines from point to point, clipped to the axes.
func curve(points []point, style draw.LineStyle) painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		line := make([]vg.Point, len(points))
		for i, p := range points {
			line[i] = vg.Point{X: x(p.X), Y: y(p.Y)}
		}
		c.StrokeLines(style, c.ClipLinesXY(line)...)
	}
}

// endLabel is a word beside the right end of a curve.
type endLabel struct {
	y    float64
	text string
	ink  ink
}

// endLabels writes the labels beside the data, moved apart where they would overlap.
func endLabels(s size, labels []endLabel) painter {
	return func(c draw.Canvas, _, y func(float64) vg.Length) {
		// From the top down each keeps its distance, then from the bottom up, so that none leaves
		// the picture.
		at := make([]vg.Length, len(labels))
		order := make([]int, len(labels))
		for i := range labels {
			at[i], order[i] = y(labels[i].y), i
		}
		for i := range order { // few, and equal ones stay in their order
			for j := i; j > 0 && at[order[j]] > at[order[j-1]]; j-- {
				order[j], order[j-1] = order[j-1], order[j]
			}
		}
		gap := s.font * 1.25
		for i := 1; i < len(order); i++ {
			at[order[i]] = min(at[order[i]], at[order[i-1]]-gap)
		}
		floor := c.Min.Y + s.font/2
		for i := len(order) - 1; i >= 0; i-- {
			at[order[i]] = max(at[order[i]], floor)
			floor = at[order[i]] + gap
		}
		for i, l := range labels {
			s.write(c, s.text(l.ink), vg.Point{X: c.Max.X + 6, Y: at[i]}, l.text)
		}
	}
}

// labelMargin is the room that labels at the right take.
func (s size) labelMargin(texts ...string) vg.Length {
	width := vg.Length(0)
	for _, t := range texts {
		width = max(width, s.text(inkText).Width(t))
	}
	return width + 10
}

// rules draws thin lines at the ticks: vertical ones at those of X, horizontal ones at those of Y.
func rules(vertical, horizontal []plot.Tick) painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, t := range vertical {
			if at := x(t.Value); !t.IsMinor() && c.ContainsX(at) {
				c.StrokeLine2(line(inkGrid, 1), at, c.Min.Y, at, c.Max.Y)
			}
		}
		for _, t := range horizontal {
			if at := y(t.Value); !t.IsMinor() && c.ContainsY(at) {
				c.StrokeLine2(line(inkGrid, 1), c.Min.X, at, c.Max.X, at)
			}
		}
	}
}
