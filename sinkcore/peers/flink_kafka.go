package peers

import (
	"cmp"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// FlinkKafka is Flink's Kafka sink with the guarantee exactly-once. Nothing rolls: each
// subtask writes into one transaction, whatever the topic partition, and the transaction
// commits with the checkpoint (KafkaSinkBuilder, ExactlyOnceKafkaWriter). A file stands for a
// transaction that holds a record, and a reader is a consumer with
// isolation.level=read_committed.
//
// The broker aborts a transaction that is open for longer than its timeout, and the records in it
// are lost although the checkpoint that covers them completes. So the timeout
// has to be longer than the interval and duration of a checkpoint and the longest outage
// together. Flink's default is one hour, and the default maximum of a broker 15 minutes, so
// the defaults of both together are refused.
//
// The rules are from KafkaSinkBuilder and ExactlyOnceKafkaWriter; those of the broker are
// from its documentation, but for that a transaction is open from its first record
// (TransactionMetadata.prepareAddPartitions), although Flink begins it at the checkpoint
// before. Nothing is said of the other guarantees: with at-least-once a record is visible
// when its batch is sent.
type FlinkKafka struct {
	TransactionalIDPrefix string        // sink.transactional-id-prefix; required
	TransactionTimeout    time.Duration // properties.transaction.timeout.ms; 0 means one hour
	MaxTransactionTimeout time.Duration // transaction.max.timeout.ms of the broker; 0 means 15 minutes
}

func (p *FlinkKafka) options() []option {
	return []option{
		text("sink.transactional-id-prefix", &p.TransactionalIDPrefix, "", "names of transactions begin with it", "Flink KafkaConnectorOptions"),
		milliseconds("properties.transaction.timeout.ms", &p.TransactionTimeout, "3600000", "the broker aborts a transaction that is open for longer, ms", "Flink KafkaSinkBuilder"),
		milliseconds("transaction.max.timeout.ms", &p.MaxTransactionTimeout, "900000", "the longest timeout that the broker grants, ms", "Kafka TransactionStateManagerConfig"),
	}
}

// Name gives "flink-kafka".
func (FlinkKafka) Name() string { return "flink-kafka" }

// String gives the words that [Parse] reads.
func (p FlinkKafka) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p FlinkKafka) Options() []Option { return describe(p.options()) }

func (p FlinkKafka) timeout() time.Duration { return cmp.Or(p.TransactionTimeout, time.Hour) }

// Validate refuses a missing prefix (KafkaSinkBuilder.sanityCheck), one of more than 64,000
// bytes (KafkaSinkBuilder.setTransactionalIdPrefix), and a timeout that the broker does not
// grant (InvalidTransactionTimeoutException).
func (p FlinkKafka) Validate() error {
	switch {
	case p.TransactionalIDPrefix == "":
		return refuse(p.Name(), "sink.transactional-id-prefix", "", "Flink KafkaSinkBuilder.sanityCheck", "is required for exactly-once")
	case len(p.TransactionalIDPrefix) > 64_000:
		return refuse(p.Name(), "sink.transactional-id-prefix", "", "Flink KafkaSinkBuilder.setTransactionalIdPrefix", "has more than 64000 bytes")
	}
	if err := wholeMillis(p.Name(), timeField{"properties.transaction.timeout.ms", p.TransactionTimeout}, timeField{"transaction.max.timeout.ms", p.MaxTransactionTimeout}); err != nil {
		return err
	}
	if most := cmp.Or(p.MaxTransactionTimeout, 15*time.Minute); p.timeout() > most {
		return refuse(p.Name(), "properties.transaction.timeout.ms", millis(p.timeout()), "Kafka InvalidTransactionTimeoutException",
			"is more than the broker's transaction.max.timeout.ms, %s; set one of the two", millis(most))
	}
	return nil
}

// WorstLatency is one checkpoint, if the broker lets the transaction live so long.
//
// A transaction holds what came since the last checkpoint began, so the oldest record in it
// is as old as the time from one start to the next, and waits for the completion as well.
// If that is longer than the timeout there are transactions which the broker aborts, and
// their records are never seen: no bound, and not even at least once.
func (p FlinkKafka) WorstLatency(w Workload) Bound {
	b := perCheckpoint(w)
	if b.Worst > p.timeout() {
		// One record waits for the first checkpoint, the other for the second.
		witness := oneRecord(w)
		witness.Arrivals = sim.Recorded{Name: "two", Records: []sim.Arrival{
			{EventTime: sinkcore.NoTime}, {At: w.filled().FirstCheckpoint.Milliseconds(), EventTime: sinkcore.NoTime},
		}}
		return unbounded("the broker aborts a transaction before its checkpoint completes, and its records are lost", witness)
	}
	return b
}

// Predict is one checkpoint, and a transaction for each.
func (p FlinkKafka) Predict(w Workload) (Prediction, bool) {
	if p.WorstLatency(w).Unbounded {
		return Prediction{}, false
	}
	return predictPerCheckpoint(w)
}

// Simulate plays the workload. Records in aborted transactions are in Outcome.Lost.
func (p FlinkKafka) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, sinkcore.OnCheckpoint{}, 0)
		m.key = func(r record) key { return key{subtask: r.subtask} }
		m.post = &transactions{commit: commit{e: e}, timeout: p.timeout().Milliseconds()}
		return m, nil
	})
}

// transactions commits what the broker has not aborted. A commit that the process did not
// live to send is sent after the restart.
//
// The comparison is made when the commit arrives and is strict: a transaction that is
// exactly as old as its timeout still commits.
type transactions struct {
	commit
	timeout int64
}

func (t *transactions) complete(now int64) {
	for _, f := range t.handed {
		if now-f.info.CreationTime > t.timeout {
			t.e.lose([]*file{f})
		} else {
			t.e.publish(now, f)
		}
	}
	t.handed = nil
}

// Waivers lists what becomes of records in transactions that are aborted, and what has no
// meaning for a topic.
func (p FlinkKafka) Waivers() []Waiver {
	list := []Waiver{
		{"NoLoss", "a transaction that is open for longer than transaction.timeout.ms is aborted by the broker", "Flink documentation, Kafka connector, caveats of exactly-once"},
		{"Order", "order holds within a topic partition only", "Kafka documentation, message delivery semantics"},
		{"Restore", "a checkpoint that is older than the transaction timeout, or than the newest, cannot be resumed", "Flink documentation, Kafka connector, caveats of exactly-once"},
		{"FileCount", "there are transactions, and no files", "Flink ExactlyOnceKafkaWriter"},
		{"Hidden", "a consumer that reads uncommitted records sees them before", "Kafka isolation.level"},
		{"Orphans", "transactions that nobody names any more stay open until their timeout", "Flink TransactionAborter"},
	}
	if p.WorstLatency(Workload{}).Unbounded {
		list = withWaiver(list, Waiver{"Latency", "a checkpoint takes longer than the broker waits", "Kafka TransactionStateManagerConfig"})
	}
	return list
}
