package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore/peers"
)

// Duration is a time as people write it on a command line or in a TOML file: as Go does,
// "90s" or "1h30m", or a number and a word, "1 min", "2 d". It is not negative. The zero
// value is no time at all.
type Duration time.Duration

// UnmarshalText reads one, see [ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// String gives it in the largest unit that it is a whole number of: "90s", "2m", "0s".
func (d Duration) String() string { return Short(time.Duration(d)) }

// durationUnits are the units that are read, and what people write in their place.
var durationUnits = []struct {
	name   string
	unit   time.Duration
	others []string
}{
	{"ms", time.Millisecond, []string{"msec", "msecs", "milli", "millis", "millisec", "millisecs", "millisecond", "milliseconds"}},
	{"s", time.Second, []string{"sec", "secs", "second", "seconds"}},
	{"m", time.Minute, []string{"mins", "minute", "minutes"}},
	{"h", time.Hour, []string{"hr", "hrs", "hour", "hours"}},
	{"d", 24 * time.Hour, []string{"day", "days"}},
	{"min", time.Minute, nil},
}

// ParseDuration reads a time: all that time.ParseDuration reads, and a number, a space or
// none, and one of ms, s, m, min, h, d. The error says what is nearest to what was given, and
// what to write in its place. Negative times, and those below a millisecond, are refused.
func ParseDuration(text string) (time.Duration, error) {
	trimmed := strings.TrimSpace(text)
	d, err := time.ParseDuration(trimmed)
	if err != nil {
		number, unit := cutUnit(trimmed)
		value, numberErr := strconv.ParseFloat(number, 64)
		switch {
		case trimmed == "":
			return 0, fmt.Errorf("a time is missing: want one such as 90s, 2m or 500ms")
		case numberErr != nil || math.IsNaN(value) || math.IsInf(value, 0):
			return 0, fmt.Errorf("%q is no time: want one such as 90s, 2m or 500ms", text)
		case unit == "":
			return 0, fmt.Errorf("%q has no unit: want %ss or %sms", text, number, number)
		}
		u, ok := time.Duration(0), false
		for _, known := range durationUnits {
			if known.name == unit {
				u, ok = known.unit, true
			}
		}
		if !ok {
			return 0, fmt.Errorf("%q has the unknown unit %q: want %s", text, unit, number+nearestUnit(unit))
		}
		if value*float64(u) > math.MaxInt64 {
			return 0, fmt.Errorf("%q is too long", text)
		}
		d = time.Duration(math.Round(value * float64(u)))
	}
	switch {
	case d < 0:
		return 0, fmt.Errorf("%q is negative: want a time such as 90s", text)
	case d%time.Millisecond != 0:
		return 0, fmt.Errorf("%q is no whole number of milliseconds: want %s", text, Short((d + time.Millisecond - 1).Truncate(time.Millisecond)))
	}
	return d, nil
}

// cutUnit cuts a number from what follows it.
func cutUnit(text string) (number, unit string) {
	at := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if at < 0 {
		return text, ""
	}
	return text[:at], strings.TrimSpace(text[at:])
}

// nearestUnit is the unit that was meant.
func nearestUnit(unit string) string {
	lower := strings.ToLower(unit)
	var names []string
	for _, u := range durationUnits {
		for _, other := range u.others {
			if other == lower {
				return u.name
			}
		}
		if u.name == lower {
			return u.name
		}
		names = append(names, u.name)
		names = append(names, u.others...)
	}
	near := peers.Nearest(lower, names)
	for _, u := range durationUnits {
		for _, other := range u.others {
			if other == near {
				return u.name
			}
		}
	}
	if near == "" {
		near = "s"
	}
	return near
}

// Short gives a duration in the largest unit of ms, s, m, h that it is a whole number of, or in
// seconds with one digit behind the point, so that [ParseDuration] reads the same: "90s",
// "2m", "28.5s", "59999ms".
func Short(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d != 0 && d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	switch {
	case d == 0:
		return "0s"
	case d > time.Second && d%(100*time.Millisecond) == 0:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + "ms"
}

// Size is a number of bytes as people write it: "134217728", "128MB", "64KiB". As in Flink,
// a kilobyte is 1024 bytes, with or without an i.
type Size int64

// UnmarshalText reads one, see [ParseSize].
func (s *Size) UnmarshalText(text []byte) error {
	n, err := ParseSize(string(text))
	*s = Size(n)
	return err
}

// String gives it in the largest unit that it is a whole number of: "128MiB", "100B".
func (s Size) String() string {
	n := int64(s)
	for i := len(sizeUnits) - 1; i > 0; i-- {
		if unit := int64(1) << (10 * i); n != 0 && n%unit == 0 {
			return strconv.FormatInt(n/unit, 10) + sizeUnits[i] + "iB"
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// sizeUnits are the letters of the powers of 1024.
var sizeUnits = []string{"", "K", "M", "G", "T"}

// ParseSize reads a number of bytes: a number, a space or none, and one of B, KB, MB, GB, TB,
// with or without an i, in capitals or not. The error says what is nearest.
func ParseSize(text string) (int64, error) {
	number, unit := cutUnit(strings.TrimSpace(text))
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || value < 0 || math.IsInf(value, 0) || math.IsNaN(value) {
		return 0, fmt.Errorf("%q is no size: want one such as 128MB, 64KiB or 1000", text)
	}
	letters := strings.ToUpper(unit)
	for i, letter := range sizeUnits {
		for _, name := range []string{letter, letter + "B", letter + "IB"} {
			if name == letters && name != "IB" || i == 0 && (letters == "BYTE" || letters == "BYTES") {
				if n := value * float64(int64(1)<<(10*i)); n < math.MaxInt64 {
					return int64(math.Round(n)), nil
				}
				return 0, fmt.Errorf("%q is too large", text)
			}
		}
	}
	near := peers.Nearest(letters, []string{"B", "KB", "MB", "GB", "TB"})
	for i, letter := range sizeUnits {
		if i > 0 && strings.HasPrefix(letters, letter) {
			near = letter + "B" // mega, kilobytes
		}
	}
	if near == "" {
		near = "MB"
	}
	return 0, fmt.Errorf("%q has the unknown unit %q: want %s", text, unit, number+near)
}
