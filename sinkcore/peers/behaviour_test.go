package peers_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

// What one peer does that another does not, each in the smallest workload that shows it.
func TestBehaviour(t *testing.T) {
	t.Parallel()
	seconds := func(at ...int64) sim.Arrivals {
		for i := range at {
			at[i] *= 1000
		}
		return one(at...)
	}
	for _, c := range []struct {
		name, peer string
		w          peers.Workload
		files      int64
		max        time.Duration // the longest latency, or -1 if nothing is visible
	}{
		{"S3 counts records of a topic partition, over all of its files", "kafka-connect-s3 flush.size=4",
			peers.Workload{Arrivals: seconds(1, 2, 3, 4), Buckets: 2}, 2, 3 * time.Second},
		{"S3 rotates after the record that fills", "kafka-connect-s3 flush.size=2",
			peers.Workload{Arrivals: seconds(1, 2, 3)}, 1, time.Second},
		{"S3 leaves an idle stream alone, although the clock is the extractor", "kafka-connect-s3 flush.size=9 rotate.interval.ms=1000 partitioner.class=HourlyPartitioner locale=en timezone=UTC",
			peers.Workload{Arrivals: seconds(1, 2)}, 1, time.Second},
		{"S3 ignores rotate.interval.ms without a partitioner by time", "kafka-connect-s3 flush.size=9 rotate.interval.ms=1000",
			peers.Workload{Arrivals: seconds(1, 3, 5)}, 0, -1},
		{"HDFS looks at the clock then, and rotates an idle stream with the next put", "kafka-connect-hdfs flush.size=9 rotate.interval.ms=1000",
			peers.Workload{Arrivals: seconds(1)}, 1, 59 * time.Second},
		{"HDFS by the time of records leaves it alone", "kafka-connect-hdfs flush.size=9 rotate.interval.ms=1000 partitioner.class=HourlyPartitioner locale=en timezone=UTC timestamp.extractor=Record",
			peers.Workload{Arrivals: seconds(1)}, 0, -1},
		{"interleaved partitions with rotate.interval.ms: one file a record", "kafka-connect-s3 flush.size=99 rotate.interval.ms=3600000 partitioner.class=HourlyPartitioner locale=en timezone=UTC",
			peers.Workload{Arrivals: seconds(1, 2, 3, 4, 5, 6), Buckets: 2}, 5, time.Second},
		{"the same without rotate.file.on.partition.change", "kafka-connect-s3 flush.size=99 rotate.interval.ms=3600000 rotate.file.on.partition.change=false partitioner.class=HourlyPartitioner locale=en timezone=UTC",
			peers.Workload{Arrivals: seconds(1, 2, 3, 4, 5, 6), Buckets: 2}, 0, -1},
		{"one open file at most", "kafka-connect-s3 flush.size=99 partitioner.max.open.files=1",
			peers.Workload{Arrivals: seconds(1, 2, 3), Buckets: 2}, 2, time.Second},
		{"a put goes to all topic partitions of the task", "kafka-connect-s3 flush.size=99 rotate.schedule.interval.ms=10000 timezone=UTC",
			peers.Workload{Arrivals: seconds(1, 2, 11, 13), Subtasks: 2, Duration: 20 * time.Second}, 2, 10 * time.Second},
		{"and not to those of another", "kafka-connect-s3 flush.size=99 rotate.schedule.interval.ms=10000 timezone=UTC tasks.max=2",
			peers.Workload{Arrivals: seconds(1, 2, 11), Subtasks: 2, Duration: 20 * time.Second}, 1, 10 * time.Second},
		{"scheduled rotation waits for the next put", "kafka-connect-s3 flush.size=99 rotate.schedule.interval.ms=10000 timezone=UTC",
			peers.Workload{Arrivals: seconds(1)}, 1, 59 * time.Second},
		{"the upload counts", "kafka-connect-s3 flush.size=1",
			peers.Workload{Arrivals: seconds(1), CommitDuration: 2 * time.Second}, 1, 2 * time.Second},
		{"Aiven flushes with the offsets", "aiven-s3",
			peers.Workload{Arrivals: seconds(0, 60), Duration: 2 * time.Minute}, 2, time.Minute},

		{"Arroyo's inactivity follows the newest record", "arroyo rolling_policy.inactivity_interval=5s",
			peers.Workload{Arrivals: seconds(1, 4, 7, 10), Duration: 14 * time.Second}, 0, -1},
		{"in version 2 it does not", "arroyo-v2 rolling_policy.inactivity_interval=5s",
			peers.Workload{Arrivals: seconds(1, 4, 7, 10), Duration: 14 * time.Second}, 2, 5 * time.Second},
		{"below a second is at once", "arroyo rolling_policy.interval=900ms",
			peers.Workload{Arrivals: one(950)}, 1, 1050 * ms},
		{"Arroyo sees no size before a part is full", "arroyo rolling_policy.file_size=1",
			peers.Workload{Arrivals: seconds(1, 2)}, 0, -1},
		{"and then all of it", "arroyo rolling_policy.file_size=1 multipart.target_part_size=5mb",
			peers.Workload{Arrivals: seconds(1, 2, 3), RecordSize: 3 << 20}, 1, 3 * time.Second},
		{"the local version commits with the checkpoint that closes", "arroyo-local rolling_policy.interval=3s",
			peers.Workload{Arrivals: seconds(1)}, 1, 3 * time.Second},
		{"watermark in another hour closes the old one", "arroyo-v2 rolling_policy.watermark_expiration=true partitioning.time_pattern=%H",
			peers.Workload{Arrivals: seconds(3599, 3600), Duration: 3610 * time.Second}, 1, 3 * time.Second},
		{"version 1 learns it at the next checkpoint", "arroyo rolling_policy.watermark_expiration=true partitioning.time_pattern=%H",
			peers.Workload{Arrivals: seconds(3599, 3600), Duration: 3610 * time.Second}, 1, 5 * time.Second},

		{"a part that was gone on with counts as idle since it was made", "flink-filesink withRolloverInterval=3600000 withInactivityInterval=10000 withBucketCheckInterval=1000",
			peers.Workload{Arrivals: seconds(1, 8), FirstCheckpoint: 8500 * ms, Outages: simOutages(9000, 9000), Duration: 15 * time.Second}, 1, 10 * time.Second},
		{"Iceberg looks at the size after a thousand rows", "iceberg-flink write.target-file-size-bytes=1",
			peers.Workload{Arrivals: sim.Constant{Interval: ms}, Duration: 2 * time.Second}, 2, 1999 * ms},
		{"a transaction spans all topic partitions", "flink-kafka sink.transactional-id-prefix=a properties.transaction.timeout.ms=900000",
			peers.Workload{Arrivals: seconds(0, 0), Buckets: 2}, 1, 2 * time.Second},

		{"compaction of one checkpoint shows with the next", "flink-filesink-bulk enableCompactionOnCheckpoint=1",
			peers.Workload{Arrivals: seconds(1)}, 1, 3 * time.Second},
		{"of two, one later", "flink-filesink-bulk enableCompactionOnCheckpoint=2",
			peers.Workload{Arrivals: seconds(1, 3)}, 1, 5 * time.Second},
		{"over all subtasks", "flink-filesink-bulk enableCompactionOnCheckpoint=1",
			peers.Workload{Arrivals: seconds(1, 1, 1), Subtasks: 3}, 1, 3 * time.Second},
		{"by size", "flink-filesink-bulk setSizeThreshold=200",
			peers.Workload{Arrivals: seconds(1, 5, 9)}, 1, 7 * time.Second},
		{"Flink SQL merges within a checkpoint", "flink-sql auto-compaction=true compaction.file-size=250",
			peers.Workload{Arrivals: seconds(1, 1, 1, 3), Subtasks: 3}, 3, time.Second},
		{"a partition is committed with its first file", "flink-sql format=parquet sink.partition-commit.policy.kind=success-file",
			peers.Workload{Arrivals: seconds(1)}, 1, time.Second},
		// The file is there at 2 s; 4 s later is not more than 4 s later.
		{"or strictly after the delay", "flink-sql format=parquet sink.partition-commit.policy.kind=success-file sink.partition-commit.delay=4s",
			peers.Workload{Arrivals: seconds(1, 5)}, 2, 7 * time.Second},

		{"a batch that takes as long as the trigger halves them", "spark processingTime=10s",
			peers.Workload{Arrivals: sim.Constant{Interval: time.Second}, CommitDuration: 10 * time.Second, Duration: time.Minute}, 3, 30 * time.Second},
		{"one that takes less does not", "spark processingTime=10s",
			peers.Workload{Arrivals: sim.Constant{Interval: time.Second}, CommitDuration: 9999 * ms, Duration: time.Minute}, 5, 19999 * ms},
		{"back to back", "spark",
			peers.Workload{Arrivals: one(1, 15), CommitDuration: 100 * ms}, 2, 195 * ms},

		// Two messages are sent at 2 s for their number; the timer of the start fires at 5 s all the same.
		{"the timer is not set anew", "bento-s3 batching.count=2 batching.period=5s",
			peers.Workload{Arrivals: seconds(1, 2, 3), Duration: 9 * time.Second}, 2, 2 * time.Second},
		{"a message that just missed the timer waits for a period", "bento-s3 batching.period=5s",
			peers.Workload{Arrivals: seconds(5, 15)}, 2, 5 * time.Second},
		{"a batch is one object, whatever its paths", "bento-s3 batching.count=3",
			peers.Workload{Arrivals: seconds(1, 1, 1), Buckets: 3}, 1, 0},

		{"a batch of Vector counts from its first record", "vector-s3 batch.timeout_secs=5",
			peers.Workload{Arrivals: seconds(1, 4, 7)}, 2, 5 * time.Second},
		{"one that does not fit begins the next", "vector-s3 batch.max_bytes=250",
			peers.Workload{Arrivals: seconds(1, 2, 3)}, 2, 300 * time.Second},
		{"one that fits exactly is sent", "vector-s3 batch.max_bytes=300",
			peers.Workload{Arrivals: seconds(1, 2, 3)}, 1, 2 * time.Second},
		{"a file of Vector is visible as it is written", "vector-file",
			peers.Workload{Arrivals: seconds(1, 40, 90)}, 1, 0},

		// Chunk 0 is due at 70 s. Checks are every 10/11 s: the first one from then on is at 70 s.
		{"Fluentd waits for late records", "fluentd-file timekey=60s timekey_wait=10s",
			peers.Workload{Arrivals: seconds(1, 59)}, 1, 69 * time.Second},
		{"a full chunk is flushed by the thread that its record wakes", "fluentd-file chunk_limit_size=200",
			peers.Workload{Arrivals: seconds(1, 2)}, 1, time.Second},
		{"one chunk a second", "fluentd-file timekey=60s timekey_wait=0",
			peers.Workload{Arrivals: seconds(1, 1, 1), Buckets: 3}, 3, 61 * time.Second},

		{"Firehose has one buffer for all", "firehose SizeInMBs=1 IntervalInSeconds=60",
			peers.Workload{Arrivals: seconds(1, 2, 3), Buckets: 3}, 1, time.Minute},
		{"Hudi writes a version a commit", "hudi",
			peers.Workload{Arrivals: seconds(1, 3, 5)}, 3, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, err := parse(t, c.peer).Simulate(c.w)
			if err != nil || o.Files != c.files || o.Latency(1) != c.max && (c.max >= 0 || o.Latency(1) >= 0) {
				t.Errorf("%d files, longest latency %v, %v; want %d, %v", o.Files, o.Latency(1), err, c.files, c.max)
			}
		})
	}
}

// Files that a reader has to open are fewer where they are merged.
func TestLiveFiles(t *testing.T) {
	t.Parallel()
	w := peers.Workload{Arrivals: sim.Constant{Interval: time.Second}, Duration: 2 * time.Minute}
	for _, c := range []struct {
		peer        string
		files, live int64
	}{
		{"hudi", 60, 1},
		{"hudi hoodie.parquet.small.file.limit=1", 60, 60},
		// The first commit has one record and each later one two. What does not fit into the version
		// of a thousand bytes goes to another file with the same commit.
		{"hudi hoodie.parquet.small.file.limit=999 hoodie.parquet.max.file.size=1000", 71, 12},
		{"delta", 60, 60},
		{"delta delta.autoOptimize.autoCompact=true", 61, 11},
	} {
		if o, err := parse(t, c.peer).Simulate(w); err != nil || o.Files != c.files || o.LiveFiles != c.live {
			t.Errorf("%s: %d files of which %d are left, %v; want %d, %d", c.peer, o.Files, o.LiveFiles, err, c.files, c.live)
		}
	}
}

// An outage that comes again before the timer ends: the timers of Kafka Connect start anew each
// time, so a record waits for ever, and those of Flink's parts are kept
// (confluentinc/kafka-connect-hdfs#329).
func TestOutagesThatComeAgain(t *testing.T) {
	t.Parallel()
	w := peers.Workload{Arrivals: sim.Constant{Interval: time.Second}, Duration: time.Hour}
	for from := 30 * time.Second; from < w.Duration; from += 30 * time.Second {
		w.Outages = append(w.Outages, sim.Outage{From: from, To: from + ms})
	}
	connect, err := parse(t, "kafka-connect-hdfs flush.size=100000 rotate.interval.ms=60000").Simulate(w)
	if err != nil || connect.Visible != 0 || connect.LongestWait < 59*time.Minute {
		t.Errorf("Kafka Connect: %d records visible, longest wait %v, %v", connect.Visible, connect.LongestWait, err)
	}
	flink, err := parse(t, "flink-filesink withBucketCheckInterval=1000").Simulate(w)
	if err != nil || flink.LongestWait > 65*time.Second {
		t.Errorf("Flink: longest wait %v, %v", flink.LongestWait, err)
	}
	arroyo, err := parse(t, "arroyo rolling_policy.interval=1h").Simulate(w)
	if err != nil || arroyo.Files != 119 {
		t.Errorf("Arroyo finishes its file at each restart: %d files, %v", arroyo.Files, err)
	}
}

// What an outage longer than the transaction timeout does.
func TestTransactionTimeout(t *testing.T) {
	t.Parallel()
	p := parse(t, "flink-kafka sink.transactional-id-prefix=a properties.transaction.timeout.ms=5000")
	o, err := p.Simulate(peers.Workload{Arrivals: sim.Constant{Interval: time.Second}, CheckpointInterval: 6 * time.Second, Duration: time.Minute})
	if err != nil || o.Lost == 0 || o.Visible+o.Lost > o.Written {
		t.Errorf("%d lost, %d visible of %d, %v; want some lost", o.Lost, o.Visible, o.Written, err)
	}
}

// For equal records at equal distances the closed form and the simulation agree: the longest latency
// is no larger than predicted and smaller by less than the slack, and there are as many files as
// predicted but for the first and the last.
func TestPropPredict(t *testing.T) {
	t.Parallel()
	for _, name := range peers.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			predicted := 0
			rapid.Check(t, func(t *rapid.T) {
				p := drawPeer(t, name)
				w := peers.Workload{
					Arrivals:           sim.Constant{Interval: rapid.SampledFrom([]time.Duration{1, 5, 10, 100, 500, 1000}).Draw(t, "interval") * ms, First: rapid.SampledFrom([]time.Duration{1, 3, 50, 400}).Draw(t, "first") * ms},
					RecordSize:         rapid.SampledFrom([]int{24, 100, 999}).Draw(t, "record size"),
					CheckpointInterval: rapid.SampledFrom([]time.Duration{100, 999, 2000}).Draw(t, "checkpoint interval") * ms,
					CommitDuration:     rapid.SampledFrom([]time.Duration{0, 0, 1, 700}).Draw(t, "commit duration") * ms,
				}
				prediction, ok := p.Predict(w)
				if !ok {
					return
				}
				// Long enough for some files, and for the first record to have been late.
				every := time.Minute
				if prediction.FilesPerHour > 0 {
					every = time.Duration(math.Min(float64(time.Hour)/prediction.FilesPerHour, float64(10*time.Minute)))
				}
				w.Duration = (max(10*every, 20*time.Second) + min(2*prediction.Max, time.Hour)).Truncate(time.Millisecond)
				if w.Duration > 30*time.Minute || w.Duration/w.Arrivals.(sim.Constant).Interval > 100_000 {
					return
				}
				predicted++
				o, err := p.Simulate(w)
				if err != nil {
					t.Fatal(err)
				}
				if prediction.Max == peers.Forever {
					if o.Visible > 0 {
						t.Fatalf("%s under %s: predicted never, %d visible", p, describe(w), o.Visible)
					}
					return
				}
				first := firstFile(p, w)
				if l := o.Latency(1); l > max(prediction.Max, first) || l <= prediction.Max-prediction.Slack-ms {
					t.Fatalf("%s under %s: longest latency %v, predicted %v less up to %v", p, describe(w), l, prediction.Max, prediction.Slack)
				}
				want := prediction.FilesPerHour * (w.Duration - min(prediction.Max+w.Arrivals.(sim.Constant).First, w.Duration)).Hours()
				if got := float64(o.Files); prediction.FilesPerHour > 0 && (got < want*0.99-2 || got > prediction.FilesPerHour*w.Duration.Hours()*1.01+2) {
					t.Fatalf("%s under %s: %v files, predicted %v", p, describe(w), got, want)
				}
			})
			t.Logf("%d predicted", predicted)
			// These two have a closed form only without options, see TestDefaultsOfAll.
			if predicted == 0 && name != "arroyo-local" && name != "arroyo-v2" {
				t.Error("nothing was predicted")
			}
		})
	}
}

// firstFile is what the first file of a stream can wait in addition: it may begin at another place
// between two checks than all later ones.
func firstFile(p peers.Peer, w peers.Workload) time.Duration {
	b := p.WorstLatency(w)
	if b.Unbounded {
		return 0
	}
	return b.Worst
}

// A service has no outages, and says so in a way that can be told from an option that is wrong;
// every other peer has.
func TestServicesHaveNoOutages(t *testing.T) {
	for _, p := range peers.All() {
		_, err := p.Simulate(peers.Workload{Duration: 5 * time.Minute, Outages: []sim.Outage{{From: time.Minute, To: 2 * time.Minute}}})
		if service := p.Name() == "firehose"; service != errors.Is(err, peers.ErrNoOutages) || service != errors.Is(err, sinkcore.ErrConfig) || !service && err != nil {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}
