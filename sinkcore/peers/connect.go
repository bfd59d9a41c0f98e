package peers

import (
	"cmp"
	"slices"
	"time"
)

// ConnectWorker is what the runtime of Kafka Connect decides, embedded in the peers that run
// in it (org.apache.kafka.connect.runtime.WorkerSinkTask). A task gets records with put() as soon as
// there are some. If none come it waits until the next commit of offsets is due, gets an empty
// put(), and then the commit: so whatever a connector does in put() it does at most
// offset.flush.interval.ms late on an idle stream. A put() goes to all topic partitions of the
// task. The interval counts from the start of the task.
//
// A topic partition is a Workload's subtask; they are dealt out to the tasks in turn.
//
// That the poll waits for the next commit of offsets and no longer is in
// WorkerSinkTask.iteration: the timeout is the time that is left until then. It is the
// reason why a timer of a connector that is only looked at in put() can be 60 s late when
// nobody sends anything, which users have reported as rotation that does not happen
// (confluentinc/kafka-connect-storage-cloud#144 and #195).
//
// Left out are retries, errors.tolerance, pauses of a partition by the connector
// (SinkTaskContext.pause) and rebalances, except for that an outage starts everything anew.
// The number of tasks decides only which partitions share a put().
type ConnectWorker struct {
	OffsetFlushInterval time.Duration // offset.flush.interval.ms of the worker; 0 means 60 s
	Tasks               int64         // tasks.max; 0 means 1
}

const workerSource = "Kafka WorkerConfig, ConnectorConfig"

func (c *ConnectWorker) options() []option {
	return []option{
		milliseconds("offset.flush.interval.ms", &c.OffsetFlushInterval, "60000", "offsets are committed so often, and put() is called at least so often, ms", workerSource),
		integer("tasks.max", &c.Tasks, "1", "topic partitions are dealt out to so many tasks", workerSource),
	}
}

func (c ConnectWorker) flush() time.Duration { return cmp.Or(c.OffsetFlushInterval, time.Minute) }

func (c ConnectWorker) validate(peer string) error {
	if c.Tasks < 0 {
		return refuse(peer, "tasks.max", "", "Kafka ConnectorConfig", "must be at least 1")
	}
	return wholeMillis(peer, timeField{"offset.flush.interval.ms", c.OffsetFlushInterval})
}

// partitionWriter is what a connector does for one topic partition. The files of one of them are
// committed together.
//
// Connectors count and rotate by topic partition, because that is what has an offset to go
// back to. So this, and not a file, is the unit here.
type partitionWriter interface {
	// write is a put(): the records of the partition in it, or none.
	write(now int64, batch []record) error
	// commitOffsets is the commit that the worker does after the put.
	commitOffsets(now int64)
	// files is what is open.
	files() *fileSet
}

// connectTask is the tasks of a connector with all their topic partitions. Its outages are
// those of all workers: open files are thrown away, the source goes back to the end of the
// last file that was committed, and the writers begin anew with all their timers.
type connectTask struct {
	e        *engine
	worker   ConnectWorker
	start    func(partition int32, now int64) (partitionWriter, error)
	writers  []partitionWriter
	batches  [][]record // of a put, by partition
	commitAt int64
	failed   error // of a restart
}

// newConnectTask starts all writers at the start of the workload. It fails where a
// connector fails in its start, as scheduled rotation does on a day without midnight.
func newConnectTask(e *engine, worker ConnectWorker, start func(partition int32, now int64) (partitionWriter, error)) (*connectTask, error) {
	t := &connectTask{e: e, worker: worker, start: start, batches: make([][]record, e.Subtasks)}
	return t, t.begins(0)
}

// begins starts every writer.
func (t *connectTask) begins(now int64) error {
	t.commitAt = now + t.worker.flush().Milliseconds()
	t.writers = t.writers[:0]
	for partition := range t.e.Subtasks {
		w, err := t.start(int32(partition), now)
		if err != nil {
			return err
		}
		t.writers = append(t.writers, w)
	}
	return nil
}

// put is a put() of each task that has a record.
//
// A task whose partitions have no record in it is not called; one that is called passes an
// empty batch to its other partitions, since the connectors look at the timers of all of
// them.
func (t *connectTask) put(now int64, batch []record) error {
	if t.failed != nil {
		return t.failed
	}
	tasks := int32(cmp.Or(t.worker.Tasks, 1))
	for i := range t.batches {
		t.batches[i] = t.batches[i][:0]
	}
	called := map[int32]bool{}
	for _, r := range batch {
		t.batches[r.subtask] = append(t.batches[r.subtask], r)
		if len(t.writers) > 1 {
			called[r.subtask%tasks] = true
		}
	}
	for i, w := range t.writers {
		// With one writer the map need not be filled: the batch is its own.
		if len(t.writers) > 1 && !called[int32(i)%tasks] {
			continue
		}
		if err := w.write(now, t.batches[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *connectTask) next() int64 { return t.commitAt }

// wake is the empty put() that ends a poll when a commit is due, and the commit.
//
// A commit of offsets comes after the put and for all partitions, so that a connector which
// writes in flush() sees what the put brought. The next one is counted from this one.
func (t *connectTask) wake(now int64) error {
	if t.failed != nil {
		return t.failed
	}
	for _, w := range t.writers {
		if err := w.write(now, nil); err != nil {
			return err
		}
	}
	for _, w := range t.writers {
		w.commitOffsets(now)
	}
	t.commitAt = now + t.worker.flush().Milliseconds()
	return nil
}

// Kafka Connect has no checkpoints; what stands for them is the commit of offsets in wake.
func (t *connectTask) begin(int64)    {}
func (t *connectTask) complete(int64) {}

// restart is a start of all tasks after a failure. A record that sits in an open file was
// not committed, so its offset was not either, and the source sends it again from there.
func (t *connectTask) restart(now int64) []record {
	files := t.e.interrupted()
	for _, w := range t.writers {
		open := w.files().takeAll()
		t.e.closed(len(open))
		files = append(files, open...)
	}
	t.failed = t.begins(now)
	return t.e.records(files)
}

func (t *connectTask) hidden(visit func(*file)) {
	for _, w := range t.writers {
		for _, f := range w.files().order {
			visit(f)
		}
	}
}

// Partitioner is how the connectors of Confluent divide records, embedded in their peers
// (io.confluent.connect.storage.partitioner). The buckets of a workload are the field or
// the topic; a partitioner by time divides each of them further by the record's timestamp.
//
// FieldPartitioner and DefaultPartitioner differ in what a bucket is called and not in what
// is rotated, so both leave the division to the workload's buckets. PathFormat and Locale
// make names only, and are here because a configuration without them is refused.
type Partitioner struct {
	Class             string        // partitioner.class, without its package; "" means DefaultPartitioner
	PartitionDuration time.Duration // partition.duration.ms; required by TimeBasedPartitioner
	PathFormat        string        // path.format; required by TimeBasedPartitioner, without effect here
	Locale            string        // locale; required by all that divide by time, without effect here
	Timezone          string        // timezone; required by all that divide by time, and by scheduled rotation
	Extractor         string        // timestamp.extractor; "" means Wallclock, the time at which put() is called
}

const partitionerSource = "kafka-connect-storage-common PartitionerConfig"

var (
	partitionerClasses = []string{"DefaultPartitioner", "FieldPartitioner", "TimeBasedPartitioner", "HourlyPartitioner", "DailyPartitioner"}
	extractors         = []string{"Wallclock", "Record", "RecordField"}
)

func (p *Partitioner) options() []option {
	return []option{
		choice("partitioner.class", &p.Class, partitionerClasses, "how records are divided; the package name may be left out", partitionerSource),
		milliseconds("partition.duration.ms", &p.PartitionDuration, "-1", "the time that a partition of TimeBasedPartitioner spans, ms", partitionerSource),
		text("path.format", &p.PathFormat, "", "the name of a partition by time", partitionerSource),
		text("locale", &p.Locale, "", "the language of the name", partitionerSource),
		text("timezone", &p.Timezone, "", "the zone of partitions by time and of scheduled rotation", partitionerSource),
		choice("timestamp.extractor", &p.Extractor, extractors, "whose clock says how old a record is", partitionerSource),
	}
}

// duration is the time that a partition spans; 0 means that time divides nothing.
func (p Partitioner) duration() time.Duration {
	switch p.Class {
	case "TimeBasedPartitioner":
		return p.PartitionDuration
	case "HourlyPartitioner":
		return time.Hour
	case "DailyPartitioner":
		return 24 * time.Hour
	}
	return 0
}

// byTime says whether the partitioner is a TimeBasedPartitioner, as Hourly and Daily are.
func (p Partitioner) byTime() bool {
	return slices.Contains([]string{"TimeBasedPartitioner", "HourlyPartitioner", "DailyPartitioner"}, p.Class)
}

// wallclock says whether the extractor takes the time of the put.
//
// Wallclock is the default of the extractors, so a partitioner by time that is not told
// otherwise puts old records into the hour in which they are delivered.
func (p Partitioner) wallclock() bool { return p.Extractor == "" || p.Extractor == "Wallclock" }

// validate refuses what TimeBasedPartitioner.configure refuses.
func (p Partitioner) validate(peer string) error {
	if err := validChoice(peer, "partitioner.class", p.Class, partitionerClasses, partitionerSource); err != nil {
		return err
	}
	if err := validChoice(peer, "timestamp.extractor", p.Extractor, extractors, partitionerSource); err != nil {
		return err
	}
	if _, ok := zoneOf(p.Timezone); p.Timezone != "" && !ok {
		return refuse(peer, "timezone", p.Timezone, "Joda DateTimeZone.forID", "want a name of the time zone database, such as UTC or Europe/Berlin")
	}
	if !p.byTime() {
		return nil
	}
	const source = "kafka-connect-storage-common TimeBasedPartitioner.configure"
	switch {
	case p.Class == "TimeBasedPartitioner" && p.PartitionDuration < time.Millisecond:
		return refuse(peer, "partition.duration.ms", "", source, "must be positive for %s", p.Class)
	case p.Class == "TimeBasedPartitioner" && p.PathFormat == "":
		return refuse(peer, "path.format", "", source, "is required for %s", p.Class)
	case p.Locale == "":
		return refuse(peer, "locale", "", source, "is required for %s", p.Class)
	case p.Timezone == "":
		return refuse(peer, "timezone", "", source, "is required for %s", p.Class)
	}
	return nil
}

// timestamp is what the extractor says of a record that is put now.
//
// Record takes the timestamp of the Kafka record and RecordField one of its fields. Both
// are the event time here, because a record has one time of its own.
func (p Partitioner) timestamp(e *engine, now int64, r record) int64 {
	if p.wallclock() {
		return e.Start + now
	}
	return r.event
}

// encoded is the partition of a record with a timestamp: the local time, cut to the duration
// (TimeBasedPartitioner.getPartition).
//
// The slot is a number and not the formatted path: two instants have the same path if and
// only if they have the same number, as long as path.format is as fine as the duration. A
// coarser format, which would put several durations into one directory, is left out.
func (p Partitioner) encoded(r record, timestamp int64, zone *time.Location) key {
	k := key{subtask: r.subtask, bucket: r.bucket}
	if span := p.duration().Milliseconds(); span > 0 {
		_, offset := time.UnixMilli(timestamp).In(zone).Zone()
		k.slot = (timestamp + int64(offset)*1000) / span
	}
	return k
}

// partitionFiles is the open files of a topic partition.
//
// The connector keeps a file for each encoded partition of a topic partition, so the number
// of files that a rotation makes is the number of partitions that had a record since the
// last one.
type partitionFiles struct {
	e       *engine
	open    fileSet
	records int64 // in them
}

func (p *partitionFiles) files() *fileSet { return &p.open }

// commitOffsets tells the worker an offset that is committed already.
func (p *partitionFiles) commitOffsets(int64) {}

// add writes a record.
func (p *partitionFiles) add(k key, r record, now int64) {
	f := p.open.get(k)
	if f == nil {
		f = p.e.newFile(k, now)
		p.open.put(f)
	}
	p.e.add(f, r, now)
	p.records++
}

// commit commits every open file: a rotation is one of the topic partition.
//
// All of them are uploaded at the same time here; a connector uploads one after the other,
// so with many open files the last is visible later than the model says.
func (p *partitionFiles) commit(now int64) {
	files := p.open.takeAll()
	p.e.closed(len(files))
	for _, f := range files {
		p.e.upload(now, f)
	}
	p.records = 0
}

// scheduled is the timer of rotate.schedule.interval.ms; off if the interval is not positive.
//
// It holds an instant of the wall clock and not a distance, because where its boundaries
// are depends on midnight.
type scheduled struct {
	e        *engine
	interval int64
	zone     *time.Location
	at       int64 // milliseconds since 1970
}

// isDue says whether the timer has passed.
func (s *scheduled) isDue(now int64) bool { return s.interval > 0 && s.e.Start+now >= s.at }

// reset sets the timer to the next boundary.
func (s *scheduled) reset(now int64) (err error) {
	if s.interval > 0 {
		s.at, err = nextRotation(s.e.Start+now, s.interval, s.zone)
	}
	return err
}
