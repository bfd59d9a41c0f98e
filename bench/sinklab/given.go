package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sinklab/bench/config"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// given is what arrives at a sink and how long its checkpoints take: the flags that plan, lint,
// explain and simulate have in common, which are keys of a TOML file too.
type given struct {
	Rate               float64         `toml:"rate" least:"more than 0" placeholder:"N" help:"Records a second, all subtasks together (10)."`
	Arrivals           string          `toml:"arrivals" placeholder:"WORDS" help:"Instead of --rate: \"poisson rate=10\", or \"bursts size=600 every=60000 interval=1\" with times in ms."`
	RecordSize         config.Size     `toml:"record-size" least:"1B or more" placeholder:"SIZE" help:"Of a record (100B)."`
	Buckets            int             `toml:"buckets" least:"1 or more" placeholder:"N" help:"Directories to which records go in turn (1)."`
	Subtasks           int             `toml:"subtasks" least:"1 or more" placeholder:"N" help:"Parallel writers (1)."`
	CheckpointDuration config.Duration `toml:"checkpoint-duration" placeholder:"TIME" help:"Of a checkpoint, from its start until its completion has been acted on (0s)."`
}

// arrivalKeys are the words that arrivals take.
var arrivalKeys = []string{"arrivals", "interval", "rate", "first", "seed", "size", "every"}

// stream reads the arrivals. The first record comes half an interval after the start unless
// it is said, so that none falls on the very millisecond of a check.
func (g given) stream() (sim.Arrivals, error) {
	words := strings.Fields(g.Arrivals)
	switch {
	case g.Rate != 0 && len(words) > 0:
		return nil, fmt.Errorf("--rate and --arrivals say the same: give one of them; --arrivals \"poisson rate=10\" has both")
	case g.Rate < 0 || g.Rate > 1e9 || math.IsNaN(g.Rate):
		return nil, fmt.Errorf("--rate %v: want records a second, greater than 0", g.Rate)
	case len(words) == 0:
		words = []string{"constant", "rate=" + strconv.FormatFloat(cmp.Or(g.Rate, 10), 'f', -1, 64)}
	}
	if !strings.Contains(words[0], "=") {
		words[0] = "arrivals=" + words[0]
	}
	a, err := sim.ParseArrivals(strings.Join(words, " "))
	if err != nil {
		return nil, fmt.Errorf("--arrivals: %w%s", err, meantArrivals(words))
	}
	if c, constant := a.(sim.Constant); constant && c.First == 0 {
		c.First = max(cmp.Or(c.Interval, 100*time.Millisecond)/2, 1)
		a = c
	}
	return a, nil
}

// meantArrivals suggests what was meant by the first word that is none.
func meantArrivals(words []string) string {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if near := peers.Nearest(key, arrivalKeys); near != key && near != "" {
			return "; did you mean " + near + "=?"
		}
		if near := peers.Nearest(value, []string{"constant", "poisson", "bursts"}); key == "arrivals" && near != value && near != "" {
			return "; did you mean " + near + "?"
		}
	}
	return ""
}

// settings are the settings of package plan, without policy, checks and checkpoints.
func (g given) settings() (plan.Settings, error) {
	s := plan.Settings{RecordSize: int(g.RecordSize), Buckets: g.Buckets, Subtasks: g.Subtasks, CheckpointDuration: time.Duration(g.CheckpointDuration)}
	a, err := g.stream()
	if err != nil {
		return s, err
	}
	switch a := a.(type) {
	case sim.Constant:
		s.Arrivals = plan.Constant{Interval: a.Interval, First: a.First}
	case sim.Poisson:
		s.Arrivals = plan.Poisson{Interval: a.Interval, Seed: a.Seed}
	case sim.Bursts:
		s.Arrivals = plan.Bursts{Size: a.Size, Every: a.Every, Interval: a.Interval, First: a.First}
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"record-size", s.RecordSize}, {"buckets", s.Buckets}, {"subtasks", s.Subtasks}} {
		if n.value < 0 {
			return s, fmt.Errorf("--%s %d: must be at least 1", n.name, n.value)
		}
	}
	return s, nil
}

// describe says what arrives, in words.
func describe(s plan.Settings) string {
	var b strings.Builder
	switch a := s.Arrivals.(type) {
	case plan.Bursts:
		fmt.Fprintf(&b, "bursts of %d records every %s", cmp.Or(a.Size, 600), span(cmp.Or(a.Every, time.Minute)))
	case plan.Poisson:
		fmt.Fprintf(&b, "%s records/s at random", figure(float64(time.Second)/float64(cmp.Or(a.Interval, 100*time.Millisecond))))
	case plan.Constant:
		fmt.Fprintf(&b, "%s records/s", figure(float64(time.Second)/float64(cmp.Or(a.Interval, 100*time.Millisecond))))
	}
	fmt.Fprintf(&b, " of %s, %s, %s", bytesOf(float64(cmp.Or(s.RecordSize, 100))), count(max(s.Buckets, 1), "bucket"), count(max(s.Subtasks, 1), "subtask"))
	return b.String()
}

// checkpoints says when checkpoints come, in words.
func checkpoints(s plan.Settings) string {
	text := "a checkpoint every " + span(s.CheckpointInterval)
	if s.CheckpointDuration > 0 {
		text += " that takes " + span(s.CheckpointDuration)
	}
	return text
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// span is a time for people: "150 ms", "59.95 s" up to ten minutes, "31 min", "9.32 h", "3 d".
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "never"
	case d > 0 && d < time.Second:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
	case d < 10*time.Minute:
		return decimals(d.Seconds()) + " s"
	case d < 2*time.Hour:
		return decimals(d.Minutes()) + " min"
	case d < 48*time.Hour:
		return decimals(d.Hours()) + " h"
	}
	return decimals(d.Hours()/24) + " d"
}

// decimals has three digits behind the point at most.
func decimals(x float64) string {
	return strconv.FormatFloat(math.Round(x*1000)/1000, 'f', -1, 64)
}

// figure has four digits, and commas between thousands.
func figure(x float64) string {
	if x != 0 && math.Abs(x) < 1000 {
		digits := 3 - int(math.Floor(math.Log10(math.Abs(x))))
		scale := math.Pow(10, float64(min(digits, 6)))
		return strconv.FormatFloat(math.Round(x*scale)/scale, 'f', -1, 64)
	}
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	text := strconv.FormatInt(int64(math.Round(x)), 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// bytesOf is a number of bytes; as everywhere in Flink a kB is 1024 of them.
func bytesOf(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	i := 0
	for ; n >= 1024 && i < len(units)-1; i++ {
		n /= 1024
	}
	return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) + " " + units[i]
}

// table lines up columns: those before left are set to the left, the others to the right.
func table(rows [][]string, left int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < left {
				line += cell + space
			} else {
				line += space + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// wrap breaks a text into lines no wider than width; all but the first are indented.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
