package peers

import (
	"time"

	"sinklab/sinkcore"
)

// Peer is a sink of some engine with its settings. The types of this package are plain
// structs whose zero value has the engine's defaults; where the engine has an option
// without a default the zero value is refused, as the engine refuses it.
//
// All methods can be called at once by several goroutines and give the same answer each
// time. A value that does not validate may still be printed; what the other methods say of
// it means nothing, and Simulate returns the error of Validate.
type Peer interface {
	// Name is what [Parse] knows the peer by, such as "kafka-connect-s3".
	Name() string

	// String is the name and the options that differ from their defaults, in the words that
	// Parse reads: "kafka-connect-s3 flush.size=1000 rotate.interval.ms=60000".
	String() string

	// Options lists every option of the peer with its value, in the order of its
	// documentation.
	Options() []Option

	// Validate refuses what the engine refuses at its start. The error is an [*OptionError].
	Validate() error

	// WorstLatency is the longest time from the arrival of a record until a reader can see
	// it, for any arrivals; see [Bound].
	WorstLatency(w Workload) Bound

	// Predict says in closed form what becomes of a stream of equal records at equal
	// distances, in the long run; false if the peer has no closed form for the workload. See
	// [Prediction].
	Predict(w Workload) (Prediction, bool)

	// Simulate plays the workload in virtual time. The error wraps sinkcore.ErrConfig for
	// options or a workload that make no sense, and [ErrTaskFails] where the engine itself
	// stops. A service refuses outages with [ErrNoOutages].
	Simulate(w Workload) (Outcome, error)

	// Waivers lists the rules of exactly-once that the peer does not promise, in the order of
	// the list in package props.
	Waivers() []Waiver
}

// Rolling is a peer that decides on single part files and commits with a checkpoint, so
// that the sink of package sinkcore can stand for it. What [Peer] Simulate says of
// one and what sim.Workload measures with its policy on files is the same, as long as
// nothing fails.
type Rolling interface {
	Peer

	// Policy gives the rolling policy and the interval of the check timer. False if with
	// these settings the peer does more than a policy can, such as compaction.
	Policy() (policy sinkcore.RollingPolicy, check time.Duration, ok bool)
}

// Bound is the longest time that a record can wait, or why there is none. It holds
// while timers fire when they are due, checkpoints keep their interval, the clock does
// not jump and nothing fails, and for records that are not stamped later than they arrive.
//
// An outage adds its length and what the peer's own timers start anew for, so a peer whose
// timers begin again with each restart has no bound under failures that come faster than
// its interval (confluentinc/kafka-connect-hdfs#329). No Bound speaks of that.
type Bound struct {
	// Worst is the bound if Unbounded is false. There need not be arrivals that wait exactly
	// so long; Tight says whether there are.
	Worst time.Duration
	Tight bool

	// Unbounded means that a record can wait for ever, as it does in Witness.
	Unbounded bool

	// Reason is one sentence: what the bound is made of, or why there is none.
	Reason string

	// Witness is a workload under which a record waits longer than a day. It is set if
	// Unbounded is.
	Witness Workload
}

// Forever is the latency in a [Prediction] of records that never become visible.
const Forever time.Duration = 1<<63 - 1

// Prediction is what a peer makes of equal records at equal distances, in the long run.
//
// It is a second way to the same number: Simulate plays record by record, a Prediction is a
// few lines of arithmetic, and tests hold them against each other. Where the pattern of
// files is not the same in each period there is none, rather than one that is nearly right.
type Prediction struct {
	// Max is the longest latency of a record. The largest one that is seen stays below it by
	// less than Slack: where the checkpoints fall decides. Forever if nothing is ever visible.
	Max, Slack time.Duration

	// FilesPerHour is the number of files, or of transactions, that become visible.
	FilesPerHour float64
}

// Waiver is a rule that a peer does not promise.
type Waiver struct {
	Rule   string // of package props, such as "NoDuplicate"
	Reason string // what happens instead, in one line
	Source string // where that is written: a class, a file, an issue or a page
}
