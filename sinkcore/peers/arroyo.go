package peers

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore"
)

// Arroyo is the filesystem sink of Arroyo on an object store, version 1
// (arroyo-connectors/src/filesystem/sink/mod.rs). Bytes are counted when a part of a
// multipart upload is sent, a part at most for each batch of records, so a file's size
// is known in steps of multipart.target_part_size. Every 100 ms each open file is looked at:
//
//   - multipart.max_parts parts or rolling_policy.file_size bytes sent,
//   - rolling_policy.interval since its first record,
//   - rolling_policy.inactivity_interval since its newest one,
//   - rolling_policy.watermark_expiration: the watermark is past the first record of the
//     file and in another bucket of partitioning.time_pattern. This version learns the
//     watermark at checkpoints only. The watermark here is the largest time of a record.
//
// Only the first is always on. Intervals are truncated to whole seconds (config.rs, as_secs): 900
// ms is 0, and closes a file at once. A closed file is committed with the next checkpoint. After
// an outage every file that was open is finished where the checkpoint has it, and new ones
// are begun. A batch is what arrives at one instant.
//
// Because only whole parts of an upload count, rolling_policy.file_size is rounded up to a
// multiple of multipart.target_part_size: with the defaults 40 MiB closes a file at 64 MiB.
// And because an upload may have 1000 parts of 32 MiB, a sink without options closes a file
// at 32,000 MiB and not before, which at 1 MB/s is after 9.3 hours and at 1 kB/s after 388
// days.
//
//	rolling_policy.interval=60s    a record every 100 ms can be read after 62 s at most
//	no options                     nothing can be read in the first hour
//
// Ages are taken from a clock that never jumps (Rust's Instant), so a change of the time of
// day has no part in them. What makes names and schemas (partitioning.fields, file naming,
// Parquet's row groups) is left out, and so is the shuffle by partition.
type Arroyo struct{ ArroyoOptions }

// ArroyoV2 is version 2 of the sink on an object store (sink/v2/mod.rs). It looks at the
// files every second, and at the files of a batch after each batch. The time of the newest
// record is set when a file is begun and never again (sink/v2/open_file.rs), so that
// rolling_policy.inactivity_interval is a second limit of age. It follows the watermark at
// once.
//
// A consequence for its user: a stream that flows without a pause has its files closed
// after the inactivity interval all the same, so that setting one brings small files. That
// it is so is read from the source, which assigns last_write_at where a file is made and
// nowhere else.
type ArroyoV2 struct{ ArroyoOptions }

// ArroyoLocal is the sink on a local file system (sink/local.rs). It looks at the files when
// a checkpoint starts and never else, closes those that are due, and the same checkpoint commits
// them. It counts no parts, so that without an option nothing is ever closed.
//
// An age is therefore rounded up to the next checkpoint. The default there is one every 10
// s (arroyo-rpc default.toml); here it is the workload's CheckpointInterval. The size is
// that of the file when it is looked at, so it is exact and not rounded to parts of an
// upload.
type ArroyoLocal struct{ ArroyoOptions }

// ArroyoOptions are the options that the three have in common.
//
// The intervals are pointers because 0 is not their default: nil is no limit, and 0 closes
// a file whenever it is looked at. So does anything below a second. A FileSize of 0 cannot
// be told from none. The default of each is that of config.rs; there is no limit of age, of
// idleness or of size unless one is set.
type ArroyoOptions struct {
	FileSize            int64          // rolling_policy.file_size, bytes; 0 means no limit
	Interval            *time.Duration // rolling_policy.interval; nil means no limit, and below a second is 0
	InactivityInterval  *time.Duration // rolling_policy.inactivity_interval; the same
	WatermarkExpiration bool           // rolling_policy.watermark_expiration; without effect if there is no TimePattern
	TimePattern         string         // partitioning.time_pattern, of %Y %m %d %H %M %S; "" means no partitions by time
	TargetPartSize      int64          // multipart.target_part_size, bytes; 0 means 32 MiB
	MaxParts            int64          // multipart.max_parts; 0 means 1000
}

const arroyoSource = "arroyo-connectors/src/filesystem/config.rs"

func (p *ArroyoOptions) options() []option {
	return []option{
		byteSize("rolling_policy.file_size", &p.FileSize, "", "a file of which so many bytes were sent is closed", arroyoSource),
		optionalDuration("rolling_policy.interval", &p.Interval, "", "a file that is so old is closed, whole seconds", arroyoSource),
		optionalDuration("rolling_policy.inactivity_interval", &p.InactivityInterval, "", "a file that is idle for so long is closed, whole seconds", arroyoSource),
		boolean("rolling_policy.watermark_expiration", &p.WatermarkExpiration, "a file whose partition the watermark has left is closed", arroyoSource),
		text("partitioning.time_pattern", &p.TimePattern, "", "records are divided by their time in this format", arroyoSource),
		byteSize("multipart.target_part_size", &p.TargetPartSize, "33554432", "bytes of a part of the upload", arroyoSource),
		integer("multipart.max_parts", &p.MaxParts, "1000", "a file of so many parts is closed", arroyoSource),
	}
}

// Name gives "arroyo".
func (Arroyo) Name() string { return "arroyo" }

// Name gives "arroyo-v2".
func (ArroyoV2) Name() string { return "arroyo-v2" }

// Name gives "arroyo-local".
func (ArroyoLocal) Name() string { return "arroyo-local" }

// String gives the words that [Parse] reads.
func (p Arroyo) String() string { return spell(p.Name(), p.options()) }

// String gives the words that [Parse] reads.
func (p ArroyoV2) String() string { return spell(p.Name(), p.options()) }

// String gives the words that [Parse] reads.
func (p ArroyoLocal) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p ArroyoOptions) Options() []Option { return describe(p.options()) }

// Validate refuses a part size below 5 MiB and a pattern that is not modelled.
func (p Arroyo) Validate() error { return p.validate(p.Name()) }

// Validate refuses a part size below 5 MiB and a pattern that is not modelled.
func (p ArroyoV2) Validate() error { return p.validate(p.Name()) }

// Validate refuses a part size below 5 MiB and a pattern that is not modelled.
func (p ArroyoLocal) Validate() error { return p.validate(p.Name()) }

func (p ArroyoOptions) validate(peer string) error {
	if p.TargetPartSize != 0 && p.TargetPartSize < 5<<20 {
		return refuse(peer, "multipart.target_part_size", strconv.FormatInt(p.TargetPartSize, 10), arroyoSource+" MultipartConfig", "must be at least 5242880")
	}
	if p.MaxParts < 0 || p.FileSize < 0 {
		return refuse(peer, "multipart.max_parts", "", arroyoSource, "limits must be greater than 0")
	}
	for _, f := range []struct {
		name  string
		value *time.Duration
	}{{"rolling_policy.interval", p.Interval}, {"rolling_policy.inactivity_interval", p.InactivityInterval}} {
		if f.value != nil && *f.value < 0 {
			return refuse(peer, f.name, "", arroyoSource, "must not be negative")
		}
	}
	if rest := strings.NewReplacer("%Y", "", "%m", "", "%d", "", "%H", "", "%M", "", "%S", "").Replace(p.TimePattern); strings.Contains(rest, "%") {
		return refuse(peer, "partitioning.time_pattern", p.TimePattern, "", "only %%Y %%m %%d %%H %%M %%S are modelled")
	}
	return nil
}

// wholeSeconds truncates an interval as Arroyo does; no limit is longer than any.
//
// It is the as_secs of config.rs: the fraction is dropped and not rounded, so 1.9 s is 1 s.
func wholeSeconds(d *time.Duration) (ms int64, limited bool) {
	if d == nil {
		return math.MaxInt64, false
	}
	return d.Truncate(time.Second).Milliseconds(), true
}

// parts is how many bytes of a file were sent, and in how many parts.
//
// The rest that does not come to a part stays in memory and is not counted. The model
// computes this from the size of the file, so it is the same as counting whenever no batch
// is larger than a part; a larger one is sent as a single part, which is left out.
func (p ArroyoOptions) parts(part sinkcore.PartInfo) (bytes, parts int64) {
	target := cmp.Or(p.TargetPartSize, 32<<20)
	parts = part.Size / target
	return parts * target, parts
}

// full says whether a file is closed for what was sent.
func (p ArroyoOptions) full(part sinkcore.PartInfo) bool {
	bytes, parts := p.parts(part)
	return parts >= cmp.Or(p.MaxParts, 1000) || p.FileSize > 0 && bytes >= p.FileSize
}

// later adds milliseconds to an instant and stays at never.
func later(instant, ms int64) int64 {
	if ms > math.MaxInt64-instant {
		return never
	}
	return instant + ms
}

// arroyoPolicy is the rolling policies of a file on an object store. It is sinkcore's if every
// batch is smaller than a part.
type arroyoPolicy struct {
	peer Peer
	ArroyoOptions
	frozen bool // the time of the newest record is that of the first
}

// RollOnEvent never closes a file: nothing is looked at before a record.
//
// This is where Arroyo differs from Flink: Flink tests the size before it writes, Arroyo
// when its timer comes, so that between two ticks a file can grow beyond every limit.
func (arroyoPolicy) RollOnEvent(sinkcore.PartInfo) sinkcore.Reason { return sinkcore.None }

// RollOnCheckpoint never closes a file.
func (arroyoPolicy) RollOnCheckpoint(sinkcore.PartInfo, int64) sinkcore.Reason { return sinkcore.None }

// RollAt is at once for a file that is full, and otherwise the earlier of the two intervals.
//
// A full file is reported as due since its newest record and not as due now: a policy is
// not told what time it is, and the next tick closes it in both cases.
func (p arroyoPolicy) RollAt(part sinkcore.PartInfo) (int64, sinkcore.Reason) {
	if p.full(part) {
		return part.LastUpdate, sinkcore.Size
	}
	touched := part.LastUpdate
	if p.frozen {
		touched = part.CreationTime
	}
	age, _ := wholeSeconds(p.Interval)
	idle, _ := wholeSeconds(p.InactivityInterval)
	old, quiet := later(part.CreationTime, age), later(touched, idle)
	if quiet < old {
		return quiet, sinkcore.Inactivity
	}
	if old == never {
		return never, sinkcore.None
	}
	return old, sinkcore.Age
}

// String gives the peer's own words.
func (p arroyoPolicy) String() string { return p.peer.String() }

// Validate is the peer's.
func (p arroyoPolicy) Validate() error { return p.peer.Validate() }

// WorstLatency is the peer's.
func (p arroyoPolicy) WorstLatency(s sinkcore.Schedule) (time.Duration, bool) {
	return scheduleBound(p.peer, s)
}

// Policy gives the policies and the 100 ms; false with a time pattern, which no policy
// sees. It is exact for records smaller than a part.
func (p Arroyo) Policy() (sinkcore.RollingPolicy, time.Duration, bool) {
	return arroyoPolicy{peer: p, ArroyoOptions: p.ArroyoOptions}, arroyoTick, p.TimePattern == ""
}

// How often the two versions look at their files (sink/mod.rs run, sink/v2/mod.rs tick_interval).
const (
	arroyoTick   = 100 * time.Millisecond
	arroyoV2Tick = time.Second
)

// localPolicy is the rolling policies of a file on a local file system.
type localPolicy struct{ peer ArroyoLocal }

// RollOnEvent never closes a file.
func (localPolicy) RollOnEvent(sinkcore.PartInfo) sinkcore.Reason { return sinkcore.None }

// RollOnCheckpoint closes a file that is large enough, old enough or idle for long enough.
//
// The order of the cases decides only which reason is given; the file is closed in any
// case.
func (p localPolicy) RollOnCheckpoint(part sinkcore.PartInfo, now int64) sinkcore.Reason {
	age, _ := wholeSeconds(p.peer.Interval)
	idle, _ := wholeSeconds(p.peer.InactivityInterval)
	switch {
	case p.peer.FileSize > 0 && part.Size >= p.peer.FileSize:
		return sinkcore.Size
	case now-part.CreationTime >= age:
		return sinkcore.Age
	case now-part.LastUpdate >= idle:
		return sinkcore.Inactivity
	}
	return sinkcore.None
}

// RollAt is never: there is no timer.
func (localPolicy) RollAt(sinkcore.PartInfo) (int64, sinkcore.Reason) { return never, sinkcore.None }

// String gives the peer's own words.
func (p localPolicy) String() string { return p.peer.String() }

// Validate is the peer's.
func (p localPolicy) Validate() error { return p.peer.Validate() }

// WorstLatency is the peer's.
func (p localPolicy) WorstLatency(s sinkcore.Schedule) (time.Duration, bool) {
	return scheduleBound(p.peer, s)
}

// Policy gives the policies; false with a time pattern, which no policy sees.
func (p ArroyoLocal) Policy() (sinkcore.RollingPolicy, time.Duration, bool) {
	return localPolicy{p}, sinkcore.DefaultCheckInterval, p.TimePattern == ""
}

// bound is the bound of a file that is looked at so often and waits for a checkpoint, if
// there is a limit of age. What else closes a file depends on the stream.
//
// An interval of 0 closes each file when it is first looked at, so it is a limit of age
// too, and that of idleness is the only one that can be relied on for any stream: a longer
// one is kept from ending by a record before it ends.
func (p ArroyoOptions) bound(w Workload, age int64, limited bool, tick time.Duration, commits bool) Bound {
	if idle, set := wholeSeconds(p.InactivityInterval); set && idle == 0 {
		age, limited = 0, true // every file is idle for so long
	}
	if !limited {
		return unbounded("without rolling_policy.interval a file is open until its stream brings bytes enough, a pause or a newer watermark", p.witness(w))
	}
	// The tick that is one millisecond early waits for the next.
	worst := time.Duration(age)*time.Millisecond + tick - time.Millisecond + w.CommitDuration
	// A closed file is handed over by the next checkpoint, which can be a whole interval
	// away. The local sink closes in the checkpoint, so the same one commits, and nothing
	// is added.
	if commits {
		worst += w.between()
	}
	return Bound{Worst: worst, Reason: "the interval, the time until the files are looked at again, and the checkpoint that commits"}
}

// witness is a stream under which nothing but an age would close a file: a single record, or
// one that has no pause if a pause closes it. Its records bear the time at which the stream begins,
// so that no watermark leaves their partition.
func (p ArroyoOptions) witness(w Workload) Workload {
	idle, limited := wholeSeconds(p.InactivityInterval)
	if !limited {
		return oneRecord(w)
	}
	w = trickle(w, time.Duration(idle)*time.Millisecond)
	w.Arrivals = stamped{w.Arrivals, w.Start}
	w.FirstCheckpoint = min(w.filled().FirstCheckpoint, time.Hour)
	return w
}

// WorstLatency is the interval, 99 ms, and a checkpoint.
//
// In words: the first record of a file arrives just so that at a tick the file is one
// millisecond too young. The next tick closes it, 100 ms later; a checkpoint has begun just
// before, so the file waits for the next one and for its completion. With an interval of 60
// s, a checkpoint every 2 s and no duration that is 62.099 s.
func (p Arroyo) WorstLatency(w Workload) Bound {
	age, limited := wholeSeconds(p.Interval)
	return p.bound(w, age, limited, arroyoTick, true)
}

// WorstLatency is the smaller of the two intervals, 999 ms, and a checkpoint.
//
// It is the same argument with a tick of one second. The files of a batch are looked at
// after it too, which can only close a file earlier. The inactivity interval counts as an
// age, since nothing sets it anew.
func (p ArroyoV2) WorstLatency(w Workload) Bound {
	age, limited := wholeSeconds(p.Interval)
	if idle, set := wholeSeconds(p.InactivityInterval); set {
		age, limited = min(age, idle), true
	}
	return p.bound(w, age, limited, arroyoV2Tick, true)
}

// WorstLatency is the interval and a checkpoint interval: a file that was too young at a
// checkpoint by a millisecond waits for the next one, which commits it; and one that is due when it
// begins waits for the next all the same.
//
// The extra millisecond in the code undoes the one that the common bound takes away: there
// a file that is due when it begins is closed by the tick after it, here it may begin just
// after a checkpoint and waits for the whole of the next interval. With an interval of 60 s
// and a checkpoint every 2 s the bound is 62 s.
//
// Without an interval, a small FileSize bounds how often a record can keep a file from being
// idle. Where that is more than a day it counts as no bound.
func (p ArroyoLocal) WorstLatency(w Workload) Bound {
	if p.FileSize == 1 {
		return perCheckpoint(w) // every file is so large
	}
	age, limited := wholeSeconds(p.Interval)
	if idle, set := wholeSeconds(p.InactivityInterval); set && idle > 0 && !limited && p.FileSize > 1 {
		// A record has a byte at least, so a file that is not full has FileSize - 1 of them at
		// most. Each comes before a checkpoint that finds the file idle, and so no later than
		// that after the one before; and the last is followed by that checkpoint.
		pause, more := time.Duration(idle)*time.Millisecond, p.FileSize-1
		if more <= int64(day/max(pause/2, time.Millisecond)) {
			return Bound{
				Worst:  sum(more, pause+w.between()) + w.CommitDuration,
				Reason: "as many records of a byte as do not fill the file, each just before a checkpoint would find it idle",
			}
		}
	}
	return p.bound(w, age, limited, w.between()+time.Millisecond, false)
}

// sum is so many times a duration, or about the longest there is.
func sum(n int64, d time.Duration) time.Duration {
	return d * time.Duration(min(n, int64(math.MaxInt64/2/max(d, 1))))
}

// predict is the closed form of a file that is open for the interval, or until it is full.
//
// Two cases have one: the interval ends before the file is full, or there is no interval.
// If both limits can close a file, which one does changes from file to file. The slack is a
// checkpoint interval and a record, because where in an interval a file is closed depends
// on how checkpoints and ticks fall.
func (p ArroyoOptions) predict(w Workload, age int64, limited bool, tick time.Duration) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || p.TimePattern != "" {
		return Prediction{}, false
	}
	if idle, set := wholeSeconds(p.InactivityInterval); set && r.gap >= time.Duration(idle)*time.Millisecond {
		return Prediction{}, false
	}
	target := float64(cmp.Or(p.TargetPartSize, 32<<20))
	parts := float64(cmp.Or(p.MaxParts, 1000))
	if p.FileSize > 0 {
		parts = math.Min(parts, math.Ceil(float64(p.FileSize)/target))
	}
	// The number of whole records that come to so many bytes, and the time until they are
	// there.
	full := math.Ceil(parts*target/r.size) * float64(r.gap)
	if limited && float64(age)*float64(time.Millisecond)+float64(tick) < full {
		every := time.Duration(age) * time.Millisecond
		delta, same := r.after(tick)
		if !same {
			return Prediction{}, false
		}
		// A file that begins at the instant of a tick comes after it.
		every = max((every+delta+tick-1)/tick, 1) * tick
		return r.predict(every-delta+r.between()+r.CommitDuration, r.between()+r.gap, every), true
	}
	if limited {
		return Prediction{}, false
	}
	open := time.Duration(full)
	return r.predict(open+tick+r.between()+r.CommitDuration, tick+r.between()+r.gap, open), true
}

// Predict is the interval, or the time until the file is full, in steps of 100 ms.
func (p Arroyo) Predict(w Workload) (Prediction, bool) {
	age, limited := wholeSeconds(p.Interval)
	return p.predict(w, age, limited, arroyoTick)
}

// Predict has a closed form only for files that are full before they are old.
func (p ArroyoV2) Predict(w Workload) (Prediction, bool) {
	if p.Interval != nil || p.InactivityInterval != nil {
		return Prediction{}, false
	}
	return p.predict(w, 0, false, arroyoV2Tick)
}

// Predict is never for a sink without options.
//
// With a limit the file is closed by a checkpoint, and which one it is depends on how the
// interval and the checkpoints divide; that is left to Simulate.
func (p ArroyoLocal) Predict(w Workload) (Prediction, bool) {
	if _, ok := w.regular(); !ok || p.FileSize > 0 || p.Interval != nil || p.InactivityInterval != nil || p.TimePattern != "" {
		return Prediction{}, false
	}
	return Prediction{Max: Forever}, true
}

// Simulate plays the workload.
func (p Arroyo) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, arroyoPolicy{peer: p, ArroyoOptions: p.ArroyoOptions}, arroyoTick.Milliseconds())
		p.ArroyoOptions.attach(m, watermarkAtCheckpoint)
		return m, nil
	})
}

// Simulate plays the workload.
func (p ArroyoV2) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, arroyoPolicy{peer: p, ArroyoOptions: p.ArroyoOptions, frozen: true}, arroyoV2Tick.Milliseconds())
		m.eachBatch = true
		p.ArroyoOptions.attach(m, watermarkAtOnce)
		return m, nil
	})
}

// Simulate plays the workload.
func (p ArroyoLocal) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, localPolicy{p}, 0)
		p.ArroyoOptions.attach(m, watermarkCommits)
		return m, nil
	})
}

// When a version acts on the watermark.
const (
	watermarkAtCheckpoint = iota // it learns it at a checkpoint and acts at the next tick
	watermarkAtOnce              // it learns it with the records and acts at the next tick
	watermarkCommits             // it learns it at a checkpoint and acts there
)

// attach adds to a sink what Arroyo does at a restart, and partitions by time.
func (p ArroyoOptions) attach(m *rolling, when int) {
	m.finishes = true
	m.delay = 0 // these are not Flink's timers
	if p.TimePattern == "" {
		return
	}
	// Partitions are numbered as they come, because a file's key holds a number: the order
	// of the numbers means nothing, and the map is only looked up. Records come in runs of
	// one time, so the newest answer is kept, which saves formatting a time for each
	// record.
	numbers := map[string]int64{}
	lastEvent, lastNumber := int64(-1), int64(0)
	number := func(event int64) int64 {
		if event == lastEvent {
			return lastNumber
		}
		text := strftime(p.TimePattern, time.UnixMilli(event).UTC())
		n, known := numbers[text]
		if !known {
			n = int64(len(numbers))
			numbers[text] = n
		}
		lastEvent, lastNumber = event, n
		return n
	}
	m.key = func(r record) key {
		return key{subtask: r.subtask, bucket: r.bucket, slot: number(r.event)}
	}
	if !p.WatermarkExpiration {
		return
	}
	// Two watermarks: seen is the one that the records bring, learned the one that the sink
	// acts on. Version 1 and the local sink are told at the start of a checkpoint (began),
	// version 2 with each record. A file has expired if the watermark is past its first
	// record and belongs to another partition; being past alone would close a file in the
	// middle of its hour.
	seen, learned := int64(math.MinInt64), int64(math.MinInt64)
	m.expired = func(f *file) bool { return learned > f.event && number(learned) != f.key.slot }
	m.expiresAtCheckpoint = when == watermarkCommits
	m.read = func(r record) {
		seen = max(seen, r.event)
		if when == watermarkAtOnce {
			learned = seen
		}
	}
	m.began = func() { learned = seen }
}

// strftime formats the time of a partition.
//
// Other letters than these six are refused by validate, so none is left standing here.
func strftime(pattern string, t time.Time) string {
	return strings.NewReplacer("%Y", t.Format("2006"), "%m", t.Format("01"), "%d", t.Format("02"),
		"%H", t.Format("15"), "%M", t.Format("04"), "%S", t.Format("05")).Replace(pattern)
}

// Waivers lists what the source shows.
func (p Arroyo) Waivers() []Waiver { return p.waivers(p.WorstLatency(Workload{}).Unbounded, nil) }

// Waivers lists what the source shows.
func (p ArroyoV2) Waivers() []Waiver { return p.waivers(p.WorstLatency(Workload{}).Unbounded, nil) }

// Waivers lists what the source shows.
func (p ArroyoLocal) Waivers() []Waiver {
	return p.waivers(p.WorstLatency(Workload{}).Unbounded, []Waiver{
		{"NoLoss", "a commit that finds the first of its files in place returns before the others", "arroyo sink/local.rs commit"},
		{"Durable", "JSON files are flushed and not fsynced", "arroyo sink/json.rs"},
		{"Orphans", "files in __in_progress that no checkpoint names stay", "arroyo sink/local.rs"},
	})
}

func (p ArroyoOptions) waivers(unbounded bool, more []Waiver) []Waiver {
	list := []Waiver{
		{"Restore", "only the newest checkpoint can be restored, by subtask 0 for all", "arroyo sink/local.rs init, sink/mod.rs Init"},
		{"FileCount", "each restart finishes every open file", "arroyo sink/mod.rs from_checkpoint, sink/v2/open_file.rs from_checkpoint"},
	}
	for _, w := range more {
		list = withWaiver(list, w)
	}
	if unbounded {
		list = withWaiver(list, Waiver{"Latency", "the only limit that is always on is that of multipart parts", "arroyo sink/mod.rs RollingPolicy.from_file_settings"})
	}
	return slices.Clone(list)
}
