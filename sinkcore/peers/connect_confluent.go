package peers

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// KafkaConnectS3 is the S3 sink connector of Confluent, version 12
// (kafka-connect-s3 TopicPartitionWriter). What is counted and rotated is a topic partition, not
// a file: a rotation commits every open file of the topic partition.
//
//   - flush.size: after a record, if there are so many since the last rotation.
//   - rotate.interval.ms, only with a partitioner by time: before a record whose timestamp is so
//     much later than that of the first since the last rotation, or that goes to another
//     partition than the one before it (rotate.file.on.partition.change). At the end of a put
//     the timestamp of the newest record is looked at once more, so an idle stream is never rotated,
//     also with the extractor Wallclock (confluentinc/kafka-connect-storage-cloud#144).
//   - rotate.schedule.interval.ms: before a record, and at the end of a put, if the clock has
//     reached the next boundary; see the unexported nextRotation for where they are. The boundary
//     moves on at such a rotation, and at a put that finds it past and no record waiting.
//   - partitioner.max.open.files: before a record that would open one more.
//
// All of it happens in put(), see [ConnectWorker]. Rotation for changes of schema and for
// tombstones is left out: records here have neither. After an outage the source goes back to the
// end of the last committed file.
//
// What a user sees of that, with a record every 100 ms:
//
//	flush.size=1000              a file every 100 s, and the last up to 999 records never
//	rotate.schedule… of 60 s     a file every 60 s; on an idle stream up to 60 s later
//	rotate.interval.ms alone     as soon as a record is late enough, and never without one
//
// The documentation promises that scheduled rotation "ensures" a commit at every interval.
// The source does so only while put() is called, so the worst wait is the interval and
// offset.flush.interval.ms together: two minutes and not one with 60 s each. Two partitions
// whose records alternate are rotated at each record if rotate.interval.ms is set and
// rotate.file.on.partition.change is left at true: a file a record.
//
// The rules are from TopicPartitionWriter (rotateOnTime, commitFiles) and
// S3SinkConnectorConfig; the source is of 12.x, commit 87eb7d3 of
// confluentinc/kafka-connect-storage-cloud.
type KafkaConnectS3 struct {
	RotationOptions
	KeepOnPartitionChange bool  // rotate.file.on.partition.change=false
	MaxOpenFiles          int64 // partitioner.max.open.files; 0 means no limit
}

// KafkaConnectHDFS is the HDFS sink connector of Confluent (kafka-connect-hdfs
// TopicPartitionWriter). It differs from [KafkaConnectS3]:
//
//   - every rotation is looked for before a record and at the end of a put;
//   - rotate.interval.ms works with any partitioner, and counts from the last rotation. Without a
//     partitioner by time, or with the extractor Wallclock, it looks at the clock, so an idle
//     stream is rotated; by the time of the record it is not, and counts from the record before
//     which the last rotation happened;
//   - every rotation moves both timers on, also one that finds nothing to commit. Where the next
//     boundary is past at once, in the last hour of a day of 25 hours, that goes on for ever.
//
// The source is commit 5b9c825 of confluentinc/kafka-connect-hdfs. Files are made visible
// by a rename after a log entry (FSWAL); how long that takes is CommitDuration here. The
// log and the Hive integration change nothing in when a record is seen and are left out.
type KafkaConnectHDFS struct{ RotationOptions }

// RotationOptions are the options that the connectors of Confluent have in common.
//
// FlushSize has no default, so 0 is refused as missing. For the two intervals the engine's
// default is -1, off, and 0 is off as well. All three count for a topic partition, which is
// one Subtask of a [Workload]. The first that is reached rotates; there is no option that
// makes one of them wait for another.
type RotationOptions struct {
	FlushSize              int64         // flush.size, records; required
	RotateInterval         time.Duration // rotate.interval.ms; not positive means off
	RotateScheduleInterval time.Duration // rotate.schedule.interval.ms; not positive means off
	Partitioner
	ConnectWorker
}

const storageSource = "kafka-connect-storage-common StorageSinkConnectorConfig"

func (o *RotationOptions) options() []option {
	list := []option{
		integer("flush.size", &o.FlushSize, "", "records of a topic partition until its files are committed; required", storageSource),
		milliseconds("rotate.interval.ms", &o.RotateInterval, "-1", "age by the timestamps of records at which they are committed, ms", storageSource),
		milliseconds("rotate.schedule.interval.ms", &o.RotateScheduleInterval, "-1", "boundaries of the clock, counted from midnight, at which they are committed, ms", storageSource),
	}
	return append(append(list, o.Partitioner.options()...), o.ConnectWorker.options()...)
}

func (p *KafkaConnectS3) options() []option {
	list := p.RotationOptions.options()
	return slices.Insert(list, 3,
		booleanNot("rotate.file.on.partition.change", &p.KeepOnPartitionChange, "with rotate.interval.ms, another partition than that of the record before rotates", "kafka-connect-s3 S3SinkConnectorConfig"),
		integer("partitioner.max.open.files", &p.MaxOpenFiles, "-1", "one more open file of a topic partition rotates", "kafka-connect-storage-common PartitionerConfig"),
	)
}

func (p *KafkaConnectHDFS) options() []option { return p.RotationOptions.options() }

// Name gives "kafka-connect-s3".
func (KafkaConnectS3) Name() string { return "kafka-connect-s3" }

// Name gives "kafka-connect-hdfs".
func (KafkaConnectHDFS) Name() string { return "kafka-connect-hdfs" }

// String gives the words that [Parse] reads.
func (p KafkaConnectS3) String() string { return spell(p.Name(), p.options()) }

// String gives the words that [Parse] reads.
func (p KafkaConnectHDFS) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p KafkaConnectS3) Options() []Option { return describe(p.options()) }

// Options lists the options with their values.
func (p KafkaConnectHDFS) Options() []Option { return describe(p.options()) }

// Validate refuses a missing flush.size, scheduled rotation without a time zone
// (S3SinkConnectorConfig.validateTimezone), and what the partitioner refuses.
func (p KafkaConnectS3) Validate() error {
	return p.RotationOptions.validate(p.Name(), "kafka-connect-s3 S3SinkConnectorConfig.validateTimezone")
}

// Validate refuses a missing flush.size, scheduled rotation without a time zone
// (HdfsSinkConnectorConfig.validateTimezone), and what the partitioner refuses.
//
// A negative flush.size is not refused by the connector's own configuration. The test
// before each record is then always true and the record is never written, which the model
// says at once instead of going round too.
func (p KafkaConnectHDFS) Validate() error {
	if p.FlushSize < 0 {
		return refuse(p.Name(), "flush.size", "", "kafka-connect-hdfs TopicPartitionWriter.write", "must be positive, or put() never returns")
	}
	return p.RotationOptions.validate(p.Name(), "kafka-connect-hdfs HdfsSinkConnectorConfig.validateTimezone")
}

func (o RotationOptions) validate(peer, zoneSource string) error {
	if o.FlushSize == 0 {
		return refuse(peer, "flush.size", "", storageSource, "is required and has no default")
	}
	if o.RotateScheduleInterval > 0 && o.Timezone == "" {
		return refuse(peer, "timezone", "", zoneSource, "must be set when using rotate.schedule.interval.ms")
	}
	if o.RotateInterval%time.Millisecond != 0 || o.RotateScheduleInterval%time.Millisecond != 0 {
		return refuse(peer, "rotate.interval.ms", "", "", "must be a whole number of milliseconds")
	}
	if err := o.Partitioner.validate(peer); err != nil {
		return err
	}
	return o.ConnectWorker.validate(peer)
}

// zone is the time zone; one that was refused is not asked for.
func (o RotationOptions) zone() *time.Location {
	if zone, ok := zoneOf(o.Timezone); ok {
		return zone
	}
	return time.UTC
}

// schedule is the timer of one writer.
//
// Its first boundary is the next one after the start, so a task that starts at 10:00:30
// with an interval of a minute rotates at 10:01:00 and not a minute after its start.
func (o RotationOptions) schedule(e *engine, now int64) (scheduled, error) {
	s := scheduled{e: e, interval: o.RotateScheduleInterval.Milliseconds(), zone: o.zone()}
	return s, s.reset(now)
}

// putWait is how long after an instant the next put is at most, less a millisecond: a put that
// came just too early, and then no record.
func (o RotationOptions) putWait(w Workload) time.Duration {
	return o.flush() - time.Millisecond + w.CommitDuration
}

// byCount is the bound of flush.size alone.
//
// One record a rotation is the only count that bounds anything: with two, the second may
// never come. That holds for every flush.size, however short the time in which it is
// usually reached.
func (o RotationOptions) byCount(w Workload) Bound {
	if o.FlushSize <= 1 {
		return Bound{Worst: w.CommitDuration, Tight: true, Reason: "every record is committed at once"}
	}
	return unbounded("records of a topic partition that do not come to flush.size stay open when its stream ends", oneRecord(w))
}

// byClock is the bound of an interval that the clock ends: a boundary is no further than the
// interval after any instant, also on days of 23 and 25 hours.
//
// Two waits come after each other. The record arrives just after a boundary and waits for
// the next, an interval later. The put before that boundary came a millisecond too early,
// no record calls the next one, so it comes when offsets are committed:
// offset.flush.interval.ms later, less that millisecond. Then there is the upload.
func (o RotationOptions) byClock(w Workload, interval time.Duration, reason string) Bound {
	return Bound{Worst: interval + o.putWait(w), Reason: reason}
}

// WorstLatency is the scheduled interval and the time until the next put; nothing else bounds it
// but a flush.size of 1.
//
// Rotate.interval.ms has no part in it, although it is called an interval: it compares
// times of records with each other, and where no record comes there is nothing to compare.
// That is confluentinc/kafka-connect-storage-cloud#144. With both intervals at 60 s the
// bound is 119.999 s and the upload.
func (p KafkaConnectS3) WorstLatency(w Workload) Bound {
	if b := p.byCount(w); !b.Unbounded {
		return b
	}
	if p.RotateScheduleInterval > 0 {
		return p.byClock(w, p.RotateScheduleInterval, "rotate.schedule.interval.ms, and offset.flush.interval.ms until put() is called on an idle stream")
	}
	return p.byCount(w)
}

// WorstLatency is the smaller of the two intervals that the clock ends, and the time until
// the next put.
//
// Here rotate.interval.ms counts too if it looks at the clock. It is counted from the last
// rotation, and every record of an open file came after that; so no record waits longer
// than the interval and the time until somebody looks.
func (p KafkaConnectHDFS) WorstLatency(w Workload) Bound {
	if b := p.byCount(w); !b.Unbounded {
		return b
	}
	interval, reason := time.Duration(math.MaxInt64), ""
	if p.RotateScheduleInterval > 0 {
		interval, reason = p.RotateScheduleInterval, "rotate.schedule.interval.ms, and offset.flush.interval.ms until put() is called on an idle stream"
	}
	if p.RotateInterval > 0 && p.clockRotates() && p.RotateInterval < interval {
		interval, reason = p.RotateInterval, "rotate.interval.ms, and offset.flush.interval.ms until put() is called on an idle stream"
	}
	if reason == "" {
		return p.byCount(w)
	}
	return p.byClock(w, interval, reason)
}

// clockRotates says whether rotate.interval.ms looks at the clock (TopicPartitionWriter,
// isWallclockBased).
func (p KafkaConnectHDFS) clockRotates() bool { return !p.byTime() || p.wallclock() }

// predict is the closed form of flush.size or of one interval of the clock, while records
// flow faster than the interval.
//
// By count, a file holds flush.size records; the first waits for the last, which is one gap
// less than the time from one file to the next. By the clock, a file spans an interval, and
// the boundary is seen by the record after it. Where the two could take turns there is no
// short form, and with a partitioner by time files are also cut by the hour of their
// records.
func (o RotationOptions) predict(w Workload, interval time.Duration) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || o.byTime() {
		return Prediction{}, false
	}
	full := time.Duration(math.Min(float64(max(o.FlushSize, 1))*float64(r.gap), math.MaxInt64/4))
	if interval <= 0 {
		return r.predict(full-r.gap+r.CommitDuration, 0, full), true
	}
	// Sparse records leave intervals without a file, and a count that is reached first is
	// not left to the clock.
	if r.gap > interval || full < interval+r.gap {
		return Prediction{}, false
	}
	// The boundary is noticed by the next record, or by the put of an idle stream.
	late := min(r.gap, o.flush())
	return r.predict(interval+late+r.CommitDuration, late+r.gap, interval), true
}

// Predict is flush.size records, or the scheduled interval.
func (p KafkaConnectS3) Predict(w Workload) (Prediction, bool) {
	return p.predict(w, p.RotateScheduleInterval)
}

// Predict is flush.size records, or the scheduled interval; not both intervals.
func (p KafkaConnectHDFS) Predict(w Workload) (Prediction, bool) {
	if p.RotateInterval > 0 {
		return Prediction{}, false
	}
	return p.predict(w, p.RotateScheduleInterval)
}

// Simulate plays the workload. It fails with [ErrTaskFails] on a day without midnight.
func (p KafkaConnectS3) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		return newConnectTask(e, p.ConnectWorker, func(_ int32, now int64) (partitionWriter, error) {
			timer, err := p.schedule(e, now)
			return &s3Writer{KafkaConnectS3: p, partitionFiles: partitionFiles{e: e}, timer: timer, location: p.zone()}, err
		})
	})
}

// s3Writer is one topic partition of the S3 connector.
//
// The names follow TopicPartitionWriter: base is baseRecordTimestamp, newest is
// currentTimestamp, current is currentEncodedPartition. A base is forgotten with each
// rotation and taken from the next record.
type s3Writer struct {
	KafkaConnectS3
	partitionFiles
	timer    scheduled
	location *time.Location

	current   key   // partition of the newest record
	newest    int64 // its timestamp
	base      int64 // timestamp of the first record since the last rotation
	hasBase   bool
	hasRecord bool
}

// write is one put(). A record is looked at again after a rotation that it caused, because
// the rotation closed what it was compared with, and it may open a file of its own.
func (s *s3Writer) write(now int64, batch []record) error {
	// With nothing open there is nothing to commit, and the boundary just moves on.
	if s.records == 0 && s.timer.isDue(now) {
		if err := s.timer.reset(now); err != nil {
			return err
		}
	}
	for i := 0; i < len(batch); {
		r := batch[i]
		s.newest = s.timestamp(s.e, now, r)
		if !s.hasBase {
			s.base, s.hasBase = s.newest, true
		}
		partition := s.encoded(r, s.newest, s.location)
		if s.rotateOnTime(partition, now) {
			if err := s.timer.reset(now); err != nil {
				return err
			}
			s.rotate(now)
			continue // the record is looked at once more
		}
		// This one does not move the timer: only rotation for time does.
		if s.MaxOpenFiles > 0 && s.open.get(partition) == nil && int64(len(s.open.order)) == s.MaxOpenFiles {
			s.rotate(now)
			continue
		}
		s.current, s.hasRecord = partition, true
		s.add(partition, r, now)
		i++
		if s.records >= s.FlushSize {
			s.rotate(now)
		}
	}
	// The end of the put, which is also all that an empty put does. The newest record
	// stands for the present: the clock is not asked for the age, which is why idle streams
	// are not rotated.
	if s.records > 0 && s.rotateOnTime(s.current, now) {
		if err := s.timer.reset(now); err != nil {
			return err
		}
		s.rotate(now)
	}
	return nil
}

// rotateOnTime is TopicPartitionWriter.rotateOnTime.
//
// The age is looked at only with a partitioner by time, whatever rotate.interval.ms says;
// the connector passes it over silently.
func (s *s3Writer) rotateOnTime(partition key, now int64) bool {
	if s.records == 0 {
		return false
	}
	periodic := s.RotateInterval > 0 && s.byTime() &&
		(s.newest-s.base >= s.RotateInterval.Milliseconds() || !s.KeepOnPartitionChange && (!s.hasRecord || partition != s.current))
	return periodic || s.timer.isDue(now)
}

// rotate commits all open files. The next record begins a new count of time.
func (s *s3Writer) rotate(now int64) {
	s.commit(now)
	s.hasBase = false
}

// Simulate plays the workload. It fails with [ErrTaskFails] on a day without midnight, and in the last
// hour of a day of 25 hours.
func (p KafkaConnectHDFS) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		return newConnectTask(e, p.ConnectWorker, func(_ int32, now int64) (partitionWriter, error) {
			timer, err := p.schedule(e, now)
			return &hdfsWriter{KafkaConnectHDFS: p, partitionFiles: partitionFiles{e: e}, timer: timer, location: p.zone()}, err
		})
	})
}

// hdfsWriter is one topic partition of the HDFS connector.
//
// The first put of a writer sets the timers (recovered), as TopicPartitionWriter does once
// it has recovered its log; until then no interval runs. Last is lastRotate of the source.
type hdfsWriter struct {
	KafkaConnectHDFS
	partitionFiles
	timer     scheduled
	location  *time.Location
	recovered bool

	last    int64 // what rotate.interval.ms counts from
	hasLast bool
}

// write is one put(). It differs from the S3 connector in that every rotation is looked for
// before a record and none after one: the record that reaches flush.size is committed when
// the next one comes, or at the end of the put, which here is the same instant.
func (h *hdfsWriter) write(now int64, batch []record) error {
	if !h.recovered {
		h.recovered = true
		if err := h.updateTimers(now, nil); err != nil {
			return err
		}
	}
	var current *record
	for i := 0; i < len(batch); {
		current = &batch[i]
		if h.shouldRotate(now, current) {
			if err := h.updateTimers(now, current); err != nil {
				return err
			}
			h.commit(now)
			if h.timer.isDue(now) {
				// TopicPartitionWriter.write goes round without writing the record.
				return fmt.Errorf("%w: the next scheduled rotation is past already, as in the last hour of a day of 25 hours, and put() does not return before midnight", ErrTaskFails)
			}
			continue // the record is looked at once more
		}
		h.add(h.encoded(*current, h.timestamp(h.e, now, *current), h.location), *current, now)
		i++
	}
	if h.records > 0 && h.shouldRotate(now, current) {
		if err := h.updateTimers(now, current); err != nil {
			return err
		}
		h.commit(now)
	}
	return nil
}

// shouldRotate is TopicPartitionWriter.shouldRotateAndMaybeUpdateTimers; there is no
// record at the end of an empty put.
//
// An empty put has no record, so by the time of records it cannot tell an age, and only the
// boundary and the count are left.
func (h *hdfsWriter) shouldRotate(now int64, r *record) bool {
	timestamp, known := h.e.Start+now, true
	if !h.clockRotates() {
		known = r != nil
		if known {
			timestamp = r.event
			if !h.hasLast {
				h.last, h.hasLast = timestamp, true
			}
		}
	}
	periodic := h.RotateInterval > 0 && known && h.hasLast && timestamp-h.last >= h.RotateInterval.Milliseconds()
	return periodic || h.timer.isDue(now) || h.records >= h.FlushSize
}

// updateTimers is TopicPartitionWriter.updateRotationTimers.
//
// Without a clock and without a record there is nothing to count from. Then the next record
// sets it, and the interval that had begun is given up.
func (h *hdfsWriter) updateTimers(now int64, r *record) error {
	switch {
	case h.clockRotates():
		h.last, h.hasLast = h.e.Start+now, true
	case r != nil:
		h.last, h.hasLast = r.event, true
	default:
		h.hasLast = false
	}
	return h.timer.reset(now)
}

// connectWaivers is what the connectors do not promise. They have no checkpoints: a rotation commits.
var connectWaivers = []Waiver{
	{"Visibility", "a rotation commits, without a checkpoint", "kafka-connect-s3 TopicPartitionWriter.commitFiles"},
	{"Restore", "there is no checkpoint to restore; the source goes back to the last committed offset", "Kafka WorkerSinkTask"},
	{"EndOfInput", "a topic has no end, and a stop throws open files away", "kafka-connect-s3 TopicPartitionWriter.close"},
	{"FileCount", "the number of files depends on partitions, schemas and puts", "kafka-connect-s3 TopicPartitionWriter.rotateOnTime"},
	{"Live", "a task that has failed stays down until somebody starts it again", "Kafka WorkerTask"},
}

// Waivers lists what the connector does not promise.
func (p KafkaConnectS3) Waivers() []Waiver {
	list := slices.Clone(connectWaivers)
	if p.RotateScheduleInterval > 0 {
		list = withWaiver(list, Waiver{"NoDuplicate", "scheduled rotation cuts files elsewhere when records come again", "Confluent documentation, S3 sink, exactly-once"})
	}
	if p.WorstLatency(Workload{}).Unbounded {
		list = withWaiver(list, Waiver{"Latency", "an idle stream is not rotated", "confluentinc/kafka-connect-storage-cloud#144"})
	}
	return list
}

// Waivers lists what the connector does not promise.
func (p KafkaConnectHDFS) Waivers() []Waiver {
	list := slices.Clone(connectWaivers)
	list = withWaiver(list, Waiver{"NoLoss", "a rename that fails is not noticed and the offset moves on", "confluentinc/kafka-connect-hdfs#467"})
	list = withWaiver(list, Waiver{"Hidden", "files in +tmp do not begin with a dot or an underscore", "kafka-connect-hdfs HdfsSinkConnectorConstants"})
	list = withWaiver(list, Waiver{"Surfaced", "the result of a rename is not looked at", "kafka-connect-hdfs HdfsStorage"})
	if p.WorstLatency(Workload{}).Unbounded {
		list = withWaiver(list, Waiver{"Latency", "an idle stream is not rotated, and each restart starts the timers anew", "confluentinc/kafka-connect-hdfs#329"})
	}
	return list
}
