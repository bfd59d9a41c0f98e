package peers

import (
	"cmp"
	"math"
	"time"

	"sinklab/sinkcore"
)

// FlinkFileSink is the FileSink of Apache Flink 2.3.0 in row format, with its
// DefaultRollingPolicy (FileSink.RowFormatBuilder, DefaultRollingPolicy). Options have the
// names of the builders' methods. A part file is closed
//
//   - before a record and at a checkpoint if it is larger than withMaxPartSize bytes,
//   - by the check timer if it is withRolloverInterval old or withInactivityInterval idle,
//     as seen from the instant at which the timer was due,
//
// and shown when the checkpoint after that completes. With a compaction it is hidden until
// it has been merged, see [Compaction].
//
// After an outage it goes on with the parts of the newest checkpoint; such a part counts as
// last written to when it was made, so it may be closed as idle at the first check.
//
// The comparison with the size is strict and is made before the next record, so a part ends
// between the limit and the limit plus its largest record; the documentation's "after
// writing the last record" is not what the source does. Age and idleness are compared with
// >=, but with the instant for which the timer was registered and not with the present
// (FileWriter.onProcessingTime). That is why a part of the default that was begun a
// millisecond after a check is 59,999 ms old at the next one, and waits for the one after
// it:
//
//	withRolloverInterval=60000, the default   30 files an hour, a record waits up to 122 s
//	withRolloverInterval=59000                60 files an hour, a record waits up to 62 s
//
// for a record every 100 ms, none in the millisecond of a check, and a checkpoint every 2
// s. For such a stream a shorter rollover interval closes no part earlier.
//
// 0 in a field is a method that was not called. The builder refuses 0 itself, which cannot
// be told apart here. Names, encoders and how buckets are assigned are left out: the
// workload says which bucket a record has.
type FlinkFileSink struct {
	MaxPartSize         int64         // withMaxPartSize, bytes; 0 means 128 MiB
	RolloverInterval    time.Duration // withRolloverInterval; 0 means a minute
	InactivityInterval  time.Duration // withInactivityInterval; 0 means a minute
	BucketCheckInterval time.Duration // withBucketCheckInterval; 0 means a minute
	Compaction
}

// FlinkFileSinkBulk is the FileSink of Apache Flink 2.3.0 in a bulk format such as Parquet,
// with its OnCheckpointRollingPolicy: every part is closed at every checkpoint
// (FileSink.BulkFormatBuilder, OnCheckpointRollingPolicy).
//
// A policy of the user's own that extends CheckpointRollingPolicy may close parts for their
// size or age as well; those are left out. At a restart no part is open that a checkpoint
// names, so nothing is gone on with.
type FlinkFileSinkBulk struct {
	Compaction
}

const fileSinkSource = "Flink DefaultRollingPolicy, FileSink.RowFormatBuilder"

func (p *FlinkFileSink) options() []option {
	return append([]option{
		byteSize("withMaxPartSize", &p.MaxPartSize, "134217728", "a part that is larger is closed, bytes", fileSinkSource),
		milliseconds("withRolloverInterval", &p.RolloverInterval, "60000", "a part that is so old is closed, ms", fileSinkSource),
		milliseconds("withInactivityInterval", &p.InactivityInterval, "60000", "a part that is idle for so long is closed, ms", fileSinkSource),
		milliseconds("withBucketCheckInterval", &p.BucketCheckInterval, "60000", "how often age and idleness are looked at, ms", fileSinkSource),
	}, p.Compaction.options()...)
}

func (p *FlinkFileSinkBulk) options() []option { return p.Compaction.options() }

// Name gives "flink-filesink".
func (FlinkFileSink) Name() string { return "flink-filesink" }

// Name gives "flink-filesink-bulk".
func (FlinkFileSinkBulk) Name() string { return "flink-filesink-bulk" }

// String gives the words that [Parse] reads.
func (p FlinkFileSink) String() string { return spell(p.Name(), p.options()) }

// String gives the words that [Parse] reads.
func (p FlinkFileSinkBulk) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p FlinkFileSink) Options() []Option { return describe(p.options()) }

// Options lists the options with their values.
func (p FlinkFileSinkBulk) Options() []Option { return describe(p.options()) }

// policy has the limits as package sinkcore has them.
func (p FlinkFileSink) policy() sinkcore.Default {
	return sinkcore.Default{Size: p.MaxPartSize, Rollover: p.RolloverInterval, Inactivity: p.InactivityInterval}.Filled()
}

func (p FlinkFileSink) check() time.Duration {
	return cmp.Or(p.BucketCheckInterval, sinkcore.DefaultCheckInterval)
}

// Validate refuses limits that are not greater than zero, as the builder does
// (DefaultRollingPolicy:58-66 and its builder's checkState), and a bad compaction.
func (p FlinkFileSink) Validate() error {
	if p.MaxPartSize < 0 {
		return refuse(p.Name(), "withMaxPartSize", "", "Flink DefaultRollingPolicy:62", "must be greater than 0 bytes")
	}
	if err := wholeMillis(p.Name(),
		timeField{"withRolloverInterval", p.RolloverInterval}, timeField{"withInactivityInterval", p.InactivityInterval},
		timeField{"withBucketCheckInterval", p.BucketCheckInterval}); err != nil {
		return err
	}
	return p.Compaction.validate(p.Name())
}

// Validate refuses a bad compaction.
func (p FlinkFileSinkBulk) Validate() error { return p.Compaction.validate(p.Name()) }

// Policy gives sinkcore.Default and the check interval; false with a compaction.
//
// The sink of package sinkcore has a clock without delay, so the two agree for a TimerDelay
// of 0.
func (p FlinkFileSink) Policy() (sinkcore.RollingPolicy, time.Duration, bool) {
	return p.policy(), p.check(), !p.Compaction.enabled()
}

// Policy gives sinkcore.OnCheckpoint; false with a compaction.
func (p FlinkFileSinkBulk) Policy() (sinkcore.RollingPolicy, time.Duration, bool) {
	return sinkcore.OnCheckpoint{}, sinkcore.DefaultCheckInterval, !p.Compaction.enabled()
}

// WorstLatency is rollover + check - 1 ms + a checkpoint: see sinkcore.WorstLatency. A
// timer that fires d late adds 2d: one for the wait until the next check, one for that check.
// A compaction adds its checkpoints.
//
// In words: a check sees the first record's part a millisecond too young, at rollover - 1
// ms; the next comes a check interval later and closes it; a checkpoint began just before,
// so the part waits for the start of the next and for its completion. The defaults with a
// checkpoint every 2 s come to 121.999 s.
//
// The inactivity interval is not in it: a stream that never pauses keeps it from ending.
// Nor is the size, since a stream may be too thin to reach it.
//
// A late timer costs twice because it shows the instant for which it was due: the check
// that finds the part too young happens d later than it says, and the next is due a check
// interval after it fired and is late by d again.
func (p FlinkFileSink) WorstLatency(w Workload) Bound {
	check := p.check()
	worst, ok := sinkcore.WorstLatency(p.policy(), w.schedule(check))
	b := Bound{Worst: worst + 2*w.TimerDelay, Unbounded: !ok,
		Reason: "rollover interval, one bucket check interval less a millisecond, and the checkpoint that commits"}
	return p.Compaction.bound(b, w)
}

// WorstLatency is one checkpoint interval and the duration of a checkpoint.
func (p FlinkFileSinkBulk) WorstLatency(w Workload) Bound {
	return p.Compaction.bound(perCheckpoint(w), w)
}

// perCheckpoint is the bound of a sink that commits at every checkpoint all that it has: the
// worst record is written just after a checkpoint began.
func perCheckpoint(w Workload) Bound {
	return Bound{Worst: w.between() + w.CommitDuration, Tight: true, Reason: "a record just after the start of a checkpoint waits for the next one and its completion"}
}

// Predict is the closed form of [predictDefault].
func (p FlinkFileSink) Predict(w Workload) (Prediction, bool) {
	if p.Compaction.enabled() {
		return Prediction{}, false
	}
	return predictDefault(p.policy(), p.check(), w)
}

// Predict is an interval and its completion, and a file for each checkpoint. A compaction
// makes one of several checkpoints' files.
func (p FlinkFileSinkBulk) Predict(w Workload) (Prediction, bool) {
	if p.Compaction.SizeThreshold > 0 {
		return Prediction{}, false
	}
	prediction, ok := predictPerCheckpoint(w)
	if n := p.Compaction.OnCheckpoint; ok && n > 0 {
		prediction.Max += time.Duration(n) * w.between()
		prediction.FilesPerHour /= float64(n)
	}
	return prediction, ok
}

// predictPerCheckpoint is the closed form of a sink that commits all at every checkpoint,
// for streams in which no interval is without a record.
func predictPerCheckpoint(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || r.gap > r.between() {
		return Prediction{}, false
	}
	return r.predict(r.between()+r.CommitDuration, r.gap, r.between()), true
}

// predictDefault is the closed form of Flink's DefaultRollingPolicy with a check timer.
//
// A part's first record comes delta after a check, where delta is what the distance between
// records leaves of the interval, and 0 if there is a record in every millisecond. The part is
// closed by the first check at which it is old enough, check * ceil((rollover + delta) /
// check) after that check; or by the record that finds it larger than the limit, when
// floor(limit / size) + 1 records are in it. It waits for the next checkpoint, as long as
// an interval at most.
//
// With rollover = check and delta > 0 the first comes to twice the interval: that is the
// article's 120 s.
func predictDefault(policy sinkcore.Default, check time.Duration, w Workload) (Prediction, bool) {
	r, ok := w.regular()
	policy = policy.Filled()
	delta, same := r.after(check)
	if !ok || !same || r.gap >= policy.Inactivity {
		return Prediction{}, false
	}
	// Part and check are on one grid: after so many checks the next part begins delta after
	// a check again, so all parts have the same life.
	checks := (policy.Rollover + delta + check - 1) / check
	open := checks*check - delta
	every := checks * check
	full := time.Duration(math.Min((math.Floor(float64(policy.Size)/r.size)+1)*float64(r.gap), math.MaxInt64/4))
	if full < open {
		if full > policy.Rollover {
			return Prediction{}, false // both limits close parts, by turns
		}
		open, every = full, full
	}
	// Where checkpoints fall relative to the checks decides how much of an interval is
	// waited for.
	return r.predict(open+r.between()+r.CommitDuration, r.between()+r.gap, every), true
}

// Simulate plays the workload.
func (p FlinkFileSink) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, p.policy(), p.check().Milliseconds())
		p.Compaction.attach(m)
		return m, nil
	})
}

// Simulate plays the workload.
func (p FlinkFileSinkBulk) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, sinkcore.OnCheckpoint{}, 0)
		p.Compaction.attach(m)
		return m, nil
	})
}

// Waivers lists what a local commit of Flink 2.3.0 does not promise.
func (p FlinkFileSink) Waivers() []Waiver { return p.Compaction.waivers(flinkWaivers) }

// Waivers lists what a local commit of Flink 2.3.0 does not promise.
func (p FlinkFileSinkBulk) Waivers() []Waiver { return p.Compaction.waivers(flinkWaivers) }

// flinkWaivers is what FileSink does not promise on a local file system.
var flinkWaivers = []Waiver{
	{"Unique", "a commit replaces a file that has the name already", "Flink LocalRecoverableFsDataOutputStream:175-203"},
	{"Restore", "an older checkpoint whose parts were committed since cannot be resumed, and some of its files may be published by then", "Flink LocalRecoverableFsDataOutputStream:65-81"},
	{"FileCount", "the number of files depends on when checks and records fall", "Flink FileWriter:267-279"},
	{"Durable", "no directory is fsynced, so a power cut can take back a rename", "Flink LocalRecoverableWriter:50-70"},
	{"Surfaced", "a commit that finds neither file is a success", "Flink LocalRecoverableFsDataOutputStream:175-203"},
	{"Orphans", "in-progress files that no checkpoint names stay for ever", "FLINK-11116"},
}
