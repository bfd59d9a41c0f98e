package peers

import (
	"cmp"
	"math"
	"time"
)

// FluentdFile is out_file of Fluentd with a file buffer (lib/fluent/plugin/output.rb,
// buffer.rb, out_file.rb). Records are collected in chunks, one for each timekey of
// the record's own time and each bucket. A chunk is put into a queue
//
//   - after a record, if it has chunk_full_threshold of chunk_limit_size, and before one with which
//     it would exceed chunk_limit_size;
//   - by a check, if timekey and timekey_wait are over: key + timekey + timekey_wait <= now;
//   - by a check in flush_mode interval, if it is flush_interval old;
//   - at once in flush_mode immediate.
//
// Clocks are compared in whole seconds, and timekeys are multiples of timekey since 1970 (UTC). The
// time from one check to the next is the eleventh part of flush_interval, or of the smaller of timekey
// and timekey_wait, but at least flush_thread_interval. A thread takes one chunk at a time from the
// queue and makes a file of it: flush_thread_interval after it found the queue empty,
// flush_thread_burst_interval after a chunk if there are more, and at once if a record
// arrives while something is queued. With a CommitDuration it goes on with the next one meanwhile.
//
// Chunks survive an outage; nothing is sent twice.
//
// With the defaults, a record of a stream that brings 1 kB/s is seen up to 24 h 11 min
// after it arrived: the chunk of its day is due ten minutes after midnight, the next check
// is up to 54.5 s later, and the thread up to a second. A stream of 1 MB/s fills 95 % of
// 256 MiB every 255 s.
//
// The rules are from Output (configure, enqueue_thread_run, flush_thread_run,
// emit_buffered) and Buffer (write, enqueue_all). TimekeyWait is a pointer because 0 means
// not to wait for late records. Left out are retries and their back-off, overflow_action,
// compression, flush_thread_count above one, append, and chunk keys other than time and one
// tag or field, which is the workload's bucket. timekey_use_utc=false moves only where a
// day begins.
type FluentdFile struct {
	ChunkKeys           string         // <buffer …>: "time" divides by time, "none" does not; "" means time
	Timekey             time.Duration  // timekey; 0 means a day
	TimekeyWait         *time.Duration // timekey_wait; nil means 10 min
	FlushMode           string         // flush_mode; "" means default: lazy with time, interval without
	FlushInterval       time.Duration  // flush_interval; 0 means 60 s
	ChunkLimitSize      int64          // chunk_limit_size; 0 means 256 MiB
	ChunkFullThreshold  float64        // chunk_full_threshold; 0 means 0.95
	FlushThreadInterval time.Duration  // flush_thread_interval; 0 means 1 s
	BurstInterval       time.Duration  // flush_thread_burst_interval; 0 means 1 s
}

const fluentdSource = "fluentd lib/fluent/plugin/output.rb"

var (
	fluentdKeys  = []string{"time", "none"}
	fluentdModes = []string{"default", "lazy", "interval", "immediate"}
)

func (p *FluentdFile) options() []option {
	return []option{
		choice("chunk_keys", &p.ChunkKeys, fluentdKeys, "whether chunks are divided by the time of records", "fluentd lib/fluent/plugin/out_file.rb"),
		duration("timekey", &p.Timekey, "1d", "the time that a chunk spans", "fluentd lib/fluent/plugin/out_file.rb"),
		optionalDuration("timekey_wait", &p.TimekeyWait, "10min", "how long late records are waited for", fluentdSource),
		choice("flush_mode", &p.FlushMode, fluentdModes, "when chunks are queued", fluentdSource),
		duration("flush_interval", &p.FlushInterval, "1min", "age at which a chunk is queued in flush_mode interval", fluentdSource),
		byteSize("chunk_limit_size", &p.ChunkLimitSize, "268435456", "bytes that a chunk may have", "fluentd lib/fluent/plugin/buf_file.rb"),
		number("chunk_full_threshold", &p.ChunkFullThreshold, "0.95", "share of them at which a chunk is queued", "fluentd lib/fluent/plugin/buffer.rb"),
		duration("flush_thread_interval", &p.FlushThreadInterval, "1s", "how often the queue is looked at", fluentdSource),
		duration("flush_thread_burst_interval", &p.BurstInterval, "1s", "pause between two chunks of the queue", fluentdSource),
	}
}

// Name gives "fluentd-file".
func (FluentdFile) Name() string { return "fluentd-file" }

// String gives the words that [Parse] reads.
func (p FluentdFile) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p FluentdFile) Options() []Option { return describe(p.options()) }

// Validate refuses what Output.configure refuses: a flush_interval with another flush_mode that
// was asked for; and values that are out of range.
func (p FluentdFile) Validate() error {
	if err := validChoice(p.Name(), "chunk_keys", p.ChunkKeys, fluentdKeys, fluentdSource); err != nil {
		return err
	}
	if err := validChoice(p.Name(), "flush_mode", p.FlushMode, fluentdModes, fluentdSource); err != nil {
		return err
	}
	if p.FlushInterval != 0 && (p.FlushMode == "lazy" || p.FlushMode == "immediate") {
		return refuse(p.Name(), "flush_interval", formatDuration(p.FlushInterval), fluentdSource+" configure", "can't be specified when flush_mode is not interval")
	}
	if p.ChunkLimitSize < 0 || p.ChunkFullThreshold < 0 || p.ChunkFullThreshold > 1 {
		return refuse(p.Name(), "chunk_full_threshold", "", "fluentd lib/fluent/plugin/buffer.rb", "must be between 0 and 1, and chunk_limit_size not negative")
	}
	wait := time.Duration(0)
	if p.TimekeyWait != nil {
		wait = *p.TimekeyWait
	}
	if p.Timekey%time.Second != 0 {
		return refuse(p.Name(), "timekey", p.Timekey.String(), fluentdSource, "must be whole seconds")
	}
	return wholeMillis(p.Name(), timeField{"timekey", p.Timekey}, timeField{"timekey_wait", wait}, timeField{"flush_interval", p.FlushInterval},
		timeField{"flush_thread_interval", p.FlushThreadInterval}, timeField{"flush_thread_burst_interval", p.BurstInterval})
}

// byTime says whether time is a chunk key.
func (p FluentdFile) byTime() bool { return p.ChunkKeys != "none" }

// mode is the flush mode that default stands for.
func (p FluentdFile) mode() string {
	if p.FlushMode != "" && p.FlushMode != "default" {
		return p.FlushMode
	}
	if p.byTime() {
		return "lazy"
	}
	return "interval"
}

func (p FluentdFile) timekey() time.Duration { return cmp.Or(p.Timekey, 24*time.Hour) }
func (p FluentdFile) wait() time.Duration {
	if p.TimekeyWait == nil {
		return 10 * time.Minute
	}
	return *p.TimekeyWait
}
func (p FluentdFile) interval() time.Duration { return cmp.Or(p.FlushInterval, time.Minute) }
func (p FluentdFile) limit() int64            { return cmp.Or(p.ChunkLimitSize, 256<<20) }
func (p FluentdFile) thread() time.Duration   { return cmp.Or(p.FlushThreadInterval, time.Second) }
func (p FluentdFile) burst() time.Duration    { return cmp.Or(p.BurstInterval, time.Second) }

// full is the number of bytes at which a chunk is queued.
func (p FluentdFile) full() int64 {
	return int64(math.Ceil(float64(p.limit()) * cmp.Or(p.ChunkFullThreshold, 0.95)))
}

// check is the time from one check to the next, in milliseconds, or 0 if nothing is checked
// (Output.enqueue_thread_run).
//
// It is a fraction because Fluentd adds it up as one: 60 s / 11 is 5454.54… ms. The unit is
// the shortest of the times that apply, so there are about eleven checks in it.
func (p FluentdFile) check() float64 {
	unit := time.Duration(0)
	if p.mode() == "interval" {
		unit = p.interval()
	}
	if p.byTime() && (unit == 0 || p.timekey() < unit) {
		unit = min(p.timekey(), p.wait())
	} else if unit == 0 {
		return 0
	}
	return math.Max(float64(unit.Milliseconds())/11, float64(p.thread().Milliseconds()))
}

// WorstLatency is for records that are stamped when they arrive: late ones find chunks of their
// own and may queue behind each other. A chunk is due at the end of its timekey and the
// wait, or of its interval, and the next check queues it. The thread comes to it behind all
// chunks that can be there at once: each record brings one chunk at most and, if there is a
// queue, has one written, so that there are never more than were staged before the first of them
// was due.
//
// The sum, one by one: the record is the first of its timekey, so it waits for the whole of
// it and for the wait, or for its flush_interval; clocks are cut to seconds, which costs
// one; a check has just passed, which costs one more check, rounded up, and a millisecond;
// the thread has just looked, which costs flush_thread_interval; and it pauses for
// flush_thread_burst_interval after each chunk in front. There are three chunks of a bucket
// in front at most, and one for each further timekey that begins while an old one is waited
// for. With the defaults that is 24 h 10 min 59.547 s.
func (p FluentdFile) WorstLatency(w Workload) Bound {
	due, reason := time.Duration(math.MaxInt64), ""
	if p.mode() == "immediate" || p.full() <= 1 {
		return Bound{Worst: w.CommitDuration, Tight: true, Reason: "every record is queued, and written by the thread that it wakes"}
	}
	if p.byTime() {
		due, reason = p.timekey()+p.wait(), "timekey and timekey_wait"
	}
	if p.mode() == "interval" && p.interval() < due {
		due, reason = p.interval(), "flush_interval"
	}
	if reason == "" {
		return unbounded("in flush_mode lazy without time as a chunk key only size queues a chunk", oneRecord(w))
	}
	check := time.Duration(math.Ceil(p.check())+1) * time.Millisecond
	chunks := time.Duration(max(w.filled().Buckets, 1)) * ((p.wait()+check)/p.timekey() + 3)
	return Bound{Worst: due + time.Second + check + p.thread() + chunks*p.burst() + w.CommitDuration,
		Reason: reason + ", the next check, the flush thread with a pause for each chunk of a bucket, and the write"}
}

// Predict is the time until a chunk is full, as long as the workload stays within one timekey; or a
// timekey with its wait, if no chunk is full in that time.
func (p FluentdFile) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || p.mode() != "lazy" || !p.byTime() || r.gap > p.thread() {
		return Prediction{}, false
	}
	n := math.Ceil(float64(p.full()) / r.size)
	last := r.gap // the record that fills a chunk has it written
	if n*r.size > float64(p.limit()) {
		// One that would exceed the limit has the chunk before it written.
		n, last = math.Max(math.Floor(float64(p.limit())/r.size), 1), 0
	}
	full := time.Duration(math.Min(n*float64(r.gap), math.MaxInt64/4))
	slack := p.thread() + r.gap + time.Millisecond
	if within := time.Duration(r.Start)*time.Millisecond%p.timekey() + r.Duration; full < p.timekey() && within <= p.timekey() {
		return r.predict(full-last+r.CommitDuration, slack, full), true
	}
	if full <= p.timekey()+r.gap {
		return Prediction{}, false // the last chunk of a timekey is not full and waits for its end
	}
	late := time.Duration(math.Ceil(p.check())) * time.Millisecond
	return r.predict(p.timekey()+p.wait()+late+p.thread()+r.CommitDuration, late+slack, p.timekey()), true
}

// Simulate plays the workload.
func (p FluentdFile) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := &fluentd{FluentdFile: p, e: e, every: p.check(), workers: make([]fluentdWorker, e.Subtasks)}
		m.begins(0)
		return m, nil
	})
}

// fluentd is an output with its workers, each with a buffer and threads of its own.
//
// Checks is a count and not an instant, so that the fractions do not add up to an error:
// the n-th check is at n times the distance, rounded once.
type fluentd struct {
	FluentdFile
	e       *engine
	every   float64 // from one check to the next
	started int64
	checks  float64 // since it started
	workers []fluentdWorker
}

// fluentdWorker has the two places in which a chunk can be: staged while it grows, then
// queued.
type fluentdWorker struct {
	staged fileSet
	queue  []*file
	flush  int64 // when the thread looks at the queue next
}

func (m *fluentd) begins(now int64) {
	m.started, m.checks = now, 0
	for i := range m.workers {
		m.workers[i].flush = now + m.thread().Milliseconds()
	}
}

// seconds is the wall clock in whole seconds.
func (m *fluentd) seconds(now int64) int64 { return (m.e.Start + now) / 1000 }

func (m *fluentd) put(now int64, batch []record) error {
	if m.every > 0 {
		m.skipChecks(now + 1) // a check of this instant came before the records and found nothing
	}
	size := int64(m.e.RecordSize)
	for _, r := range batch {
		w := &m.workers[r.subtask]
		k := key{subtask: r.subtask, bucket: r.bucket}
		if m.byTime() {
			unit := int64(m.timekey() / time.Second)
			k.slot = r.event / 1000 / unit * unit
		}
		f := w.staged.get(k)
		if f != nil && f.info.Size+size > m.limit() {
			m.enqueue(w, now, func(g *file) bool { return g == f })
			f = nil
		}
		if f == nil {
			f = m.e.newFile(k, now)
			w.staged.put(f)
		}
		m.e.add(f, r, now)
		if f.info.Size >= m.full() || m.mode() == "immediate" {
			m.enqueue(w, now, func(g *file) bool { return g == f })
		}
		if len(w.queue) > 0 {
			m.flush(w, now) // Output.emit_buffered wakes the thread
		}
	}
	return nil
}

// enqueue moves chunks to the queue. A thread that looked at an empty queue until now looks
// at it at its next time.
//
// The thread's rounds at an empty queue are not played one by one: they have no effect but
// on when the next one is, and that is computed here.
func (m *fluentd) enqueue(w *fluentdWorker, now int64, pick func(*file) bool) {
	chunks := w.staged.take(pick)
	m.e.closed(len(chunks))
	if len(w.queue) == 0 && len(chunks) > 0 && w.flush < now {
		every := m.thread().Milliseconds()
		w.flush += (now - w.flush + every - 1) / every * every
	}
	w.queue = append(w.queue, chunks...)
}

// flush is one round of the thread.
func (m *fluentd) flush(w *fluentdWorker, now int64) {
	m.e.upload(now, w.queue[0])
	w.queue = w.queue[1:]
	w.flush = now + m.thread().Milliseconds()
	if len(w.queue) > 0 {
		w.flush = now + m.burst().Milliseconds()
	}
}

// checkAt is when the next check is.
func (m *fluentd) checkAt() int64 { return m.started + int64(math.Round(m.checks*m.every)) }

func (m *fluentd) next() int64 {
	soonest := never
	for i := range m.workers {
		w := &m.workers[i]
		if len(w.queue) > 0 {
			soonest = min(soonest, w.flush)
		}
		if len(w.staged.order) > 0 && m.every > 0 {
			m.skipChecks(m.e.now)
			soonest = min(soonest, m.checkAt())
		}
	}
	return soonest
}

// skipChecks passes over checks before an instant, which found nothing staged.
func (m *fluentd) skipChecks(until int64) {
	if behind := float64(until-m.started)/m.every - 1; m.checks < behind {
		m.checks = math.Floor(behind)
	}
	for m.checkAt() < until {
		m.checks++
	}
}

func (m *fluentd) wake(now int64) error {
	if m.every > 0 && m.checkAt() <= now {
		m.checks++
		for i := range m.workers {
			m.enqueue(&m.workers[i], now, func(f *file) bool { return m.isDue(f, now) })
		}
	}
	for i := range m.workers {
		if w := &m.workers[i]; len(w.queue) > 0 && w.flush <= now {
			m.flush(w, now)
		}
	}
	return nil
}

// isDue is what a check asks of a chunk.
//
// A chunk of a timekey that is not over is never due for time, whatever the wait; the
// comparison of the key with the present one says so.
func (m *fluentd) isDue(f *file, now int64) bool {
	seconds := m.seconds(now)
	if m.mode() == "interval" && m.seconds(f.info.CreationTime)+int64(m.interval()/time.Second) <= seconds {
		return true
	}
	if !m.byTime() {
		return false
	}
	unit, wait := int64(m.timekey()/time.Second), int64(m.wait()/time.Second)
	return f.key.slot < seconds-seconds%unit && f.key.slot+unit+wait <= seconds
}

func (m *fluentd) begin(int64)    {}
func (m *fluentd) complete(int64) {}

// restart takes back what was being written.
//
// Chunks are in a file buffer, which is read again at the start. A buffer in memory
// would have lost them; it is left out.
func (m *fluentd) restart(now int64) []record {
	for _, f := range m.e.interrupted() {
		w := &m.workers[f.key.subtask]
		w.queue = append([]*file{f}, w.queue...)
	}
	m.begins(now)
	return nil
}

func (m *fluentd) hidden(visit func(*file)) {
	for _, w := range m.workers {
		for _, f := range w.staged.order {
			visit(f)
		}
		for _, f := range w.queue {
			visit(f)
		}
	}
}

// Waivers lists what an at-least-once output without checkpoints does not promise.
func (p FluentdFile) Waivers() []Waiver {
	list := []Waiver{
		{"Visibility", "there are no checkpoints", "Fluentd documentation, output plugins"},
		{"NoDuplicate", "at least once: a chunk that was written and not purged is written again", "Fluentd documentation, buffer plugins"},
		{"Immutable", "a file grows while its chunk is written to it", "fluentd lib/fluent/plugin/out_file.rb write"},
		{"Restore", "there is no checkpoint to restore", "Fluentd documentation, buffer plugins"},
		{"FileCount", "a file for each chunk", "fluentd lib/fluent/plugin/out_file.rb"},
		{"Hidden", "a file has its final name while its chunk is written to it", "fluentd lib/fluent/plugin/out_file.rb write"},
		{"Durable", "nothing is fsynced", "fluentd lib/fluent/plugin/out_file.rb write"},
	}
	if p.WorstLatency(Workload{}).Unbounded {
		list = withWaiver(list, Waiver{"Latency", "only size queues a chunk", fluentdSource})
	}
	return list
}
