package peers

import (
	"cmp"
	"slices"
	"time"

	"sinklab/sinkcore"
)

// FlinkSQL is the filesystem connector of Flink SQL 2.3.0 (FileSystemConnectorOptions,
// FileSystemTableSink.TableRollingPolicy). It differs from [FlinkFileSink] in its
// limits, which are 30 minutes, and in its timer, which shows the policy the time that it is
// and not the time at which it was due (StreamingFileSinkHelper): a timer that fires a
// millisecond late sees a part a millisecond older.
//
// Parquet, ORC, Avro and CSV are bulk formats: every part is closed at every checkpoint,
// whatever the options say. For CSV the documentation says otherwise, but
// CsvFileFormatFactory is a BulkWriterFormatFactory, which FileSystemTableSink.createWriter
// takes first. JSON and raw are row formats.
//
// With auto-compaction every part is closed at every checkpoint too, and when that has
// completed those of a bucket are packed in their order into files of compaction.file-size
// bytes (BinPacking); the merging takes no time here. With a partition commit policy a
// record counts as visible when its partition is committed, because that is what the policy
// tells readers to wait for: at the first completion of a checkpoint that is more than
// sink.partition-commit.delay after the one that showed the partition's first file
// (ProcTimeCommitTrigger, ProcTimeCommitPredicate; the comparison is strict, and without a
// delay it is the same completion). The trigger partition-time is refused, because buckets have
// no time here.
//
// What a user of SQL sees, with a record every 100 ms and a checkpoint every 2 s:
//
//	format=json       up to 31 min 2 s, 2 files an hour
//	format=csv        up to 2 s, 1800 files an hour, whatever the rolling options are
//
// 0 in a field is an option that is not set; a CommitDelay of 0 is Flink's own default. The
// rest of the connector's options is left out: partitions and their names, since the
// workload says which bucket a record has; the shuffle by partition; and success files and
// a metastore, which are only told of what is committed.
type FlinkSQL struct {
	Format             string        // format: json, raw and debezium-json are row formats; csv, avro, parquet, orc bulk formats. Required by Flink; "" means json
	FileSize           int64         // sink.rolling-policy.file-size, bytes; 0 means 128 MiB
	RolloverInterval   time.Duration // sink.rolling-policy.rollover-interval; 0 means 30 min
	InactivityInterval time.Duration // sink.rolling-policy.inactivity-interval; 0 means 30 min
	CheckInterval      time.Duration // sink.rolling-policy.check-interval; 0 means 1 min
	AutoCompaction     bool          // auto-compaction
	CompactionFileSize int64         // compaction.file-size, bytes; 0 means FileSize
	CommitTrigger      string        // sink.partition-commit.trigger; "" means process-time
	CommitDelay        time.Duration // sink.partition-commit.delay
	CommitPolicy       string        // sink.partition-commit.policy.kind; "" means none
}

const sqlSource = "Flink FileSystemConnectorOptions"

var (
	sqlFormats  = []string{"json", "raw", "debezium-json", "canal-json", "csv", "avro", "parquet", "orc"}
	sqlBulk     = []string{"csv", "avro", "parquet", "orc"}
	sqlTriggers = []string{"process-time", "partition-time"}
	sqlPolicies = []string{"none", "success-file", "metastore", "metastore,success-file", "custom"}
)

func (p *FlinkSQL) options() []option {
	return []option{
		choice("format", &p.Format, sqlFormats, "a bulk format closes a part at every checkpoint", "Flink FileSystemTableFactory"),
		byteSize("sink.rolling-policy.file-size", &p.FileSize, "134217728", "a part that is larger is closed, bytes", sqlSource),
		duration("sink.rolling-policy.rollover-interval", &p.RolloverInterval, "30min", "a part that is so old is closed", sqlSource),
		duration("sink.rolling-policy.inactivity-interval", &p.InactivityInterval, "30min", "a part that is idle for so long is closed", sqlSource),
		duration("sink.rolling-policy.check-interval", &p.CheckInterval, "1min", "how often age and idleness are looked at", sqlSource),
		boolean("auto-compaction", &p.AutoCompaction, "parts of one checkpoint are merged", sqlSource),
		byteSize("compaction.file-size", &p.CompactionFileSize, "", "parts are merged up to so many bytes; the rolling size if absent", sqlSource),
		choice("sink.partition-commit.trigger", &p.CommitTrigger, sqlTriggers, "what the delay is counted from", sqlSource),
		duration("sink.partition-commit.delay", &p.CommitDelay, "0", "how long after its first file a partition is committed", sqlSource),
		choice("sink.partition-commit.policy.kind", &p.CommitPolicy, sqlPolicies, "how readers are told of a partition", sqlSource),
	}
}

// Name gives "flink-sql".
func (FlinkSQL) Name() string { return "flink-sql" }

// String gives the words that [Parse] reads.
func (p FlinkSQL) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p FlinkSQL) Options() []Option { return describe(p.options()) }

// Validate refuses what TableRollingPolicy and the factory refuse: limits that are not
// greater than zero, an unknown format, a trigger or a policy; and partition-time.
func (p FlinkSQL) Validate() error {
	if p.FileSize < 0 || p.CompactionFileSize < 0 {
		return refuse(p.Name(), "sink.rolling-policy.file-size", "", "Flink FileSystemTableSink.TableRollingPolicy", "must be greater than 0 bytes")
	}
	if err := wholeMillis(p.Name(),
		timeField{"sink.rolling-policy.rollover-interval", p.RolloverInterval}, timeField{"sink.rolling-policy.inactivity-interval", p.InactivityInterval},
		timeField{"sink.rolling-policy.check-interval", p.CheckInterval}, timeField{"sink.partition-commit.delay", p.CommitDelay}); err != nil {
		return err
	}
	if p.CommitTrigger == "partition-time" {
		return refuse(p.Name(), "sink.partition-commit.trigger", p.CommitTrigger, "", "is not modelled: buckets have no time here; want process-time")
	}
	for _, c := range []struct {
		name, value string
		values      []string
	}{{"format", p.Format, sqlFormats}, {"sink.partition-commit.trigger", p.CommitTrigger, sqlTriggers}, {"sink.partition-commit.policy.kind", p.CommitPolicy, sqlPolicies}} {
		if err := validChoice(p.Name(), c.name, c.value, c.values, sqlSource); err != nil {
			return err
		}
	}
	return nil
}

// limits has the connector's limits.
func (p FlinkSQL) limits() sinkcore.Default {
	return sinkcore.Default{
		Size: p.FileSize, Rollover: cmp.Or(p.RolloverInterval, 30*time.Minute), Inactivity: cmp.Or(p.InactivityInterval, 30*time.Minute),
	}.Filled()
}

// bulk says whether every checkpoint closes every part.
func (p FlinkSQL) bulk() bool { return p.AutoCompaction || slices.Contains(sqlBulk, p.Format) }

// commits says whether readers are told of partitions.
func (p FlinkSQL) commits() bool { return p.CommitPolicy != "" && p.CommitPolicy != "none" }

// policy is TableRollingPolicy.
//
// The limits stay in force for bulk formats: within a long checkpoint interval they close a
// part, which then waits for the checkpoint like the others.
func (p FlinkSQL) policy() sinkcore.RollingPolicy {
	if p.bulk() {
		return sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: p.limits()}
	}
	return p.limits()
}

func (p FlinkSQL) check() time.Duration { return cmp.Or(p.CheckInterval, time.Minute) }

// Policy gives the policy and the check interval; false with a compaction or a partition
// commit policy.
func (p FlinkSQL) Policy() (sinkcore.RollingPolicy, time.Duration, bool) {
	return p.policy(), p.check(), !p.AutoCompaction && !p.commits()
}

// WorstLatency is that of [FlinkFileSink], but that a late timer adds its lateness once; for a bulk
// format one checkpoint. A partition commit adds its delay, and one more checkpoint if
// there is a delay.
//
// A late timer counts once: the check that finds the part too young sees its true age, so
// only the next check is late by d. With a partition commit, the partition's first file was
// shown at some completion; the first completion that is later than the delay after it
// commits, which is at most one checkpoint interval more. Without a delay it is the same
// completion. Auto-compaction adds nothing, as merging takes no time and ends with the
// checkpoint that closed the parts.
func (p FlinkSQL) WorstLatency(w Workload) Bound {
	b := perCheckpoint(w)
	if !p.bulk() {
		worst, ok := sinkcore.WorstLatency(p.policy(), w.schedule(p.check()))
		b = Bound{Worst: worst + w.TimerDelay, Unbounded: !ok,
			Reason: "rollover interval, one check interval less a millisecond, and the checkpoint that commits"}
	}
	if p.commits() && p.CommitDelay > 0 {
		b.Worst += p.CommitDelay + w.between()
		b.Tight = false
		b.Reason += ", and the delay of the partition commit with the checkpoint after it"
	}
	return b
}

// Predict is the closed form of [FlinkFileSink]; with the timer on time the two clocks are the
// same. A late timer and a delayed partition commit have none.
func (p FlinkSQL) Predict(w Workload) (Prediction, bool) {
	if w.TimerDelay > 0 || p.commits() && p.CommitDelay > 0 {
		return Prediction{}, false
	}
	if p.bulk() {
		prediction, ok := predictPerCheckpoint(w)
		// The limits close parts within a checkpoint too, if it is long enough for that.
		r, _ := w.regular()
		limits := p.limits()
		return prediction, ok && r.size*float64(r.between())/float64(r.gap) <= float64(limits.Size) && limits.Rollover >= r.between() && limits.Inactivity > r.gap
	}
	return predictDefault(p.limits(), p.check(), w)
}

// Simulate plays the workload.
func (p FlinkSQL) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, p.policy(), p.check().Milliseconds())
		m.readsClock = true
		m.post = &sqlCommit{e: e, FlinkSQL: p, since: map[int32]int64{}}
		return m, nil
	})
}

// Waivers lists what a local commit of Flink 2.3.0 does not promise.
func (p FlinkSQL) Waivers() []Waiver { return slices.Clone(flinkWaivers) }

// sqlCommit is what happens to parts when their checkpoint has completed: they are merged,
// and their partition may be committed.
//
// A partition is a bucket, of all subtasks together: one of them commits for all
// (PartitionCommitter). Its delay counts from the first file since its last commit, so a
// partition that gets late files is committed again.
type sqlCommit struct {
	FlinkSQL
	e       *engine
	handed  []*file
	waiting []*file         // visible, in a partition that is not committed
	buckets []int32         // with waiting files, in the order in which they got their first
	since   map[int32]int64 // when a bucket with waiting files got its first
}

func (c *sqlCommit) hand(_ int64, files []*file) { c.handed = append(c.handed, files...) }

// complete merges what the checkpoint handed over, then shows it, or holds it back until
// its partition is due.
func (c *sqlCommit) complete(now int64) {
	files := c.handed
	c.handed = nil
	if c.AutoCompaction {
		files = binPack(files, cmp.Or(c.CompactionFileSize, c.limits().Size))
	}
	if !c.commits() {
		c.e.publish(now, files...)
		return
	}
	for _, f := range files {
		if _, pending := c.since[f.key.bucket]; !pending {
			c.since[f.key.bucket] = now
			c.buckets = append(c.buckets, f.key.bucket)
		}
	}
	c.waiting = append(c.waiting, files...)
	delay := c.CommitDelay.Milliseconds()
	c.buckets = slices.DeleteFunc(c.buckets, func(bucket int32) bool {
		if delay > 0 && now <= c.since[bucket]+delay {
			return false
		}
		delete(c.since, bucket)
		c.waiting = slices.DeleteFunc(c.waiting, func(f *file) bool {
			if f.key.bucket != bucket {
				return false
			}
			c.e.publish(now, f)
			return true
		})
		return true
	})
}

// restart keeps what is in the directory. Partitions that were not committed and their times
// are in the state of the checkpoint that showed their files.
func (c *sqlCommit) restart(int64) { c.handed = nil }

func (c *sqlCommit) hidden(visit func(*file)) {
	for _, f := range c.handed {
		visit(f)
	}
	for _, f := range c.waiting {
		visit(f)
	}
}

// binPack merges the files of each bucket in their order, as long as a bin holds no more than
// so many bytes (BinPacking.pack). A file that is larger has a bin of its own.
//
// Only files of one checkpoint meet, so a stream that brings little in an interval has
// small files with auto-compaction too.
func binPack(files []*file, target int64) (bins []*file) {
	var buckets []int32
	last := map[int32]*file{}
	byBucket := map[int32][]*file{}
	for _, f := range files {
		bucket := f.key.bucket
		bin := last[bucket]
		if bin == nil {
			buckets = append(buckets, bucket)
		}
		if bin == nil || bin.info.Size+f.info.Size > target {
			bin = &file{key: key{bucket: bucket}}
			last[bucket] = bin
			byBucket[bucket] = append(byBucket[bucket], bin)
		}
		bin.runs = append(bin.runs, f.runs...)
		bin.info.Size += f.info.Size
		bin.info.Records += f.info.Records
	}
	for _, bucket := range buckets {
		bins = append(bins, byBucket[bucket]...)
	}
	return bins
}
