package watch

import (
	"maps"
	"math"
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

// at returns the smallest latencies that at least the given shares of the records had, in
// the order of the shares, which ascends. With no records they are all -1.
func (q *quantiles) at(shares ...float64) []int64 {
	found := make([]int64, 0, len(shares))
	var passed int64
	// next takes in the next latency in ascending order.
	next := func(ms, count int64) {
		passed += count
		for len(found) < len(shares) && passed >= q.rank(shares[len(found)]) {
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
	for len(found) < len(shares) {
		found = append(found, -1)
	}
	return found
}

// rank is the number, from 1, of the record whose latency is the quantile.
func (q *quantiles) rank(share float64) int64 {
	return min(max(int64(math.Ceil(share*float64(q.n))), 1), max(q.n, 1))
}
