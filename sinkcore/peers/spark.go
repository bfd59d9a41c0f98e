package peers

import (
	"time"
)

// Spark is the file sink of Spark Structured Streaming (FileStreamSink, TriggerExecutor).
// Micro-batches start at whole multiples of the trigger since 1970, each with all that
// arrived before; one that takes longer than the interval, or exactly as long, delays the
// next to the first multiple after its end. Without a trigger, batches follow each other, and
// when there is nothing the source is asked again after 10 ms
// (spark.sql.streaming.pollingDelay). CommitDuration is the duration of a batch. Its files,
// one for each task and directory with a record, are visible with the entry in _spark_metadata
// at its end, to readers who look there.
//
// After an outage the batch that was under way is run again with the same records, and
// otherwise a batch starts at once; nothing is sent twice.
//
// The rules are from ProcessingTimeExecutor and MicroBatchExecution. A task is a Subtask
// here; Spark deals records to tasks by source partition. maxFilesPerTrigger and other
// limits of a source, Trigger.AvailableNow and continuous processing are left out. A reader
// that lists the directory, as most that are not Spark do, sees files earlier than this
// says.
//
// A trigger of 60 s and batches of 1 s: up to 61 s, and 60 batches an hour. If a batch
// takes 60 s, the next boundary is just over when it ends, so batches start every 120 s.
type Spark struct {
	ProcessingTime time.Duration // trigger(processingTime=…); 0 is back to back, as by default
}

func (p *Spark) options() []option {
	return []option{duration("processingTime", &p.ProcessingTime, "0", "batches start at multiples of it", "Spark Trigger.ProcessingTime")}
}

// Name gives "spark".
func (Spark) Name() string { return "spark" }

// String gives the words that [Parse] reads.
func (p Spark) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p Spark) Options() []Option { return describe(p.options()) }

// Validate refuses a negative interval (ProcessingTimeTrigger requires one that is not).
func (p Spark) Validate() error {
	return wholeMillis(p.Name(), timeField{"processingTime", p.ProcessingTime})
}

// sparkPoll is spark.sql.streaming.pollingDelay.
const sparkPoll = 10 * time.Millisecond

// WorstLatency is the time from one start to the next, and a batch: the worst record comes just
// after a start. Starts are a trigger apart if a batch takes less, and otherwise as many
// triggers as begin while it runs. Back to back it is two batches.
//
// Under a trigger: a record that comes in the millisecond after a start is in the next
// batch, which starts a whole distance later, and is seen when that ends. The distance is
// the smallest multiple of the trigger that is larger than a batch, since a batch that ends
// at a boundary has missed it.
//
// Back to back: the record waits for the batch under way to end, and for its own. If
// batches take less than the 10 ms of the poll, it waits for the poll instead.
func (p Spark) WorstLatency(w Workload) Bound {
	if p.ProcessingTime == 0 {
		return Bound{Worst: max(w.CommitDuration, sparkPoll) + w.CommitDuration, Tight: true, Reason: "the batch under way, or the pause before the source is asked again, and the next batch"}
	}
	return Bound{Worst: p.between(w) + w.CommitDuration, Tight: true, Reason: "the time from one start of a batch to the next, and the batch"}
}

// between is the time from one start to the next under a trigger.
func (p Spark) between(w Workload) time.Duration {
	return (w.CommitDuration/p.ProcessingTime + 1) * p.ProcessingTime
}

// Predict is the bound, and a file for each batch.
//
// With records rarer than batches some batches are empty, and back to back the length of
// each depends on what arrived; neither has a short form.
func (p Spark) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || p.ProcessingTime == 0 || r.gap > p.between(w) {
		return Prediction{}, false
	}
	every := p.between(w)
	return r.predict(every+r.CommitDuration, r.gap, every), true
}

// Simulate plays the workload.
func (p Spark) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		return &sparkQuery{e: e, trigger: p.ProcessingTime.Milliseconds(), duration: e.CommitDuration.Milliseconds()}, nil
	})
}

// sparkQuery is a streaming query.
//
// Only one of running and start matters: while a batch runs, the next start is not known
// yet.
type sparkQuery struct {
	e                 *engine
	trigger, duration int64
	waiting           fileSet // what the next batch will write
	running           []*file // what the batch under way writes
	ends              int64   // when it ends
	start             int64   // when the next one starts
	anew              bool    // the query has just been started, and its first batch is still to come
}

// put keeps records for the next batch. A file stands for what one task will write to one
// directory, from its first record on, although Spark writes it only during the batch.
func (q *sparkQuery) put(now int64, batch []record) error {
	if len(q.running) == 0 && q.start <= now && !q.anew {
		// Starts at which there was nothing to do were passed over.
		if q.trigger > 0 {
			q.start = q.boundary(now)
		} else {
			poll := sparkPoll.Milliseconds()
			q.start += ((now-q.start)/poll + 1) * poll
		}
	}
	for _, r := range batch {
		k := key{subtask: r.subtask, bucket: r.bucket}
		f := q.waiting.get(k)
		if f == nil {
			f = q.e.newFile(k, now)
			q.waiting.put(f)
		}
		q.e.add(f, r, now)
	}
	return nil
}

// boundary is the multiple of the trigger after an instant (ProcessingTimeExecutor.nextBatchTime).
func (q *sparkQuery) boundary(now int64) int64 {
	return (q.e.Start+now)/q.trigger*q.trigger + q.trigger - q.e.Start
}

func (q *sparkQuery) next() int64 {
	switch {
	case len(q.running) > 0:
		return q.ends
	case len(q.waiting.order) > 0:
		return q.start
	}
	return never
}

func (q *sparkQuery) wake(now int64) error {
	q.anew = false
	if len(q.running) == 0 {
		q.running = q.waiting.takeAll()
		q.e.closed(len(q.running))
		q.ends = now + q.duration
	}
	if now < q.ends {
		return nil
	}
	q.e.publish(now, q.running...)
	q.running = nil
	q.start = now
	if q.trigger > 0 {
		q.start = q.boundary(now)
	}
	return nil
}

func (q *sparkQuery) begin(int64)    {}
func (q *sparkQuery) complete(int64) {}

// A batch that was running is planned again from the offset log, with the same records.
func (q *sparkQuery) restart(now int64) []record {
	q.start, q.ends, q.anew = now, now+q.duration, true
	return nil
}

func (q *sparkQuery) hidden(visit func(*file)) {
	for _, f := range q.waiting.order {
		visit(f)
	}
	for _, f := range q.running {
		visit(f)
	}
}

// Waivers lists what readers of the directory see.
func (Spark) Waivers() []Waiver {
	return []Waiver{
		{"Visibility", "files have their final names before the entry in _spark_metadata; only readers of that do not see them", "Spark ManifestFileCommitProtocol"},
		{"NoDuplicate", "a batch that is run again writes files of other names beside those of the first run", "SPARK-25331"},
		{"Restore", "only the newest batch can be gone on from", "Spark FileStreamSinkLog"},
		{"EndOfInput", "a query that is stopped leaves records for the next start", "Spark StreamingQuery.stop"},
		{"FileCount", "a file for each task and directory of a batch", "Spark FileFormatWriter"},
		{"Hidden", "files are written under their final names", "Spark ManifestFileCommitProtocol"},
		{"Durable", "nothing is fsynced", "Spark ManifestFileCommitProtocol"},
		{"Orphans", "files of failed attempts stay", "SPARK-25331"},
	}
}
