package watch

import (
	"maps"
	"slices"
)

// quantiles counts latencies by the millisecond. What is longer than a quarter of an hour is
// rounded down by less than a thousandth, so that neither memory nor the time of a look
// grows with the number of records.
type quantiles struct {
	n      int64
	dense  []int64         // of the latencies from 0 on, as far as there were any
	sparse map[int64]int64 // of all others
}

// exactBelow is where rounding begins, in milliseconds.
const exactBelow = 1 << 20

// add counts a latency, which may be negative.
func (q *quantiles) add(ms int64) {
	q.n++
	if ms >= 0 && ms < exactBelow {
		if grow := int(ms) + 1 - len(q.dense); grow > 0 {
			q.dense = append(q.dense, make([]int64, grow)...)
		}
		q.dense[ms]++
		return
	}
	if q.sparse == nil {
		q.sparse = map[int64]int64{}
	}
	q.sparse[rounded(ms)]++
}

// rounded keeps the eleven highest bits.
func rounded(ms int64) int64 {
	unit := int64(1)
	for abs := max(ms, -ms); abs/unit >= 1<<11; {
		unit <<= 1
	}
	// Down, also below 0.
	return ms - ((ms%unit)+unit)%unit
}

// at returns percentiles: the smallest latencies that at least so many percent of the records
// had. The percentages ascend. With no records they are all -1.
func (q *quantiles) at(percents ...int64) []int64 {
	found := make([]int64, 0, len(percents))
	var passed int64
	// next takes in the next latency in ascending order.
	next := func(ms, count int64) {
		passed += count
		for len(found) < len(percents) && passed >= q.rank(percents[len(found)]) {
			found = append(found, ms)
		}
	}
	keys := slices.Sorted(maps.Keys(q.sparse))
	negative, _ := slices.BinarySearch(keys, 0)
	for _, ms := range keys[:negative] {
		next(ms, q.sparse[ms])
	}
	for ms, count := range q.dense {
		if count > 0 {
			next(int64(ms), count)
		}
	}
	for _, ms := range keys[negative:] {
		next(ms, q.sparse[ms])
	}
	for len(found) < len(percents) {
		found = append(found, -1)
	}
	return found
}

// rank is the number, from 1, of the record whose latency is the percentile. It is counted in
// whole numbers, since 0.07 of 100 records is more than seven in floating point.
func (q *quantiles) rank(percent int64) int64 {
	return max((percent*q.n+99)/100, 1)
}
