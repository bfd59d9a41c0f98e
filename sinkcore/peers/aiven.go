package peers

// AivenS3 is the S3 sink connector of Aiven (io.aiven.kafka.connect.s3.S3SinkTask). It keeps
// records in memory and writes them in flush(), which the worker calls every
// offset.flush.interval.ms: an object for each group of file.name.template, here for each
// bucket of a topic partition. After an outage the source sends again what was not flushed, so
// records that were written before the offset was stored come twice.
//
// The rules are from S3SinkTask.put and flush. Groups by time or by key that
// file.name.template can make, and file.max.records, which cuts a group into several
// objects, are left out: they change how many objects a flush writes, and not when it
// happens. With the default of a minute there are 60 objects an hour for each bucket of a
// topic partition.
type AivenS3 struct{ ConnectWorker }

func (p *AivenS3) options() []option { return p.ConnectWorker.options() }

// Name gives "aiven-s3".
func (AivenS3) Name() string { return "aiven-s3" }

// String gives the words that [Parse] reads.
func (p AivenS3) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p AivenS3) Options() []Option { return describe(p.options()) }

// Validate refuses a number of tasks or an interval that is negative.
func (p AivenS3) Validate() error { return p.ConnectWorker.validate(p.Name()) }

// WorstLatency is offset.flush.interval.ms and the upload: the worst record comes just after a flush.
func (p AivenS3) WorstLatency(w Workload) Bound {
	return Bound{Worst: p.flush() + w.CommitDuration, Tight: true, Reason: "offset.flush.interval.ms, and the upload"}
}

// Predict is offset.flush.interval.ms, and an object for each.
func (p AivenS3) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || r.gap > p.flush() {
		return Prediction{}, false
	}
	return r.predict(p.flush()+r.CommitDuration, r.gap, p.flush()), true
}

// Simulate plays the workload.
func (p AivenS3) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		return newConnectTask(e, p.ConnectWorker, func(int32, int64) (partitionWriter, error) {
			return &aivenWriter{partitionFiles{e: e}}, nil
		})
	})
}

// aivenWriter is the records of a topic partition in memory.
type aivenWriter struct{ partitionFiles }

func (a *aivenWriter) write(now int64, batch []record) error {
	for _, r := range batch {
		a.add(key{subtask: r.subtask, bucket: r.bucket}, r, now)
	}
	return nil
}

// commitOffsets is flush().
func (a *aivenWriter) commitOffsets(now int64) { a.commit(now) }

// Waivers lists what an at-least-once sink without checkpoints does not promise.
func (AivenS3) Waivers() []Waiver {
	return []Waiver{
		{"Visibility", "a flush writes, without a checkpoint", "io.aiven.kafka.connect.s3.S3SinkTask.flush"},
		{"NoDuplicate", "at least once: offsets are stored after the objects", "Aiven S3 connector README"},
		{"NoLoss", "the groups in memory are cleared although an upload failed", "io.aiven.kafka.connect.s3.S3SinkTask.flush, finally"},
		{"Restore", "there is no checkpoint to restore", "Kafka WorkerSinkTask"},
		{"EndOfInput", "a topic has no end", "Kafka WorkerSinkTask"},
		{"FileCount", "an object for each group at each flush", "Aiven S3 connector README"},
		{"Live", "a task that has failed stays down until somebody starts it again", "Kafka WorkerTask"},
	}
}
