package peers

import (
	"cmp"
	"slices"
	"time"

	"sinklab/sinkcore/sim"
)

// Outcome is what a reader saw of a workload while it was measured. The figures are those of
// sim.Result, so that peers and the sink of package sinkcore can stand in one table.
type Outcome struct {
	Written int64 // records that arrived
	Visible int64 // records that could be read before the end, each counted once
	Files   int64 // files that could be seen before the end; transactions for a peer that writes no files
	Bytes   int64 // in them, before compression

	// LiveFiles is the number of files that a reader of the table has to open at the end: for
	// peers that merge what is visible already it is smaller than Files.
	LiveFiles int64

	// FirstVisible is when the first file could be seen, or a negative duration if none could.
	FirstVisible time.Duration

	// LongestWait is the longest time that a record was known to have waited, those that were
	// not visible at the end included.
	LongestWait time.Duration

	Commits      int64 // instants at which something became visible
	MaxOpenFiles int   // files, chunks or batches that were being filled at one instant, at most
	Restarts     int64 // ends of outages
	Resent       int64 // records that the source sent again after an outage
	Lost         int64 // records that an outage took and nobody sends again

	latencies []counted // ascending
	duration  time.Duration
}

// counted is how many records had a latency in milliseconds.
type counted struct{ latency, records int64 }

// Latency is a quantile of the time from a record's arrival until a reader could see it, over
// the records that became visible: the smallest latency that at least the share q of them
// had. 0 gives the smallest of all, 1 the largest. It is negative if nothing became
// visible.
func (o Outcome) Latency(q float64) time.Duration {
	if len(o.latencies) == 0 {
		return -1
	}
	rank := sim.Rank(q, o.Visible)
	for _, c := range o.latencies {
		if rank -= c.records; rank <= 0 {
			return time.Duration(c.latency) * time.Millisecond
		}
	}
	return time.Duration(o.latencies[len(o.latencies)-1].latency) * time.Millisecond
}

// MeanLatency is the mean over the records that became visible, or negative if none did.
func (o Outcome) MeanLatency() time.Duration {
	if o.Visible == 0 {
		return -1
	}
	sum := 0.0
	for _, c := range o.latencies {
		sum += float64(c.latency) * float64(c.records)
	}
	return time.Duration(sum / float64(o.Visible) * float64(time.Millisecond))
}

// FilesPerHour is Files scaled to an hour.
func (o Outcome) FilesPerHour() float64 {
	return float64(o.Files) * float64(time.Hour) / float64(o.duration)
}

// BytesPerFile is the mean size of a visible file, or 0 if there was none.
func (o Outcome) BytesPerFile() float64 {
	if o.Files == 0 {
		return 0
	}
	return float64(o.Bytes) / float64(o.Files)
}

// sorted puts the counts in order and adds up those of one latency.
func sorted(counts map[int64]int64) []counted {
	list := make([]counted, 0, len(counts))
	for latency, records := range counts {
		list = append(list, counted{latency, records})
	}
	slices.SortFunc(list, func(a, b counted) int { return cmp.Compare(a.latency, b.latency) })
	return list
}
