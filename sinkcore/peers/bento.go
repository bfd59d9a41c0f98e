package peers

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// BentoS3 is the aws_s3 output of Bento with a batching policy (internal/batch/policy,
// internal/component/output/batcher) and the archive processor, which makes one object of a
// batch. Without batching every message is an object. A batch is sent
//
//   - after a message, if it has batching.count messages or batching.byte_size bytes, or if the
//     last batch was sent more than batching.period ago;
//   - by a timer, batching.period after the last batch that was sent when the timer was set,
//     and up to batching.jitter times the period later. The timer is set when it has fired and not
//     when a batch is sent for its size, so that it may send a small batch soon after a large one.
//
// There is one batch at a time, whatever the path of its messages. After an outage the
// source sends again what was not acknowledged.
//
// An example: batching.period=1m with batching.count=1000, and a stream that brings 1000
// messages in 50 s. Each batch is sent for its count at 50 s, but the timer that was set at
// the start fires at 60 s and sends what the ten seconds since have brought.
//
// The rules are from policy.go (Add, UntilNext) and batcher.go. batching.check, which asks
// a Bloblang expression about each message, is left out: what it answers depends on the
// content. So are processors that drop or split messages. Without batching, a record every
// 100 ms makes 36,000 objects an hour.
type BentoS3 struct {
	Count    int64         // batching.count, messages; not positive means off
	ByteSize int64         // batching.byte_size; not positive means off
	Period   time.Duration // batching.period; 0 means off
	Jitter   float64       // batching.jitter, share of the period
}

const bentoSource = "Bento internal/batch/policy/policy.go"

func (p *BentoS3) options() []option {
	return []option{
		integer("batching.count", &p.Count, "0", "messages at which a batch is sent", bentoSource),
		integer("batching.byte_size", &p.ByteSize, "0", "bytes at which a batch is sent", bentoSource),
		duration("batching.period", &p.Period, "", "time after which a batch is sent", bentoSource),
		number("batching.jitter", &p.Jitter, "0", "the timer is late by up to this share of the period, at random", bentoSource),
	}
}

// Name gives "bento-s3".
func (BentoS3) Name() string { return "bento-s3" }

// String gives the words that [Parse] reads.
func (p BentoS3) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p BentoS3) Options() []Option { return describe(p.options()) }

// Validate refuses a negative jitter (policy.New), and a period that is no whole number of
// milliseconds, which Bento would take.
func (p BentoS3) Validate() error {
	if !(p.Jitter >= 0 && p.Jitter < 1e6) {
		return refuse(p.Name(), "batching.jitter", strconv.FormatFloat(p.Jitter, 'f', -1, 64), bentoSource, "jitter factor cannot be negative")
	}
	return wholeMillis(p.Name(), timeField{"batching.period", p.Period})
}

// off says whether every message is an object (batchconfig.Config.IsNoop).
func (p BentoS3) off() bool { return p.ByteSize <= 0 && p.Count <= 1 && p.Period == 0 }

// WorstLatency is the period with its jitter: however often batches are sent for their size,
// the timer fires within that time.
//
// The worst message comes just after the timer has fired, into a batch that nothing fills.
// The timer was set anew at that instant, from then, to the period and the jitter. A batch
// that is sent for its size does not set it anew, so the time until it fires only gets
// shorter. The bound is met if there is no jitter; a jitter is drawn below its largest
// value, which is counted in full.
//
// Without a period there is no timer, and a last batch that is not full waits for a message
// that does not come. A count or a size of one sends each message at once.
func (p BentoS3) WorstLatency(w Workload) Bound {
	switch {
	case p.off() || p.Count == 1 || p.ByteSize == 1:
		return Bound{Worst: w.CommitDuration, Tight: true, Reason: "every message is sent at once"}
	case p.Period > 0:
		return Bound{Worst: p.Period + p.late() + w.CommitDuration, Tight: p.Jitter == 0, Reason: "batching.period with its jitter, and the upload"}
	}
	return unbounded("without batching.period the last messages of a stream wait for more", oneRecord(w))
}

// late is the longest jitter, in whole milliseconds.
func (p BentoS3) late() time.Duration {
	return time.Duration(p.Jitter * float64(p.Period)).Truncate(time.Millisecond)
}

// Predict is a message or a count of them for each object.
//
// With a period there are two clocks, of which the slower is set by the faster one's
// leavings, and the pattern of large and small batches has no short form.
func (p BentoS3) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || p.Period > 0 || p.ByteSize > 0 {
		return Prediction{}, false
	}
	every := time.Duration(max(p.Count, 1)) * r.gap
	return r.predict(every-r.gap+r.CommitDuration, 0, every), true
}

// Simulate plays the workload.
func (p BentoS3) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := &bentoOutput{BentoS3: p, e: e, random: rand.New(rand.NewPCG(e.Seed, 0)), batchers: make([]batcher, e.Subtasks)}
		m.begins(0)
		return m, nil
	})
}

// bentoOutput is an output with its batchers, one for each instance.
type bentoOutput struct {
	BentoS3
	e        *engine
	random   *rand.Rand
	batchers []batcher
}

// batcher is one batching policy at work.
//
// Last is what the test after a message compares with, and what the timer is set from when
// it fires. The two do not meet otherwise.
type batcher struct {
	batch *file
	last  int64 // when a batch was sent, or found empty by the timer
	fires int64
}

func (b *bentoOutput) begins(now int64) {
	for i := range b.batchers {
		b.batchers[i] = batcher{last: now}
		b.set(i)
	}
}

// set sets the timer (Batcher.UntilNext).
//
// It is called at the start and when the timer has fired, and not from put: that the timer
// stays as it was after a batch was sent for its size is the behaviour that matters here.
func (b *bentoOutput) set(i int) {
	if b.Period == 0 {
		b.batchers[i].fires = never
		return
	}
	jitter := int64(0)
	if most := b.late().Milliseconds(); most > 0 {
		jitter = b.random.Int64N(most)
	}
	b.batchers[i].fires = b.batchers[i].last + b.Period.Milliseconds() + jitter
}

// send sends what there is.
func (b *bentoOutput) send(i int, now int64) {
	if f := b.batchers[i].batch; f != nil {
		b.e.closed(1)
		b.e.upload(now, f)
	}
	b.batchers[i].batch, b.batchers[i].last = nil, now
}

func (b *bentoOutput) put(now int64, batch []record) error {
	for _, r := range batch {
		i := int(r.subtask)
		a := &b.batchers[i]
		if a.batch == nil {
			a.batch = b.e.newFile(key{subtask: r.subtask}, now)
		}
		b.e.add(a.batch, r, now)
		info := a.batch.info
		// The comparison with the period is strict, as in policy.Add, and that with the
		// others is not.
		if b.off() || b.Count > 0 && info.Records >= b.Count || b.ByteSize > 0 && info.Size >= b.ByteSize ||
			b.Period > 0 && now-a.last > b.Period.Milliseconds() {
			b.send(i, now)
		}
	}
	return nil
}

func (b *bentoOutput) next() int64 {
	soonest := never
	for _, a := range b.batchers {
		soonest = min(soonest, a.fires)
	}
	return soonest
}

func (b *bentoOutput) wake(now int64) error {
	for i := range b.batchers {
		if b.batchers[i].fires <= now {
			b.send(i, now)
			b.set(i)
		}
	}
	return nil
}

func (b *bentoOutput) begin(int64)    {}
func (b *bentoOutput) complete(int64) {}

// restart gives back what was being uploaded and what was in the batches. Neither was
// acknowledged, so the source still has it.
func (b *bentoOutput) restart(now int64) []record {
	files := b.e.interrupted()
	for _, a := range b.batchers {
		if a.batch != nil {
			b.e.closed(1)
			files = append(files, a.batch)
		}
	}
	b.begins(now)
	return b.e.records(files)
}

func (b *bentoOutput) hidden(visit func(*file)) {
	for _, a := range b.batchers {
		if a.batch != nil {
			visit(a.batch)
		}
	}
}

// Waivers lists what an at-least-once output without checkpoints does not promise.
func (p BentoS3) Waivers() []Waiver {
	list := []Waiver{
		{"Visibility", "an upload is visible when it is done, without a checkpoint", "Bento internal/impl/aws/output_s3.go"},
		{"NoDuplicate", "at least once: messages that were uploaded and not acknowledged come again", "Bento documentation, delivery guarantees"},
		{"Unique", "an upload replaces an object that has the key already", "Bento internal/impl/aws/output_s3.go"},
		{"Restore", "there is no checkpoint to restore", "Bento documentation, delivery guarantees"},
		{"FileCount", "the timer sends small batches between large ones", "Bento internal/component/output/batcher/batcher.go"},
	}
	if p.WorstLatency(Workload{}).Unbounded {
		list = withWaiver(list, Waiver{"Latency", "without batching.period the last messages wait", bentoSource})
	}
	return list
}
