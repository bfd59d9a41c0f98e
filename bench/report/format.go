package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// space stands between a number and its unit, where no line may end.
const space = "\u00a0"

// thousands puts commas into the digits before the point.
func thousands(digits string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "−", rest
	}
	whole, fraction, point := strings.Cut(digits, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	if point {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// power gives a value with three digits and a power of ten, if it is so large or small that
// its digits would say nothing.
func power(v float64) (text string, needed bool) {
	if size := math.Abs(v); size < 1e15 && (size >= 1e-9 || size == 0) {
		return "", false
	}
	digits, exponent, found := strings.Cut(strconv.FormatFloat(v, 'g', 3, 64), "e")
	if !found {
		return digits, true // infinite
	}
	n, _ := strconv.Atoi(exponent) // as it was just formatted
	return strings.Replace(digits, "-", "−", 1) + "e" + strings.Replace(strconv.Itoa(n), "-", "−", 1), true
}

// exactNumber gives every digit of a value.
func exactNumber(v float64) string { return thousands(strconv.FormatFloat(v, 'f', -1, 64)) }

// number gives a value with four digits, or all of those before the point.
func number(v float64) string {
	if text, needed := power(v); needed {
		return text
	}
	if v == math.Trunc(v) || math.Abs(v) >= 1000 {
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	decimals := 3
	if v != 0 {
		decimals = min(max(3-int(math.Floor(math.Log10(math.Abs(v)))), 0), 12)
	}
	return thousands(strconv.FormatFloat(v, 'f', decimals, 64))
}

// short gives a value with three digits and no zeros behind them, for axes and labels.
func short(v float64) string {
	if text, needed := power(v); needed {
		return text
	}
	if math.Abs(v) >= 1000 {
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return exactNumber(rounded)
}

// seconds gives milliseconds as seconds, with every digit.
func seconds(ms float64) string { return exactNumber(ms/1000) + space + "s" }

// duration gives whole minutes as such, all else in seconds.
func duration(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return exactNumber(d.Minutes()) + space + "min"
	}
	return seconds(float64(d) / float64(time.Millisecond))
}

// percent gives a share of change with its sign, for example +12.3 %.
func percent(share float64) string {
	p := share * 100
	decimals := 1
	if math.Abs(p) >= 100 {
		decimals = 0
	}
	text := thousands(strconv.FormatFloat(p, 'f', decimals, 64))
	if large, needed := power(p); needed && math.Abs(p) > 1 {
		text = large
	}
	if p > 0 {
		text = "+" + text
	}
	return text + space + "%"
}

// count gives a number with its noun, in the plural unless it is one.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(strconv.Itoa(n)) + " " + noun + "s"
}

// list joins words as a sentence does.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}
