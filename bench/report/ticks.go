package report

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// timeTicks marks an axis of milliseconds from 0 on at round seconds or minutes, n times at
// most. What is too long for any of them is marked at round numbers of seconds.
func timeTicks(end float64, n int) plot.ConstantTicks {
	const second, minute = 1000, 60000
	step := 60.0 * minute
	for _, s := range []float64{
		second / 10, second / 5, second / 2, second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second,
		minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
	} {
		if end/s <= float64(n) {
			step = s
			break
		}
	}
	if !(end/step <= float64(n)) {
		return evenTicks(0, end, n, seconds)
	}
	var ticks plot.ConstantTicks
	for i := 0; float64(i)*step <= end; i++ {
		at := float64(i) * step
		label := "0"
		switch {
		case i == 0:
		case step >= minute:
			label = exactNumber(at/minute) + space + "min"
		default:
			label = seconds(at)
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: label})
	}
	return ticks
}

// evenTicks marks an axis at round values, about n times, and labels them by a function. If the
// range is so short or so long that floating point has no such values, it marks the ends.
func evenTicks(low, high float64, n int, label func(float64) string) plot.ConstantTicks {
	if !(high > low) {
		return plot.ConstantTicks{{Value: low, Label: label(low)}}
	}
	power := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	step := power
	for _, factor := range []float64{1, 2, 5, 10} {
		if step = power * factor; (high-low)/step <= float64(n)+.5 {
			break
		}
	}
	const exact = 1 << 52 // up to here every whole number has a neighbour one above it
	if !(step > 0 && step <= math.MaxFloat64 && math.Abs(low/step) < exact && math.Abs(high/step) < exact) {
		ends := plot.ConstantTicks{{Value: low, Label: label(low)}, {Value: high, Label: label(high)}}
		return slices.DeleteFunc(ends, func(t plot.Tick) bool { return math.IsInf(t.Value, 0) })
	}
	var ticks plot.ConstantTicks
	end := min(high+step*1e-9, math.MaxFloat64)
	for i := math.Ceil(low/step - 1e-9); i*step <= end; i++ {
		// By way of text, so that 3 * 0.1 is 0.3.
		value, _ := strconv.ParseFloat(strconv.FormatFloat(i*step, 'g', 12, 64), 64)
		value += 0 // not -0
		ticks = append(ticks, plot.Tick{Value: value, Label: label(value)})
	}
	return ticks
}

// logTicks marks a logarithmic axis, about n times: at 1, 2 and 5 times the powers of ten, or
// at 1 and 3, or at the powers alone, or at some of them. A range that is not above 0 and
// finite has no logarithms, and is marked evenly.
func logTicks(low, high float64, n int, label func(float64) string) plot.ConstantTicks {
	if !(low > 0 && high <= math.MaxFloat64) {
		return evenTicks(low, high, n, label)
	}
	var ticks plot.ConstantTicks
	for _, factors := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 5}, {1, 3}, {1}} {
		ticks = nil
		for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
			for _, factor := range factors {
				value, _ := strconv.ParseFloat(strconv.FormatFloat(factor*math.Pow(10, power), 'g', 12, 64), 64)
				if value >= low && value <= high {
					ticks = append(ticks, plot.Tick{Value: value, Label: label(value)})
				}
			}
		}
		if len(ticks) <= n {
			break
		}
	}
	if len(ticks) < 2 {
		return evenTicks(low, high, n, label)
	}
	stride, last := (len(ticks)+n-1)/n, len(ticks)-1
	for i := range ticks {
		if (last-i)%stride != 0 {
			ticks[i].Label = "" // a mark without a word
		}
	}
	const crowded = 3 // marks without a word are no help then
	if stride > crowded {
		ticks = slices.DeleteFunc(ticks, func(t plot.Tick) bool { return t.Label == "" })
	}
	return ticks
}

// fitting asks for n ticks, and for fewer while their labels would touch each other on an axis
// of a width.
func (s size) fitting(width vg.Length, n int, ticks func(n int) plot.ConstantTicks) plot.ConstantTicks {
	for ; ; n-- {
		found, widest, labels := ticks(n), vg.Length(0), 0
		for _, t := range found {
			if t.Label != "" {
				widest = max(widest, s.text(inkMuted).Width(t.Label)+12)
				labels++
			}
		}
		if widest*vg.Length(labels) <= width || n <= 2 {
			return found
		}
	}
}

// logarithmicFitting asks for n marks of a logarithmic axis, and for fewer while two of their
// labels would touch each other on an axis of a width.
func (s size) logarithmicFitting(width vg.Length, low, high float64, n int, label func(float64) string) plot.ConstantTicks {
	for ; ; n-- {
		ticks, fit := logTicks(low, high, n, label), true
		end := vg.Length(math.Inf(-1)) // of the label before
		for _, t := range ticks {
			if t.Label == "" {
				continue
			}
			const gap = 6
			at, half := width*vg.Length(math.Log(t.Value/low)/math.Log(high/low)), s.text(inkMuted).Width(t.Label)/2
			fit = fit && at-half >= end+gap
			end = at + half
		}
		if fit {
			return ticks
		}
		if n <= 2 {
			return ticks[len(ticks)-1:] // two that are as long as this are of no use
		}
	}
}

// spread is the range of values for a logarithmic axis, with some room on both sides.
func spread(values []float64, room float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return below(low, room), min(high*room, math.MaxFloat64)
}

// below is a value divided by room, above 0 as the value is.
func below(value, room float64) float64 { return max(value/room, math.SmallestNonzeroFloat64) }

// widened is the range of an axis for values from low to high, with some room on both sides.
func widened(low, high float64, logarithmic bool) (float64, float64) {
	const share, longest, shortest = .04, math.MaxFloat64 / 4, 1e-9
	if logarithmic {
		room := max(math.Exp(share*(math.Log(high)-math.Log(low))), 1.02)
		low = below(low, room)
		return low, max(min(high*room, math.MaxFloat64), math.Nextafter(low, math.MaxFloat64)) // never of no length
	}
	low, high = min(max(low, -longest), longest), min(max(high, -longest), longest)
	room := max((high-low)*share, 1e-3, max(math.Abs(low), math.Abs(high))*shortest)
	return low - room, high + room
}
