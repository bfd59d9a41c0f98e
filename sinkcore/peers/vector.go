package peers

import (
	"cmp"
	"time"
)

// VectorS3 is the aws_s3 sink of Vector (src/sinks/aws_s3/config.rs, lib/vector-stream
// PartitionedBatcher and SizeLimit). For each key prefix there is one batch. A record that
// does not fit into batch.max_bytes sends the batch and begins a new one; a batch that has
// batch.max_bytes or batch.max_events after a record is sent at once; and batch.timeout_secs after
// its first record it is sent whatever it has. A record's size is Vector's estimate of it in memory,
// for which RecordSize has to stand.
//
// An outage takes what is in memory, since acknowledgements are off by default: such records
// are in Outcome.Lost. The timers are looked at only while no input is waiting
// (partitioned_batcher.rs), which a clock that stands still between records does not show.
//
// With the defaults a stream of 1 kB/s is seen after 300 s, in 12 objects an hour, and one
// of 1 MB/s after 10 s. All three limits must be greater than zero in Vector, so 0 can
// stand for the default; that of max_events is no limit. Buffers on disk, retries, adaptive
// concurrency of requests and acknowledgements.enabled are left out.
type VectorS3 struct {
	MaxBytes  int64         // batch.max_bytes; 0 means 10,000,000
	MaxEvents int64         // batch.max_events; 0 means no limit
	Timeout   time.Duration // batch.timeout_secs; 0 means 300 s
}

// VectorFile is the file sink of Vector (src/sinks/file/mod.rs). Records are visible when they are
// written, and files are closed when nothing came for idle_timeout_secs; a later record of
// the same path goes on with the file. A file is counted once, however often it grows.
//
// Records go to the file one by one, so a reader can find half of one. That idle files are
// closed changes MaxOpenFiles and nothing that a reader sees. Newer versions of the sink
// have a batch in front of it, with a timeout of a second by default; this is the version
// without.
type VectorFile struct {
	IdleTimeout time.Duration // idle_timeout_secs; 0 means 30 s
}

const vectorSource = "Vector src/sinks/util/batch.rs"

func (p *VectorS3) options() []option {
	return []option{
		integer("batch.max_bytes", &p.MaxBytes, "10000000", "bytes of a batch, as estimated in memory", vectorSource),
		integer("batch.max_events", &p.MaxEvents, "", "records of a batch", vectorSource),
		seconds("batch.timeout_secs", &p.Timeout, "300", "age at which a batch is sent, s", vectorSource),
	}
}

func (p *VectorFile) options() []option {
	return []option{seconds("idle_timeout_secs", &p.IdleTimeout, "30", "a file that got nothing for so long is closed, s", "Vector src/sinks/file/mod.rs")}
}

// Name gives "vector-s3".
func (VectorS3) Name() string { return "vector-s3" }

// Name gives "vector-file".
func (VectorFile) Name() string { return "vector-file" }

// String gives the words that [Parse] reads.
func (p VectorS3) String() string { return spell(p.Name(), p.options()) }

// String gives the words that [Parse] reads.
func (p VectorFile) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p VectorS3) Options() []Option { return describe(p.options()) }

// Options lists the options with their values.
func (p VectorFile) Options() []Option { return describe(p.options()) }

// Validate refuses limits that are not greater than zero (BatchError::InvalidMaxBytes,
// InvalidMaxEvents, InvalidTimeout).
func (p VectorS3) Validate() error {
	for _, l := range []struct {
		name  string
		value int64
	}{{"batch.max_bytes", p.MaxBytes}, {"batch.max_events", p.MaxEvents}, {"batch.timeout_secs", int64(p.Timeout)}} {
		if l.value < 0 {
			return refuse(p.Name(), l.name, "", vectorSource+" BatchError", "must be greater than zero")
		}
	}
	return wholeMillis(p.Name(), timeField{"batch.timeout_secs", p.Timeout})
}

// Validate refuses a negative timeout.
func (p VectorFile) Validate() error {
	return wholeMillis(p.Name(), timeField{"idle_timeout_secs", p.IdleTimeout})
}

func (p VectorS3) timeout() time.Duration { return cmp.Or(p.Timeout, 300*time.Second) }
func (p VectorS3) maxBytes() int64        { return cmp.Or(p.MaxBytes, 10_000_000) }

// WorstLatency is batch.timeout_secs and the upload.
//
// The timer counts from the first record of a batch, which is the one that waits longest,
// and a full batch is sent earlier. The record that no other follows waits exactly so long.
func (p VectorS3) WorstLatency(w Workload) Bound {
	return Bound{Worst: p.timeout() + w.CommitDuration, Tight: true, Reason: "batch.timeout_secs from the first record of a batch, and the upload"}
}

// WorstLatency is 0: what is written is visible.
func (VectorFile) WorstLatency(Workload) Bound {
	return Bound{Tight: true, Reason: "a record is visible when it is written"}
}

// Predict is the time until a batch is full, or the timeout.
//
// The two ways to fill a batch differ by a record: one that is full to the byte is sent by
// its last record, and one that has less room than a record by the next, which waits in
// front of it.
func (p VectorS3) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok {
		return Prediction{}, false
	}
	// So many records fill a batch, and the last of them sends it if it fills it exactly.
	size := int64(r.RecordSize)
	n := max(p.maxBytes()/size, 1)
	full, held := time.Duration(n)*r.gap, time.Duration(n)*r.gap
	if n*size >= p.maxBytes() {
		held -= r.gap
	}
	if p.MaxEvents > 0 && p.MaxEvents <= n {
		full, held = time.Duration(p.MaxEvents)*r.gap, time.Duration(p.MaxEvents-1)*r.gap
	}
	switch {
	case held < p.timeout():
		return r.predict(held+r.CommitDuration, 0, full), true
	case p.timeout()%r.gap == 0:
		// The timer comes before the record of the same instant, which begins the next batch.
		return r.predict(p.timeout()+r.CommitDuration, 0, p.timeout()), true
	}
	return Prediction{}, false
}

// Predict is 0; there is one file in all, so none an hour in the long run.
func (VectorFile) Predict(w Workload) (Prediction, bool) {
	_, ok := w.regular()
	return Prediction{Slack: time.Millisecond}, ok
}

// Simulate plays the workload.
func (p VectorS3) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) { return &vectorBatches{VectorS3: p, e: e}, nil })
}

// vectorBatches is the batches of a sink, each with a timer that counts from its first record.
type vectorBatches struct {
	VectorS3
	e    *engine
	open fileSet
}

func (v *vectorBatches) put(now int64, batch []record) error {
	size := int64(v.e.RecordSize)
	for _, r := range batch {
		k := key{subtask: r.subtask, bucket: r.bucket}
		f := v.open.get(k)
		if f != nil && f.info.Size+size > v.maxBytes() {
			v.send(now, func(g *file) bool { return g == f })
			f = nil
		}
		if f == nil {
			f = v.e.newFile(k, now)
			v.open.put(f)
		}
		v.e.add(f, r, now)
		if f.info.Size >= v.maxBytes() || v.MaxEvents > 0 && f.info.Records >= v.MaxEvents {
			v.send(now, func(g *file) bool { return g == f })
		}
	}
	return nil
}

func (v *vectorBatches) send(now int64, pick func(*file) bool) {
	files := v.open.take(pick)
	v.e.closed(len(files))
	for _, f := range files {
		v.e.upload(now, f)
	}
}

func (v *vectorBatches) next() int64 {
	if len(v.open.order) == 0 {
		return never
	}
	return v.open.order[0].info.CreationTime + v.timeout().Milliseconds()
}

func (v *vectorBatches) wake(now int64) error {
	v.send(now, func(f *file) bool { return f.info.CreationTime+v.timeout().Milliseconds() <= now })
	return nil
}

func (v *vectorBatches) begin(int64)    {}
func (v *vectorBatches) complete(int64) {}

// restart gives nothing back: without acknowledgements the source was told that the records
// arrived.
func (v *vectorBatches) restart(int64) []record {
	open := v.open.takeAll()
	v.e.closed(len(open))
	v.e.lose(append(v.e.interrupted(), open...))
	return nil
}

func (v *vectorBatches) hidden(visit func(*file)) {
	for _, f := range v.open.order {
		visit(f)
	}
}

// Simulate plays the workload.
func (p VectorFile) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		return &vectorFiles{e: e, idle: cmp.Or(p.IdleTimeout, 30*time.Second).Milliseconds(), known: map[key]bool{}}, nil
	})
}

// vectorFiles is the files of a sink that hides nothing.
//
// Each record is published as a file of its own, and taken off the count where the path is
// known: the engine knows of no file that is visible and grows.
type vectorFiles struct {
	e     *engine
	idle  int64
	open  fileSet
	known map[key]bool // paths that were written to
}

func (v *vectorFiles) put(now int64, batch []record) error {
	for _, r := range batch {
		k := key{subtask: r.subtask, bucket: r.bucket}
		f := v.open.get(k)
		if f == nil {
			f = v.e.newFile(k, now)
			v.open.put(f)
		}
		f.info.LastUpdate = now
		grown := &file{key: k}
		v.e.add(grown, r, now)
		v.e.publish(now, grown)
		if v.known[k] {
			v.e.out.Files-- // it is there already
			v.e.out.LiveFiles--
		}
		v.known[k] = true
	}
	return nil
}

func (v *vectorFiles) next() int64 {
	soonest := never
	for _, f := range v.open.order {
		soonest = min(soonest, f.info.LastUpdate+v.idle)
	}
	return soonest
}

func (v *vectorFiles) wake(now int64) error {
	v.e.closed(len(v.open.take(func(f *file) bool { return f.info.LastUpdate+v.idle <= now })))
	return nil
}

func (v *vectorFiles) begin(int64)    {}
func (v *vectorFiles) complete(int64) {}

func (v *vectorFiles) restart(int64) []record {
	v.e.closed(len(v.open.takeAll()))
	return nil
}

func (v *vectorFiles) hidden(func(*file)) {}

// vectorWaivers is what both do not promise.
var vectorWaivers = []Waiver{
	{"Visibility", "there are no checkpoints", "Vector documentation, guarantees"},
	{"NoDuplicate", "with acknowledgements, at least once", "Vector documentation, guarantees"},
	{"NoLoss", "without acknowledgements an outage takes what is in memory", "Vector documentation, guarantees"},
	{"Restore", "there is no checkpoint to restore", "Vector documentation, guarantees"},
	{"FileCount", "batches are cut by estimates of size", vectorSource},
}

// Waivers lists what the sink does not promise.
func (VectorS3) Waivers() []Waiver { return append([]Waiver(nil), vectorWaivers...) }

// Waivers lists what the sink does not promise.
func (VectorFile) Waivers() []Waiver {
	list := vectorWaivers
	for _, w := range []Waiver{
		{"Immutable", "a visible file grows", "Vector src/sinks/file/mod.rs"},
		{"Hidden", "a reader sees half of a record", "Vector src/sinks/file/mod.rs"},
		{"Durable", "records are acknowledged before they are flushed, and fsynced only when a file is closed", "Vector src/sinks/file/mod.rs"},
	} {
		list = withWaiver(list, w)
	}
	return list
}
