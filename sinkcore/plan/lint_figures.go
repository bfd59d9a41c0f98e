package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Figures in the sentences of findings, for people: three digits are enough there, and no
// exponents.

// threeDigits is a number from 0 on with three digits that count.
func threeDigits(x float64) string {
	if x <= 0 || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(x)))
	return strconv.FormatFloat(math.Round(x*scale)/scale, 'f', -1, 64)
}

// numberText is how many there are of something: "864", "12,300", "86.4 million".
func numberText(x float64) string {
	switch {
	case x >= 999.5e6:
		return threeDigits(x/1e9) + " billion"
	case x >= 999.5e3:
		return threeDigits(x/1e6) + " million"
	}
	whole, rest, _ := strings.Cut(threeDigits(x), ".")
	if len(whole) > 3 {
		whole = whole[:len(whole)-3] + "," + whole[len(whole)-3:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

// bytesText is a number of bytes: "256 MiB" if it is so many exactly, as sizes are chosen, and
// else "100 bytes", "960 kB", where a kB is 1000 bytes.
func bytesText(n float64) string {
	for _, u := range []struct {
		name string
		unit float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if n >= u.unit && math.Mod(n, u.unit) == 0 {
			return strconv.FormatFloat(n/u.unit, 'f', -1, 64) + " " + u.name
		}
	}
	units := []string{" bytes", " kB", " MB", " GB", " TB", " PB"}
	i := 0
	for ; n >= 999.5 && i < len(units)-1; i++ {
		n /= 1000
	}
	return threeDigits(n) + units[i]
}

// longText is a time in seconds: "90 s", "74.6 h", "31.1 days".
func longText(seconds float64) string {
	switch {
	case seconds < 600:
		return threeDigits(seconds) + " s"
	case seconds < 2*3600:
		return threeDigits(seconds/60) + " min"
	case seconds < 100*3600:
		return threeDigits(seconds/3600) + " h"
	case seconds < 1000*86400:
		return threeDigits(seconds/86400) + " days"
	}
	return "years"
}

// loadText says what arrives at settings that have been validated: a finding that rests on it is
// worth as much as that is.
func loadText(s Settings) string {
	text := numberText(s.rate()) + " records/s"
	switch a := s.Arrivals.(type) {
	case Poisson:
		text += " at random"
	case Bursts:
		text += fmt.Sprintf(" in bursts of %d", a.Filled().Size)
	}
	text += " of " + bytesText(float64(s.RecordSize))
	if lanes := s.lanes(); lanes > 1 {
		text += fmt.Sprintf(" for %d parts at a time", lanes)
	}
	return text
}
