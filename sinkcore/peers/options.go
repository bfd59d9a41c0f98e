package peers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Option is one setting of a peer, under the name that the peer gives it.
//
// They are what a program needs to show a form, and what the command prints in its table:
// Meaning is half a sentence and Source a class, a file or a page.
type Option struct {
	Name    string // as the peer writes it
	Value   string // as it is, in the syntax that Parse reads; empty if the option is not set and has no default
	Default string // empty if there is none
	Set     bool   // it differs from the default
	Meaning string // what it decides, with its unit
	Source  string // where the peer defines it
}

// option binds the name of an option to a field of a peer.
//
// A peer lists its options once, bound to its own fields, and parsing, printing and
// describing all go by that list. So an option cannot be read and not printed, and a test
// goes through all of them by reading what was printed.
//
// Zero stands for the default wherever it is not a value of its own, which keeps the
// structs useful without Parse. The price is that an option that is given as 0 cannot be
// told from one that is absent, also where the engine would refuse 0. Where 0 means
// something the field is a pointer, see optionalDuration.
type option struct {
	name, meaning, source string
	initial               string // the default as it is printed
	read                  func(text string) (problem string)
	write                 func() (text string, set bool) // set: the field does not have its zero value
}

// describe lists options for the caller.
func describe(options []option) []Option {
	list := make([]Option, 0, len(options))
	for _, o := range options {
		text, set := o.write()
		if !set {
			text = o.initial
		}
		list = append(list, Option{Name: o.name, Value: text, Default: o.initial, Set: set && text != o.initial, Meaning: o.meaning, Source: o.source})
	}
	return list
}

// spell writes a peer in the syntax that Parse reads.
//
// An option that was set to what is the default anyway is left out: two peers whose options
// come to the same print the same, so that the text can be a key.
func spell(name string, options []option) string {
	var b strings.Builder
	b.WriteString(name)
	for _, o := range options {
		if text, set := o.write(); set && text != o.initial {
			b.WriteString(" " + o.name + "=" + quote(text))
		}
	}
	return b.String()
}

// quote puts a value that holds spaces, or nothing, in single quotes.
func quote(text string) string {
	if text == "" || strings.ContainsAny(text, " \t") {
		return "'" + text + "'"
	}
	return text
}

// integer is a whole number; zero stands for the default.
func integer(name string, field *int64, initial string, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read: func(text string) string {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return "want a whole number"
			}
			*field = n
			return ""
		},
		write: func() (string, bool) { return strconv.FormatInt(*field, 10), *field != 0 },
	}
}

// number is a number with a fraction; zero stands for the default.
func number(name string, field *float64, initial string, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read: func(text string) string {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
				return "want a number"
			}
			*field = n
			return ""
		},
		write: func() (string, bool) { return strconv.FormatFloat(*field, 'f', -1, 64), *field != 0 },
	}
}

// byteSize is a number of bytes, with a unit as most peers write it: k, m and g are powers
// of 1024 for all of those that are here. Zero stands for the default.
//
// Fluentd, Flink's MemorySize and Spark take 1k as 1024 bytes. Where an engine takes plain
// numbers only, as Arroyo does, a unit is read here all the same.
func byteSize(name string, field *int64, initial string, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read: func(text string) string {
			digits := strings.TrimRight(strings.ToLower(text), "bytesikmg ")
			n, err := strconv.ParseInt(digits, 10, 64)
			unit := strings.TrimSpace(strings.ToLower(text[len(digits):]))
			at := slices.IndexFunc(byteUnits, func(names []string) bool { return slices.Contains(names, unit) })
			if err != nil || at < 0 || n < 0 || n > math.MaxInt64>>(10*at) {
				return "want a number of bytes such as 134217728 or 128mb"
			}
			*field = n << (10 * at)
			return ""
		},
		write: func() (string, bool) { return strconv.FormatInt(*field, 10), *field != 0 },
	}
}

// byteUnits lists the names of the powers of 1024.
var byteUnits = [][]string{
	{"", "b", "bytes"}, {"k", "kb", "kib"}, {"m", "mb", "mib"}, {"g", "gb", "gib"},
}

// milliseconds is a plain number of milliseconds; zero stands for the default.
//
// Kafka's options are numbers without a unit, and one with a unit is refused there, so it
// is refused here. Those of Flink's builders have no text of their own and are written in
// the same way.
func milliseconds(name string, field *time.Duration, initial string, meaning, source string) option {
	return plainTime(name, field, time.Millisecond, initial, meaning, source)
}

// seconds is a plain number of seconds; zero stands for the default.
func seconds(name string, field *time.Duration, initial string, meaning, source string) option {
	return plainTime(name, field, time.Second, initial, meaning, source)
}

func plainTime(name string, field *time.Duration, unit time.Duration, initial, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read: func(text string) string {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit) {
				return "want a whole number of " + unitNames[unit] + ", without a unit"
			}
			*field = time.Duration(n) * unit
			return ""
		},
		write: func() (string, bool) { return strconv.FormatInt(int64(*field/unit), 10), *field != 0 },
	}
}

var unitNames = map[time.Duration]string{time.Millisecond: "milliseconds", time.Second: "seconds"}

// duration is a time with a unit, such as 30min; zero stands for the default.
func duration(name string, field *time.Duration, initial string, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read: func(text string) string {
			d, problem := parseDuration(text)
			*field = d
			return problem
		},
		write: func() (string, bool) { return formatDuration(*field), *field != 0 },
	}
}

// optionalDuration is a time with a unit for which zero is a value like any other.
//
// The field is nil if the option is absent; the value that is read is a new one each time,
// so that two peers never share it.
func optionalDuration(name string, field **time.Duration, initial string, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read: func(text string) string {
			d, problem := parseDuration(text)
			*field = &d
			return problem
		},
		write: func() (string, bool) {
			if *field == nil {
				return "", false
			}
			return formatDuration(**field), true
		},
	}
}

// optionalSeconds is a plain number of seconds for which zero is a value like any other.
func optionalSeconds(name string, field **time.Duration, initial string, meaning, source string) option {
	var d time.Duration
	o := seconds(name, &d, initial, meaning, source)
	// The number is read by the option for seconds, and copied so that each peer has its
	// own.
	read := o.read
	o.read = func(text string) string {
		problem := read(text)
		value := d
		*field = &value
		return problem
	}
	o.write = func() (string, bool) {
		if *field == nil {
			return "", false
		}
		return strconv.FormatInt(int64(**field/time.Second), 10), true
	}
	return o
}

// durationUnits lists the units in ascending order, each with the names that Flink's
// TimeUtils, Go, Rust's and Spark's parsers give it; the first is printed.
var durationUnits = []struct {
	unit  time.Duration
	names []string
}{
	{time.Millisecond, []string{"ms", "milli", "millis", "millisecond", "milliseconds"}},
	{time.Second, []string{"s", "sec", "secs", "second", "seconds"}},
	{time.Minute, []string{"min", "m", "mins", "minute", "minutes"}},
	{time.Hour, []string{"h", "hour", "hours"}},
	{24 * time.Hour, []string{"d", "day", "days"}},
}

// parseDuration reads a whole number and its unit. Fractions are refused: not all of the
// engines take them, and 1500ms says the same everywhere.
func parseDuration(text string) (time.Duration, string) {
	const problem = "want a time such as 500ms, 30s, 30min or 1h"
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, problem
	}
	unit := strings.TrimSpace(text[len(digits):])
	if n == 0 && unit == "" {
		return 0, ""
	}
	for _, u := range durationUnits {
		if slices.Contains(u.names, unit) {
			if n > math.MaxInt64/int64(u.unit) {
				return 0, problem
			}
			return time.Duration(n) * u.unit, ""
		}
	}
	return 0, problem
}

// formatDuration prints a time in the largest unit that it is a whole number of, so that
// parseDuration reads the same.
func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	for _, u := range slices.Backward(durationUnits) {
		if d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.names[0]
		}
	}
	return d.String() // below a millisecond; refused when it is validated
}

// boolean is true or false; false is the default.
func boolean(name string, field *bool, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: "false",
		read: func(text string) string {
			v, err := strconv.ParseBool(text)
			if err != nil {
				return "want true or false"
			}
			*field = v
			return ""
		},
		write: func() (string, bool) { return strconv.FormatBool(*field), *field },
	}
}

// booleanNot is true or false, true by default; the field is the opposite.
func booleanNot(name string, field *bool, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: "true",
		read: func(text string) string {
			v, err := strconv.ParseBool(text)
			if err != nil {
				return "want true or false"
			}
			*field = !v
			return ""
		},
		write: func() (string, bool) { return strconv.FormatBool(!*field), *field },
	}
}

// choice is one of some words; the first is the default. The empty field stands for it.
func choice(name string, field *string, values []string, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: values[0],
		read: func(text string) string {
			if !slices.Contains(values, text) {
				return notOneOf(text, values)
			}
			*field = text
			return ""
		},
		write: func() (string, bool) { return *field, *field != "" },
	}
}

// text is any text.
func text(name string, field *string, initial, meaning, source string) option {
	return option{name: name, meaning: meaning, source: source, initial: initial,
		read:  func(text string) string { *field = text; return "" },
		write: func() (string, bool) { return *field, *field != "" },
	}
}

// notOneOf says which values there are and which is nearest.
func notOneOf(got string, values []string) string {
	problem := "want one of " + strings.Join(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }), ", ")
	if near := Nearest(got, values); near != "" {
		problem += fmt.Sprintf("; did you mean %s?", near)
	}
	return problem
}

// validChoice refuses a field that holds none of the words.
func validChoice(peer, name, value string, values []string, source string) error {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return refuse(peer, name, value, source, "%s", notOneOf(value, values))
}

// wholeMillis refuses durations that are negative or have a fraction of a millisecond.
func wholeMillis(peer string, fields ...timeField) error {
	for _, f := range fields {
		if f.value < 0 || f.value%time.Millisecond != 0 {
			return refuse(peer, f.name, f.value.String(), "", "must be a whole number of milliseconds, not negative")
		}
	}
	return nil
}

// timeField is a duration with the name of its option.
type timeField struct {
	name  string
	value time.Duration
}

// Nearest gives the candidate with the fewest changed letters, or "" if all are far off: what
// somebody may have meant who has misspelt a name. Of two that are equally near the first
// wins.
//
// A candidate is far off if more than half of the letters differ; a hint that is wrong is
// worse than none. Upper and lower case count as the same.
func Nearest(got string, candidates []string) string {
	return NearestWithin(got, candidates, len(got)/2+1)
}

// NearestWithin is Nearest for who knows how many changed letters are too many: candidates
// with more of them are far off.
func NearestWithin(got string, candidates []string, most int) string {
	best, least := "", most+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(got), strings.ToLower(c)); c != "" && d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the least number of letters to insert, delete or change (Levenshtein).
//
// One row of the table is enough, since each one is made of the row before.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
