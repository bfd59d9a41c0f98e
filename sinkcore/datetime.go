package sinkcore

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the same buckets on a machine without a time zone database
)

// DateTimeOptions says how [NewDateTime] names buckets.
type DateTimeOptions struct {
	// Format is a pattern of Java's DateTimeFormatter. "" means "yyyy-MM-dd--HH", a
	// bucket an hour (DateTimeBucketAssigner:55-107).
	Format string

	// Zone is a time zone as Java's ZoneId.of reads it: a region ("Europe/Berlin"),
	// an offset ("+05:30"), or UTC, GMT or UT with or without an offset. "" means UTC;
	// Flink takes the zone of the machine, which makes the result depend on it.
	Zone string

	// ByEventTime takes the record's event time instead of the processing time, which
	// Flink's assigner cannot. A record without one is then refused.
	ByEventTime bool
}

// DateTime puts each record into a bucket named by a date and time. Where a local
// hour occurs twice, both have one bucket, unless the pattern prints the offset (X, x, Z).
// The rules of a zone are those of the machine's time zone database, or where it has none
// those that were compiled in.
//
// It keeps the last id, so jobs that run at the same time must not share one.
type DateTime[T any] struct {
	pattern     []timeField
	location    *time.Location
	byEventTime bool

	// The id does not change within the pattern's finest unit, so one id serves a run
	// of records without formatting again.
	id          string
	from, until int64 // milliseconds; id holds for from <= instant < until
}

var errNoEventTime = errors.New("the record has no event time")

// NewDateTime returns the assigner, or an error that wraps [ErrConfig] and names what
// is wrong in the pattern or the zone.
//
// The pattern letters are G u y M L d D Q q H h K k m s S A n N a E X x Z VV and
// literals, with their meaning in Java 17 and English text. Letters whose meaning
// depends on the locale's week (w W Y e c) or that name a zone in words (z v O B) are
// refused.
func NewDateTime[T any](o DateTimeOptions) (*DateTime[T], error) {
	if o.Format == "" {
		o.Format = "yyyy-MM-dd--HH"
	}
	pattern, err := parseTimePattern(o.Format)
	if err != nil {
		return nil, err
	}
	location, err := parseZone(o.Zone)
	if err != nil {
		return nil, err
	}
	return &DateTime[T]{pattern: pattern, location: location, byEventTime: o.ByEventTime}, nil
}

func (d *DateTime[T]) missing() bool { return d == nil || d.location == nil }

// BucketID formats the instant. It returns an error for a record without event time if
// that is asked for.
func (d *DateTime[T]) BucketID(_ T, c Context) (string, error) {
	instant := c.Now
	if d.byEventTime {
		if c.EventTime == NoTime {
			return "", errNoEventTime
		}
		instant = c.EventTime
	}
	if instant >= d.from && instant < d.until {
		return d.id, nil
	}
	t := time.UnixMilli(instant).In(d.location)
	var b []byte
	unit := int64(24 * time.Hour / time.Millisecond)
	for _, field := range d.pattern {
		b = field.append(b, t)
		unit = min(unit, field.unit)
	}
	d.id = string(b)
	d.from, d.until = sameUnit(t, instant, unit)
	return d.id, nil
}

// sameUnit gives the instants around t that share its local unit, cut off where the
// zone's offset changes. Without the cut an id would be kept for instants beyond the
// change, whose local time is another (bugs of this kind:
// confluentinc/kafka-connect-storage-cloud#375).
func sameUnit(t time.Time, instant, unit int64) (from, until int64) {
	sinceMidnight := int64(t.Hour())*3_600_000 + int64(t.Minute())*60_000 + int64(t.Second())*1000 + int64(t.Nanosecond())/1e6
	from = instant - sinceMidnight%unit
	until = from + unit
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		from = max(from, start.UnixMilli())
	}
	if !end.IsZero() {
		until = min(until, end.UnixMilli())
	}
	return from, until
}

// timeField is one element of a pattern: a letter repeated, or literal text.
type timeField struct {
	letter byte // 0 for a literal
	count  int
	text   string // of a literal
	unit   int64  // the element is constant within so many milliseconds of local time
}

const (
	milli  int64 = 1
	second int64 = 1000
	minute       = 60 * second
	hour         = 60 * minute
	day          = 24 * hour
)

// timeLetters lists the letters of a pattern, the most times each may be repeated, and
// how long its value stays the same.
var timeLetters = map[byte]struct {
	most int
	unit int64
}{
	'G': {5, day}, 'u': {19, day}, 'y': {19, day}, 'M': {5, day}, 'L': {5, day}, 'd': {2, day}, 'D': {3, day},
	'Q': {5, day}, 'q': {5, day}, 'E': {5, day}, 'a': {1, hour}, 'H': {2, hour}, 'h': {2, hour}, 'K': {2, hour}, 'k': {2, hour},
	'm': {2, minute}, 's': {2, second}, 'S': {9, milli}, 'A': {19, milli}, 'n': {19, milli}, 'N': {19, milli},
	// An offset changes only with the zone's offset, where sameUnit cuts.
	'X': {5, day}, 'x': {5, day}, 'Z': {5, day}, 'V': {2, day},
}

// parseTimePattern reads a DateTimeFormatter pattern
// (DateTimeFormatterBuilder.appendPattern). What it does not print as Java does it refuses,
// all of it here: Flink's formatter is built with the first record, and a job with a bad
// pattern fails then, again and again (DateTimeBucketAssigner:55-107).
func parseTimePattern(pattern string) ([]timeField, error) {
	bad := func(format string, args ...any) ([]timeField, error) {
		return nil, fmt.Errorf("%w: date-time format %q: %s", ErrConfig, pattern, fmt.Sprintf(format, args...))
	}
	var fields []timeField
	literal := func(s string) { fields = append(fields, timeField{text: s, unit: day}) }
	depth := 0
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			known, ok := timeLetters[c]
			if !ok || n > known.most || c == 'V' && n != 2 {
				return bad("%q is not supported", pattern[i:i+n])
			}
			fields = append(fields, timeField{letter: c, count: n, unit: known.unit})
			i += n
		case c == '\'':
			// Quoted text; two quotes stand for one, inside and outside.
			var text strings.Builder
			j := i + 1
			for ; ; j++ {
				if j >= len(pattern) {
					return bad("a quote is not closed")
				}
				if pattern[j] != '\'' {
					text.WriteByte(pattern[j])
				} else if j+1 < len(pattern) && pattern[j+1] == '\'' {
					text.WriteByte('\'')
					j++
				} else {
					break
				}
			}
			if text.Len() == 0 {
				text.WriteByte('\'')
			}
			literal(text.String())
			i = j + 1
		case c == '{' || c == '}' || c == '#':
			return bad("%q is reserved", string(c))
		case c == '[':
			depth++ // an optional section; all of its fields exist, so it is always printed
			i++
		case c == ']':
			if depth--; depth < 0 {
				return bad("a ] without a [")
			}
			i++
		default:
			j := i + 1
			for j < len(pattern) && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'{}#[]", rune(pattern[j])) {
				j++
			}
			literal(pattern[i:j])
			i = j
		}
	}
	return fields, nil
}

// append formats one element.
func (f timeField) append(b []byte, t time.Time) []byte {
	switch f.letter {
	case 0:
		return append(b, f.text...)
	case 'G':
		return append(b, era(t.Year(), f.count)...)
	case 'u':
		return appendYear(b, t.Year(), f.count)
	case 'y':
		year := t.Year()
		if year <= 0 {
			year = 1 - year // year of era
		}
		return appendYear(b, year, f.count)
	case 'M', 'L':
		return appendText(b, int64(t.Month()), t.Month().String(), f.count)
	case 'd':
		return appendNumber(b, int64(t.Day()), f.count)
	case 'D':
		return appendNumber(b, int64(t.YearDay()), f.count)
	case 'Q', 'q':
		q := int64(t.Month()-1)/3 + 1
		switch f.count {
		case 3:
			return strconv.AppendInt(append(b, 'Q'), q, 10)
		case 4:
			return append(b, [...]string{"1st", "2nd", "3rd", "4th"}[q-1]+" quarter"...)
		case 5:
			return strconv.AppendInt(b, q, 10)
		}
		return appendNumber(b, q, f.count)
	case 'E':
		return appendText(b, 0, t.Weekday().String(), max(f.count, 3))
	case 'a':
		if t.Hour() < 12 {
			return append(b, "AM"...)
		}
		return append(b, "PM"...)
	case 'H':
		return appendNumber(b, int64(t.Hour()), f.count)
	case 'k':
		return appendNumber(b, int64((t.Hour()+23)%24+1), f.count)
	case 'K':
		return appendNumber(b, int64(t.Hour()%12), f.count)
	case 'h':
		return appendNumber(b, int64((t.Hour()+11)%12+1), f.count)
	case 'm':
		return appendNumber(b, int64(t.Minute()), f.count)
	case 's':
		return appendNumber(b, int64(t.Second()), f.count)
	case 'S':
		return append(b, fmt.Sprintf("%09d", t.Nanosecond())[:f.count]...)
	case 'n':
		return appendNumber(b, int64(t.Nanosecond()), f.count)
	case 'A':
		return appendNumber(b, nanoOfDay(t)/1e6, f.count)
	case 'N':
		return appendNumber(b, nanoOfDay(t), f.count)
	case 'V':
		return append(b, t.Location().String()...)
	default: // X, x, Z
		return f.appendOffset(b, t)
	}
}

func nanoOfDay(t time.Time) int64 {
	return int64(t.Hour())*3600e9 + int64(t.Minute())*60e9 + int64(t.Second())*1e9 + int64(t.Nanosecond())
}

// appendNumber pads with zeros to the width.
func appendNumber(b []byte, n int64, width int) []byte {
	return fmt.Appendf(b, "%0*d", width, n)
}

// appendYear prints a year as Java does: two letters mean the last two digits, four or
// more a "+" before a year that needs more digits than asked for.
func appendYear(b []byte, year, count int) []byte {
	if count == 2 {
		return appendNumber(b, int64(max(year, -year)%100), 2)
	}
	if year < 0 {
		b, year = append(b, '-'), -year
	} else if count >= 4 && float64(year) >= math.Pow10(count) {
		b = append(b, '+')
	}
	return appendNumber(b, int64(year), count)
}

// appendText prints a number for one or two letters, a short name for three, the full
// name for four and its first letter for five.
func appendText(b []byte, n int64, name string, count int) []byte {
	switch count {
	case 3:
		return append(b, name[:3]...)
	case 4:
		return append(b, name...)
	case 5:
		return append(b, name[0])
	}
	return appendNumber(b, n, count)
}

func era(year, count int) string {
	names := [2][3]string{{"BC", "Before Christ", "B"}, {"AD", "Anno Domini", "A"}}
	which := 1
	if year <= 0 {
		which = 0
	}
	return names[which][max(count-3, 0)]
}

// appendOffset prints the offset from UTC.
func (f timeField) appendOffset(b []byte, t time.Time) []byte {
	_, offset := t.Zone()
	letter, count := f.letter, f.count
	if letter == 'Z' {
		switch {
		case count == 4: // GMT+05:30
			b = append(b, "GMT"...)
			if offset == 0 {
				return b
			}
			letter, count = 'x', 5
		case count == 5:
			letter, count = 'X', 5
		default:
			letter, count = 'x', 2
		}
	}
	if count <= 3 {
		offset -= offset % 60 // seconds are not printed, and then +00:00:30 is as good as zero
	}
	if letter == 'X' && offset == 0 {
		return append(b, 'Z')
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	b = append(b, sign)
	b = fmt.Appendf(b, "%02d", offset/3600)
	minutes, seconds := offset/60%60, offset%60
	colon := ""
	if count == 3 || count == 5 {
		colon = ":"
	}
	if count > 1 || minutes != 0 {
		b = fmt.Appendf(b, "%s%02d", colon, minutes)
	}
	if count > 3 && seconds != 0 {
		b = fmt.Appendf(b, "%s%02d", colon, seconds)
	}
	return b
}

// offsetText matches the forms of java.time.ZoneOffset.of.
var offsetText = regexp.MustCompile(`^[+-](\d|\d\d|\d{4}|\d\d:\d\d|\d{6}|\d\d:\d\d:\d\d)$`)

// parseZone reads what java.time.ZoneId.of does. The location's name is Java's id of the
// zone, which VV prints. "Local" is what package time calls the zone of the machine.
func parseZone(zone string) (*time.Location, error) {
	switch zone {
	case "", "UTC":
		return time.UTC, nil
	case "GMT", "UT", "Z":
		return time.FixedZone(zone, 0), nil
	case "Local":
		return nil, fmt.Errorf("%w: time zone \"Local\": name a zone, so that the buckets do not depend on the machine", ErrConfig)
	}
	prefix, rest := "", zone
	for _, p := range []string{"UTC", "GMT", "UT"} {
		if after, ok := strings.CutPrefix(zone, p); ok && (after[0] == '+' || after[0] == '-') {
			prefix, rest = p, after
			break
		}
	}
	if offsetText.MatchString(rest) {
		digits := strings.ReplaceAll(rest[1:], ":", "")
		if len(digits) == 1 {
			digits = "0" + digits
		}
		digits = (digits + "0000")[:6]
		part := func(at int) int { n, _ := strconv.Atoi(digits[at : at+2]); return n }
		hours, minutes, seconds := part(0), part(2), part(4)
		offset := hours*3600 + minutes*60 + seconds
		if minutes > 59 || seconds > 59 || offset > 18*3600 {
			return nil, fmt.Errorf("%w: time zone %q: an offset is at most 18:00", ErrConfig, zone)
		}
		if rest[0] == '-' {
			offset = -offset
		}
		return time.FixedZone(offsetID(prefix, offset), offset), nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("%w: time zone %q: %w", ErrConfig, zone, err)
	}
	return location, nil
}

// offsetID is the id that Java gives a zone of a fixed offset.
func offsetID(prefix string, offset int) string {
	if offset == 0 {
		return cmp.Or(prefix, "Z")
	}
	colons := timeField{letter: 'x', count: 5}
	return string(colons.appendOffset([]byte(prefix), time.Unix(0, 0).In(time.FixedZone("", offset))))
}
