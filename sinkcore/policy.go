package sinkcore

import "math"

// Reason says why a part was closed.
type Reason uint8

// The reasons. None is the answer of a policy that lets the part stay open. Their numbers
// are in encoded states, so a new one goes to the end.
const (
	None         Reason = iota
	Event               // a user's policy closed it before a record
	Size                // it had grown past the size limit
	Age                 // it was open for the rollover interval, or would have missed its deadline
	Inactivity          // nothing was written to it for the inactivity interval
	AtCheckpoint        // the policy closes parts at checkpoints
	End                 // the input ended
	Merge               // it was restored into a subtask that had its bucket already
	Limit               // another part was opened, and it was the oldest of too many

	reasons // how many there are
)

var reasonNames = [reasons]string{"none", "event", "size", "age", "inactivity", "checkpoint", "end", "merge", "limit"}

// String gives the reason's name in lower case.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return "unknown"
}

// Never is the instant that a check timer does not reach: as a policy's answer no limit on
// age, as the time of the next check no check.
const Never int64 = math.MaxInt64

// PartInfo is what a rolling policy may know of an open part. Instants are
// milliseconds since 1970.
type PartInfo struct {
	CreationTime int64 // when its first record was written; kept over a restore
	LastUpdate   int64 // when its newest record was written; CreationTime after a restore
	Size         int64 // bytes, those still in the buffer included
	Records      int64 // records in it, kept over a restore
}

// RollingPolicy decides when an open part is closed. A part must be closed before a
// checkpoint can commit it, so the policy decides how long a record stays invisible
// and how many files there are.
//
// The methods must be pure functions of the part. A part is asked about only while it
// is open and after it has got its first record, so the first record of a part never
// closes it (Flink: FileWriterBucket:180-192). A policy that has a method Validate() error
// is asked at the start; for one with WorstLatency see the function of that name. A
// reason that this package does not know counts as [Event].
type RollingPolicy interface {
	// RollOnEvent is asked before each record but a part's first. Any reason other
	// than [None] closes the part, and the record becomes the first of a new one.
	RollOnEvent(part PartInfo) Reason

	// RollOnCheckpoint is asked when a checkpoint is prepared, for each open part, with the
	// time at which that is. Flink's policies are not told the time there.
	RollOnCheckpoint(part PartInfo, now int64) Reason

	// RollAt gives the earliest instant at which the check timer is to close the part
	// if nothing more is written to it, and the reason; [Never] if age does not matter.
	// A timer that was due at t closes the part if t >= RollAt. It is asked again
	// after every record, so the instant may move either way.
	//
	// Flink asks a policy "now?" for every open file at every check
	// (FileWriterBucket:231-247). An instant instead lets the writer keep its parts in
	// order and look at none that is not due.
	RollAt(part PartInfo) (instant int64, reason Reason)

	// String gives the policy as key=value words.
	String() string
}
