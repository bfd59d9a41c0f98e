package report

import (
	"html/template"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// Every colour is one of the page's variables, so that it is right in light and in dark, and
// each variable has a value in both.
func TestColoursAreVariables(t *testing.T) {
	page := htmlOf(t, reportOf(t, fixture(), other(), watches(t)...))
	for n, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1) {
		if hex := regexp.MustCompile(`#[0-9A-Fa-f]{6}|rgb\(`).FindString(svg); hex != "" {
			t.Errorf("picture %d has the colour %s of its own", n, hex)
		}
	}
	light, dark, _ := strings.Cut(style, "prefers-color-scheme: dark")
	for i := range inks {
		if got := variables("fill:" + hexOf(i)); got != "fill:"+i.variable() {
			t.Errorf("%s became %s", i.variable(), got)
		}
		for what, css := range map[string]string{"light": light, "dark": dark} {
			if !strings.Contains(css, "--"+inkVariables[i]+": #") {
				t.Errorf("style.css has no %s colour for --%s", what, inkVariables[i])
			}
		}
	}
}

// hexOf is how the drawing library may write an ink: a channel may be one too small.
func hexOf(i ink) string {
	r, _, _, _ := i.color().RGBA()
	return "#" + strings.ToUpper(string("0123456789abcdef"[(r>>8-1)>>4])+string("0123456789abcdef"[(r>>8-1)&15])) + "0808"
}

// Each picture has a title, a sentence and a description for those who cannot see it.
func TestPicturesAreAccessible(t *testing.T) {
	page := htmlOf(t, reportOf(t, fixture(), other(), watches(t)...))
	figures := regexp.MustCompile(`(?s)<figure>.*?</figure>`).FindAllString(page, -1)
	if len(figures) != 11 {
		t.Errorf("%d pictures, want 11", len(figures))
	}
	for _, f := range figures {
		for _, want := range []string{`<h3>[^<]+</h3>`, `<figcaption>[^<]+\.</figcaption>`, `<svg class="wide" [^>]*role="img" tabindex="0" aria-label="[^"]+"><title>[^<]+</title>`, `<svg class="narrow" `} {
			if !regexp.MustCompile(want).MatchString(f) {
				t.Errorf("a picture lacks %s: %.300s", want, f)
			}
		}
	}
}

// The page refers to nothing outside of itself.
func TestPageIsSelfContained(t *testing.T) {
	page := htmlOf(t, reportOf(t, fixture(), other(), watches(t)...))
	if found := regexp.MustCompile(`<script|<iframe|<img|<object|@import|url\(|\bsrc=|\bon[a-z]+="`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if m[1] != "data:," && !strings.HasPrefix(m[1], "#") {
			t.Errorf("the page refers to %s", m[1])
		}
	}
}

// A name is text, whatever is in it.
func TestNamesAreEscaped(t *testing.T) {
	const evil = `<script>x</script>"&`
	text := strings.ReplaceAll(fixture(), "fs=disk", "fs="+evil)
	run, err := Read(strings.NewReader(text), evil)
	if err != nil {
		t.Fatal(err)
	}
	w := watches(t)
	w[0].Name = evil
	r, err := New(run, run, w...)
	if err != nil {
		t.Fatal(err)
	}
	if page := htmlOf(t, r); strings.Contains(page, "<script") {
		t.Error("a name became a tag")
	}
}

// Rows of any size are drawn: very large and very small values, one row, equal values, zero
// and less.
func TestRowsOfAnyValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	value := func() float64 {
		switch random.IntN(6) {
		case 0:
			return 0
		case 1:
			return 1
		case 2:
			return -random.ExpFloat64()
		}
		return math.Pow(10, 24*random.Float64()-12)
	}
	for range 500 {
		rows := make([]row, 1+random.IntN(5))
		for i := range rows {
			v := value()
			rows[i] = row{label: strings.Repeat("a long name ", random.IntN(12)), value: v, text: short(v), filled: i%2 == 0}
			if random.IntN(2) == 0 {
				rows[i].interval = []float64{v - math.Abs(v)/2, v + math.Abs(v)}
			}
		}
		p := rowPicture(rows, rowAxis{title: "t", reference: float64(random.IntN(2)), logarithmic: random.IntN(2) == 0, tick: short})
		for _, svg := range []template.HTML{p.svg(wide), p.svg(narrow)} {
			if bad := regexp.MustCompile(`NaN|Inf`).FindString(string(svg)); bad != "" {
				t.Fatalf("%s in the picture of %+v", bad, rows)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(ticks []string) string { return strings.Join(ticks, "|") }
	for _, c := range []struct{ got, want string }{
		{labels(labelsOf(timeTicks(300_000, 6))), "0|1 min|2 min|3 min|4 min|5 min"},
		{labels(labelsOf(timeTicks(60_000, 5))), "0|15 s|30 s|45 s|60 s"},
		{labels(labelsOf(timeTicks(1_000, 5))), "0|0.2 s|0.4 s|0.6 s|0.8 s|1 s"},
		{labels(labelsOf(evenTicks(0, 3000, 6, exactNumber))), "0|500|1,000|1,500|2,000|2,500|3,000"},
		{labels(labelsOf(evenTicks(-.3, .35, 6, exactNumber))), "−0.3|−0.2|−0.1|0|0.1|0.2|0.3"},
		{labels(labelsOf(evenTicks(5, 5, 6, exactNumber))), "5"},
		{labels(labelsOf(logTicks(8, 2300, 12, short))), "10|20|50|100|200|500|1,000|2,000"},
		{labels(labelsOf(logTicks(8, 2300, 6, short))), "10|30|100|300|1,000"},
		{labels(labelsOf(logTicks(1e-5, 1, 3, short))), "|0.0001||0.01||1"},
		{labels(labelsOf(logTicks(.98, 1.04, 6, short))), "0.98|0.99|1|1.01|1.02|1.03|1.04"},
	} {
		if got := strings.ReplaceAll(c.got, space, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestNumbersInWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{thousands("1234567.25"), "1,234,567.25"}, {thousands("-1234"), "−1,234"}, {thousands("123"), "123"},
		{exactNumber(59002), "59,002"}, {exactNumber(2.017), "2.017"}, {number(1234.56), "1,235"}, {number(12.3456), "12.35"},
		{number(0.00012345), "0.0001234"}, {number(0), "0"}, {short(9.9916), "9.99"}, {short(1799.4), "1,799"},
		{seconds(120150), "120.15 s"}, {percent(.25), "+25.0 %"}, {percent(-.004), "−0.4 %"}, {percent(3), "+300 %"},
		{count(1, "file"), "1 file"}, {count(1800, "file"), "1,800 files"},
		{list([]string{"a"}), "a"}, {list([]string{"a", "b", "c"}), "a, b and c"}, {list(nil), ""},
	} {
		if got := strings.ReplaceAll(c.got, space, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func labelsOf(ticks plot.ConstantTicks) []string {
	var labels []string
	for _, t := range ticks {
		labels = append(labels, t.Label)
	}
	return labels
}

// extremes are values of every size.
var extremes = []float64{
	0, math.SmallestNonzeroFloat64, 2.3e-308, 1e-300, 1e-30, 1e-9, 1, math.Nextafter(1, 2), 3, 1 << 53, 1<<53 + 2, 1e30, 1e300, math.Nextafter(1e300, 2e300),
	math.MaxFloat64, math.Inf(1), math.NaN(), -1, -1e-300, -1e300, -math.MaxFloat64, math.Inf(-1),
}

// Whatever the ends of an axis are, it has finitely many marks, not many more than were asked
// for, none of them infinite.
func TestTicksOfEveryRange(t *testing.T) {
	plain := func(v float64) string { return short(v) }
	for _, low := range extremes {
		for _, high := range extremes {
			for name, ticks := range map[string]plot.ConstantTicks{
				"even": evenTicks(low, high, 6, plain), "logarithmic": logTicks(low, high, 6, plain), "time": timeTicks(high, 6),
			} {
				if len(ticks) > 20 {
					t.Errorf("%s from %v to %v: %d ticks", name, low, high, len(ticks))
				}
			}
			if !(low > 0 && low <= high && high <= math.MaxFloat64) {
				continue
			}
			for _, logarithmic := range []bool{true, false} {
				a, b := widened(low, high, logarithmic)
				if !(a < b) || math.IsInf(b-a, 0) || logarithmic && a <= 0 {
					t.Errorf("logarithmic %v, %v to %v is widened to %v to %v", logarithmic, low, high, a, b)
				}
			}
			if a, b := spread([]float64{low, high}, 1.25); !(0 < a && a <= b && b <= math.MaxFloat64) {
				t.Errorf("%v and %v are spread from %v to %v", low, high, a, b)
			}
		}
	}
}

// Rows of every finite size are drawn, within bounds.
func TestRowsOfEverySize(t *testing.T) {
	for _, v := range extremes {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		for _, logarithmic := range []bool{true, false} {
			rows := []row{{label: "one", value: v, interval: []float64{v, v}, text: short(v)}, {label: "other", value: 1, text: short(1)}}
			pic := rowPicture(rows, rowAxis{title: "t", xName: "x-a", xLabel: ", times", reference: 1, logarithmic: logarithmic, say: "s", tick: short})
			for _, s := range []size{wide, narrow} {
				svg := string(pic.svg(s))
				if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || len(svg) > 20000 {
					t.Errorf("%v, logarithmic %v: %d bytes: %.300s", v, logarithmic, len(svg), svg)
				}
			}
		}
	}
}
