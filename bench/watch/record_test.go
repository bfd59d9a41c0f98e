package watch

import (
	"slices"
	"strings"
	"testing"
)

const noon = 1777636800000 // 2026-05-01T12:00:00Z

func TestTimes(t *testing.T) {
	for text, want := range map[string]int64{
		"1777636800000":             noon,
		"1777636800000.9":           noon,
		"1.7776368e12":              noon,
		"-1.5":                      -2,
		"0":                         0,
		"2026-05-01T12:00:00Z":      noon,
		"2026-05-01T12:00:00.0079Z": noon + 7,
		"2026-05-01T14:00:00+02:00": noon,
		"2026-05-01 12:00:00.001Z":  noon + 1,
		"9999-12-31T23:59:59.999Z":  lastTime,
		"0001-01-01T00:00:00Z":      firstTime,
	} {
		if got, err := parseTime(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                    "neither",
		"noon":                "neither",
		"2026-05-01T12:00:00": "neither", // in which zone?
		"2026-05-01":          "neither",
		"1777636800000000":    "beyond the year 9999", // microseconds
		"NaN":                 "beyond",
		"inf":                 "beyond",
	} {
		if got, err := parseTime(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d, %v; want %s", text, got, err, want)
		}
	}
}

// parsed is what a parser makes of lines: time and id of each, or why it is none.
func parsed(t *testing.T, f Format, lines ...string) (got []string) {
	t.Helper()
	if err := f.validate(); err != nil {
		t.Fatal(err)
	}
	p := f.parser()
	for _, line := range lines {
		r, err := p.parse([]byte(line))
		switch {
		case err != nil:
			got = append(got, err.Error())
		case r.hasTime && r.time == noon:
			got = append(got, "noon "+string(r.id))
		case r.hasTime:
			got = append(got, "other time "+string(r.id))
		default:
			got = append(got, "no time "+string(r.id))
		}
	}
	return got
}

func TestFormats(t *testing.T) {
	const isNoTime = " is neither milliseconds since 1970 nor a time as in RFC 3339"
	for _, c := range []struct {
		format      Format
		lines, want []string
	}{
		{Format{}, []string{"", "a,b"}, []string{"no time ", "no time "}},
		{Format{Kind: CSV}, []string{"", "a,b"}, []string{"no time ", "no time "}},
		{
			Format{Kind: CSV, Time: "2", ID: "3"},
			[]string{"x,1777636800000,7,y", `"a,b",1777636800000,"7"`, "x, 2026-05-01T12:00:00Z ,7", "x,5,", "x,y,z", "x,5", "", `"x,5,6`},
			[]string{"noon 7", "noon 7", "noon 7", "other time ", `"y"` + isNoTime, "there is no column 3, the line has 2", "there is no column 3, the line has 1", `extraneous or missing " in quoted-field`},
		},
		{Format{Kind: CSV, Time: "1"}, []string{"1777636800000"}, []string{"noon "}},
		{Format{Kind: CSV, ID: "1", Separator: '\t'}, []string{"a,b\tc"}, []string{"no time a,b"}},
		{Format{Kind: CSV, Time: "5", Separator: ';'}, []string{`"1";2`}, []string{"there is no column 5, the line has 2"}},
		{
			Format{Kind: CSV, Time: "at", ID: "n"},
			[]string{"\xef\xbb\xbfn,\"at\",x", "7,1777636800000"},
			[]string{"header", "noon 7"},
		},
		{
			Format{Kind: CSV, Time: "at"},
			[]string{"1777636800000", "1777636800000"},
			[]string{`the first line of the file names no column "at"`, `the first line of the file names no column "at"`},
		},
		{
			Format{Kind: JSON, Time: "e.at", ID: "/e/a.b~1c~0"},
			[]string{`{"e":{"at":1777636800000,"a.b/c~":"x"}}`, `{"e":{"at":"2026-05-01T12:00:00Z","a.b/c~":3},"z":[{}]}`, `{"e":{"at":null,"a.b/c~":3}}`, `{"e":{"at":1}}`, `{"e":5}`, `{"f":5}`, `[1]`, `null`, `{"e":`},
			[]string{`noon "x"`, "noon 3", `"null"` + isNoTime, `there is no field "e.a.b/c~"`, `field "e" is not an object`, `there is no field "e.at"`, "not an object of JSON", "not an object of JSON", "not an object of JSON"},
		},
	} {
		if got := parsed(t, c.format, c.lines...); !slices.Equal(got, c.want) {
			t.Errorf("%+v:\n got %q\nwant %q", c.format, got, c.want)
		}
	}
}

// Percentiles are those of the sorted list, but for the rounding of what is long.
func TestPercentiles(t *testing.T) {
	var q quantiles
	if got := q.at(0, 50, 100); !slices.Equal(got, []int64{-1, -1, -1}) {
		t.Errorf("of nothing: %v", got)
	}
	var all []int64
	add := func(ms int64) {
		q.add(ms)
		all = append(all, ms)
	}
	for i := range int64(100) {
		add(i * i)
	}
	for _, ms := range []int64{-3000, -1, 0, exactBelow - 1} {
		add(ms)
	}
	for i := range int64(200) {
		add(exactBelow + i*12_345_677)
	}
	slices.Sort(all)
	for p := range int64(101) {
		want := all[max((p*int64(len(all))+99)/100, 1)-1]
		got := q.at(p)[0]
		if exact := want >= 0 && want < exactBelow; exact && got != want || got > want || want-got > max(want, -want)/1000 {
			t.Errorf("p%d: %d, want %d", p, got, want)
		}
	}
	if got := q.at(0, 0, 7, 100, 100); got[0] != got[1] || got[3] != got[4] {
		t.Errorf("%v", got)
	}
}

// However many records there are, what is kept of them stays small.
func TestQuantilesStaySmall(t *testing.T) {
	var q quantiles
	for i := range int64(2_000_000) {
		q.add(exactBelow + i*1_000_003)
	}
	if len(q.sparse) > 50_000 {
		t.Errorf("%d", len(q.sparse))
	}
}
