package sim

import (
	"math"
	"time"

	"sinklab/sinkcore"
)

// Result is what a reader of the directory saw of a workload while it was measured. What
// becomes visible after the end of Duration, by the end of the input, is checked and not
// counted: a stream has no end.
//
// All instants and counts are exact and the same in each run; only Latency and the rates
// are computed from them. Which records are visible, and when, was seen by reading files;
// Calls, Stats, Bytes and the life of a part are what the sink asked for and told.
type Result struct {
	Written int64 // records
	Visible int64 // records that could be read before the end
	Files   int64 // files that could be seen before the end
	Bytes   int64 // in them

	// FirstVisible is when the first file could be seen, or a negative duration if none
	// could.
	FirstVisible time.Duration

	Commits          int64 // checkpoints that completed and made something visible
	EmptyCheckpoints int64 // checkpoints that completed and made nothing visible
	MaxOpenParts     int   // part files that were open at one instant, of all subtasks, at most

	// Calls is what the sink asked of the file system until the end.
	Calls Calls

	Restarts         int64 // ends of outages
	RewrittenRecords int64 // records that were written again after an outage
	RewrittenBytes   int64 // in them
	RewrittenFiles   int64 // parts in which they had been, summed over the outages

	// Invisible is the number of records that had arrived before the end and could not be
	// read by then, and OldestInvisible how long the oldest of them had waited, 0 if there is
	// none. They are in no latency.
	Invisible       int64
	OldestInvisible time.Duration

	// Records tells of each record, by its number.
	Records []Visit

	// Parts tells of each part, in the order in which they were opened. Those that died
	// with a process before a checkpoint named them are left out.
	Parts []Part

	// Stats is what the sink counted until the end, since its last restart.
	Stats sinkcore.Stats

	latencies []int64 // milliseconds from arrival to visibility, ascending
	duration  time.Duration
}

// Visit is what became of one record. Instants are milliseconds from the start.
//
// Visible - Arrived is the latency of the record.
type Visit struct {
	Arrived int64 // when it was to arrive, also if the sink was down
	Visible int64 // when a reader could see it, or -1 if none could before the end
}

// Part is the life of one part file. Instants are milliseconds from the start, and -1 if
// it did not come to that before the end.
//
// For each part Opened <= Closed <= Handed <= Visible, as far as it came. Closed to Handed
// is the wait for a checkpoint to start, Handed to Visible that for its completion. After
// an outage a part that is gone on with keeps Opened, and the rest is told anew.
type Part struct {
	Subtask int
	Bucket  string
	Name    string          // its visible name
	Opened  int64           // its first record was written
	Closed  int64           // the policy closed it
	Reason  sinkcore.Reason // why
	Handed  int64           // the checkpoint that handed it over started
	Visible int64           // that checkpoint completed
	Records int64
	Bytes   int64
}

// Latency is a quantile of the time from a record's arrival until a reader could see
// it, over the records that became visible: the smallest latency that at least the
// share q of them had. 0 gives the smallest of all, 1 the largest. It is negative if
// nothing became visible.
func (r Result) Latency(q float64) time.Duration {
	n := len(r.latencies)
	if n == 0 {
		return -1
	}
	return time.Duration(r.latencies[Rank(q, int64(n))-1]) * time.Millisecond
}

// Rank is the place, from 1, of a quantile among so many values in ascending order: the
// smallest place at or before which at least the share q of them are. It is within 1 and n,
// whatever q is.
func Rank(q float64, n int64) int64 {
	// A share such as 0.035 is not exact, and 0.035 × 36000 comes out just above 1260.
	const rounding = 1e-15
	return min(max(int64(math.Ceil(q*float64(n)*(1-rounding))), 1), n)
}

// FilesPerHour is Files scaled to an hour.
func (r Result) FilesPerHour() float64 {
	return float64(r.Files) * float64(time.Hour) / float64(r.duration)
}

// BytesPerFile is the mean size of a visible file, or 0 if there was none.
func (r Result) BytesPerFile() float64 {
	if r.Files == 0 {
		return 0
	}
	return float64(r.Bytes) / float64(r.Files)
}
