package plan

import (
	"math"
	"sort"
	"time"

	"sinklab/sinkcore/sim"
)

// latencies are the times that records waited until they were visible, as what became
// visible when. Nothing here looks at single records: those of one visit are a lattice.
type latencies []visit

// records is how many became visible.
func (l latencies) records() (n int64) {
	for _, v := range l {
		n += (v.to - v.from) * v.times
	}
	return n
}

// within is how many records waited for at most t milliseconds.
//
// Record n of a visit at v waited v - floor(first + n·gap), rounded to milliseconds. That
// is at most t if floor(first + n·gap) >= v - t, and since v - t is whole, if first + n·gap >=
// v - t: from the n on that is (v - t - first) / gap, rounded up.
func (l latencies) within(t int64) (n int64) {
	for _, v := range l {
		from := max(v.from, ceilDiv((v.visible-t)*nanos-v.first, v.gap))
		n += max(0, v.to-from) * v.times
	}
	return n
}

// extremes are the least and the longest wait: in each visit, those of the newest and
// of the oldest record.
func (l latencies) extremes() (least, most int64) {
	least, most = math.MaxInt64, -1
	for _, v := range l {
		if v.to > v.from {
			least = min(least, v.wait(v.to-1))
			most = max(most, v.wait(v.from))
		}
	}
	return least, most
}

// wait is how long a record of the visit waited, milliseconds.
func (v visit) wait(n int64) int64 { return v.visible - v.arrived(n) }

// arrived is when a record of the visit did, milliseconds.
func (v visit) arrived(n int64) int64 {
	if v.table != nil {
		return v.table[n]
	}
	return (v.first + n*v.gap) / nanos
}

// quantile is the smallest latency that at least the share q of the records had, as
// sim.Result.Latency defines it, or -1 if there are no records.
//
// within grows with t, so halving the time between the extremes finds the least t at which
// it reaches the rank.
func (l latencies) quantile(q float64) time.Duration {
	records := l.records()
	if records == 0 {
		return -1
	}
	rank := sim.Rank(q, records)
	least, most := l.extremes()
	t := sort.Search(int(most-least), func(i int) bool { return l.within(least+int64(i)) >= rank })
	return time.Duration(least+int64(t)) * time.Millisecond
}

// mean is the mean wait, or -1 if there are no records.
//
// Counted from the newest record of a visit on, record i waited v - floor(x - i·gap) where x
// is the newest's arrival. For whole v that is ceil(v - x + i·gap), in nanoseconds floor((v -
// x + 999,999 + i·gap) / 1,000,000), whose sum over i is a floorSum.
func (l latencies) mean() time.Duration {
	records := l.records()
	if records == 0 {
		return -1
	}
	sum := 0.0
	for _, v := range l {
		newest := v.first + (v.to-1)*v.gap
		sum += float64(v.times) * floorSum(v.to-v.from, nanos, v.gap, v.visible*nanos-newest+nanos-1)
	}
	return time.Duration(sum / float64(records) * float64(time.Millisecond))
}
