package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore"
)

// ParseArrivals reads what the built-in streams print: words key=value in any order,
// separated by spaces. Durations are milliseconds and may have a fraction.
//
//	arrivals=constant interval=100 first=100          or rate=10, records a second, in place of interval
//	arrivals=poisson interval=100 seed=0              interval is the mean; rate as above
//	arrivals=bursts size=600 every=60000 interval=1 first=0
//
// Each word may be absent; no words at all are Constant{}. The error wraps
// sinkcore.ErrConfig and names the word.
//
// What it returns prints with all defaults filled in, and that text is read as the same
// records.
func ParseArrivals(text string) (Arrivals, error) {
	kind := "constant"
	// A word that is given twice is refused and not overwritten, since one of the two would
	// be a mistake that nobody sees.
	given := map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%w: arrivals word %q: want key=value", sinkcore.ErrConfig, word)
		}
		if _, twice := given[key]; twice || key == "rate" && given["interval"] != "" || key == "interval" && given["rate"] != "" {
			return nil, fmt.Errorf("%w: arrivals word %q: given twice (rate and interval say the same)", sinkcore.ErrConfig, word)
		}
		given[key] = value
	}
	if value, ok := given["arrivals"]; ok {
		kind = value
		delete(given, "arrivals")
	}
	// Each kind takes the words that it knows; what is left over afterwards is a word of
	// another kind, or of none.
	p := arrivalsParser{kind: kind, given: given}
	var a Arrivals
	switch kind {
	case "constant":
		a = Constant{Interval: p.interval(), First: p.duration("first")}
	case "poisson":
		a = Poisson{Interval: p.interval(), Seed: p.number("seed")}
	case "bursts":
		a = Bursts{Size: int(min(p.number("size"), 1<<31)), Every: p.duration("every"), Interval: p.interval(), First: p.duration("first")}
	default:
		return nil, fmt.Errorf("%w: arrivals %q: the streams are constant, poisson, bursts", sinkcore.ErrConfig, kind)
	}
	// The order of the words decides which one is named, not that of a map.
	for _, word := range strings.Fields(text) {
		key, _, _ := strings.Cut(word, "=")
		if _, left := given[key]; left {
			return nil, fmt.Errorf("%w: arrivals word %q: %s has no such key", sinkcore.ErrConfig, word, kind)
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return a, validArrivals(a)
}

// arrivalsParser takes values out of the words given and keeps the first error.
//
// One error is enough to act on; a later one may be a consequence of it.
type arrivalsParser struct {
	kind  string
	given map[string]string
	err   error
}

// take gives the value of a key and whether it was given; it is then not left over.
func (p *arrivalsParser) take(key string) (string, bool) {
	value, ok := p.given[key]
	delete(p.given, key)
	return value, ok
}

func (p *arrivalsParser) fail(key, value, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: arrivals word \"%s=%s\": want %s", sinkcore.ErrConfig, key, value, want)
	}
}

// interval reads interval= in milliseconds or rate= in records a second.
func (p *arrivalsParser) interval() time.Duration {
	value, ok := p.take("rate")
	if !ok {
		return p.duration("interval")
	}
	rate, err := strconv.ParseFloat(value, 64)
	if err != nil || !(rate >= 1e-6 && rate <= 1e7) {
		p.fail("rate", value, "records a second, from 0.000001 to 10000000")
		return 0
	}
	return time.Duration(math.Round(float64(time.Second) / rate))
}

func (p *arrivalsParser) duration(key string) time.Duration {
	value, ok := p.take(key)
	if !ok {
		return 0
	}
	ms, err := strconv.ParseFloat(value, 64)
	d := time.Duration(math.Round(ms * float64(time.Millisecond)))
	switch {
	case err != nil || !(ms >= 0 && ms < 1e12):
		p.fail(key, value, "milliseconds, not negative")
	case d == 0 && key != "first":
		p.fail(key, value, "at least a nanosecond, 0.000001") // 0 stands for the default
	}
	return d
}

func (p *arrivalsParser) number(key string) uint64 {
	value, ok := p.take(key)
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		p.fail(key, value, "a whole number, not negative")
	}
	return n
}

// millis prints a duration in milliseconds, with a fraction where it has one.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}
