package peers

import (
	"fmt"
	"time"

	"sinklab/sinkcore"
)

// Firehose is Amazon Data Firehose with S3 as the destination (API reference, BufferingHints). A
// stream has one buffer, whatever the bucket of a record; it is delivered when it has SizeInMBs
// or when its first record has waited for IntervalInSeconds, whichever is first. With an
// interval of 0 nothing is buffered; the service then takes a few seconds, which CommitDuration has
// to stand for. The two are hints: the service may choose other values. It is a service
// that others run, so a workload with outages is refused.
//
// All of it is from the documentation; there is no source to read. With the defaults, a
// stream of 1 kB/s is seen after 300 s and makes 12 objects an hour, one of 1 MB/s after
// 5.2 s. Dynamic partitioning, conversion to Parquet (which raises the least size to 64
// MiB), Lambda and compression are left out; so is that the service raises the size when
// delivery falls behind.
//
// Interval is a pointer because 0 is a value: no buffering. SizeInMBs has no such value, so
// 0 is the default.
type Firehose struct {
	SizeInMBs int64          // 0 means 5
	Interval  *time.Duration // IntervalInSeconds; nil means 300 s
}

const firehoseSource = "Amazon Data Firehose API reference, BufferingHints"

func (p *Firehose) options() []option {
	return []option{
		integer("SizeInMBs", &p.SizeInMBs, "5", "size of the buffer, MiB, 1 to 128", firehoseSource),
		optionalSeconds("IntervalInSeconds", &p.Interval, "300", "age of the buffer, s, 0 to 900", firehoseSource),
	}
}

// Name gives "firehose".
func (Firehose) Name() string { return "firehose" }

// String gives the words that [Parse] reads. Firehose wants both options or none, so both
// are printed if one differs from its default.
func (p Firehose) String() string {
	if p.SizeInMBs == 0 && p.Interval == nil {
		return p.Name()
	}
	return fmt.Sprintf("%s SizeInMBs=%d IntervalInSeconds=%d", p.Name(), p.size()>>20, p.interval()/time.Second)
}

// Options lists the options with their values.
func (p Firehose) Options() []Option { return describe(p.options()) }

func (p Firehose) size() int64 {
	if p.SizeInMBs == 0 {
		return 5 << 20
	}
	return p.SizeInMBs << 20
}

func (p Firehose) interval() time.Duration {
	if p.Interval == nil {
		return 300 * time.Second
	}
	return *p.Interval
}

// Validate refuses one option without the other, and values out of range, as the API does.
func (p Firehose) Validate() error {
	switch {
	case (p.SizeInMBs == 0) != (p.Interval == nil):
		return refuse(p.Name(), "SizeInMBs", "", firehoseSource, "a value for one of SizeInMBs and IntervalInSeconds needs one for the other")
	case p.size() < 1<<20 || p.size() > 128<<20:
		return refuse(p.Name(), "SizeInMBs", fmt.Sprint(p.SizeInMBs), firehoseSource, "must be 1 to 128")
	case p.interval() < 0 || p.interval() > 900*time.Second || p.interval()%time.Second != 0:
		return refuse(p.Name(), "IntervalInSeconds", p.interval().String(), firehoseSource, "must be 0 to 900 whole seconds")
	}
	return nil
}

// WorstLatency is the interval and the delivery.
//
// A buffer is as old as its first record, which is the one that waits longest; nothing
// makes it wait longer than the interval, since the size can only deliver it earlier. The
// record that arrives into an empty buffer of a slow stream waits exactly so long.
func (p Firehose) WorstLatency(w Workload) Bound {
	return Bound{Worst: p.interval() + w.CommitDuration, Tight: true, Reason: "IntervalInSeconds from the first record of a buffer, and the delivery; both options are hints"}
}

// Predict is the time until the buffer is full, or the interval.
//
// A full buffer holds the n records that come to its size, and the last of them delivers
// it, so the first has waited n-1 gaps. If the interval ends it instead, and is a multiple
// of the gap, the record of that instant comes after the timer and begins the next buffer.
func (p Firehose) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || p.interval() == 0 {
		return Prediction{}, false
	}
	n := time.Duration((p.size() + int64(r.RecordSize) - 1) / int64(r.RecordSize))
	switch {
	case (n-1)*r.gap < p.interval():
		return r.predict((n-1)*r.gap+r.CommitDuration, 0, n*r.gap), true
	case p.interval()%r.gap == 0:
		return r.predict(p.interval()+r.CommitDuration, 0, p.interval()), true
	}
	return Prediction{}, false
}

// Simulate plays the workload.
func (p Firehose) Simulate(w Workload) (Outcome, error) {
	if len(w.Outages) > 0 {
		return Outcome{}, fmt.Errorf("%w: %s is a service, %w: let the arrivals pause", sinkcore.ErrConfig, p.Name(), ErrNoOutages)
	}
	return simulate(p, w, func(e *engine) (machine, error) { return &firehose{Firehose: p, e: e}, nil })
}

// firehose is the buffers of streams.
type firehose struct {
	Firehose
	e    *engine
	open fileSet
}

func (m *firehose) put(now int64, batch []record) error {
	for _, r := range batch {
		k := key{subtask: r.subtask}
		f := m.open.get(k)
		if f == nil {
			f = m.e.newFile(k, now)
			m.open.put(f)
		}
		m.e.add(f, r, now)
		if f.info.Size >= m.size() {
			m.deliver(now, func(g *file) bool { return g == f })
		}
	}
	if m.interval() == 0 {
		m.deliver(now, func(*file) bool { return true })
	}
	return nil
}

func (m *firehose) deliver(now int64, pick func(*file) bool) {
	files := m.open.take(pick)
	m.e.closed(len(files))
	for _, f := range files {
		m.e.upload(now, f)
	}
}

// The oldest buffer is the first in the list, which is ordered by when buffers were begun.
func (m *firehose) next() int64 {
	if len(m.open.order) == 0 {
		return never
	}
	return m.open.order[0].info.CreationTime + m.interval().Milliseconds()
}

func (m *firehose) wake(now int64) error {
	m.deliver(now, func(f *file) bool { return f.info.CreationTime+m.interval().Milliseconds() <= now })
	return nil
}

func (m *firehose) begin(int64)            {}
func (m *firehose) complete(int64)         {}
func (m *firehose) restart(int64) []record { return nil }

func (m *firehose) hidden(visit func(*file)) {
	for _, f := range m.open.order {
		visit(f)
	}
}

// Waivers lists what the service does not promise.
func (Firehose) Waivers() []Waiver {
	return []Waiver{
		{"Visibility", "there are no checkpoints", "Amazon Data Firehose documentation, data delivery"},
		{"NoDuplicate", "at least once: a delivery that timed out is tried again", "Amazon Data Firehose documentation, data delivery"},
		{"NoLoss", "records are kept for 24 hours if the destination cannot be reached", "Amazon Data Firehose documentation, data delivery"},
		{"Order", "records are not kept in order", "Amazon Data Firehose documentation, data delivery"},
		{"Restore", "there is no checkpoint to restore", "Amazon Data Firehose documentation, data delivery"},
		{"EndOfInput", "a stream has no end", "Amazon Data Firehose documentation, data delivery"},
		{"Latency", "the interval is a hint", firehoseSource},
		{"FileCount", "the size is a hint", firehoseSource},
	}
}
