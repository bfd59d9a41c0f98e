package peers_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
)

// What a peer prints is read as a peer that prints the same and does the same.
func TestPropParsePrints(t *testing.T) {
	t.Parallel()
	for _, name := range peers.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				p := drawPeer(t, name)
				again := parse(t, p.String())
				if again.String() != p.String() || reflect.TypeOf(again) != reflect.TypeOf(p) {
					t.Fatalf("%s is read as %s", p, again)
				}
				w := drawWorkload(t)
				first, err := p.Simulate(w)
				second, errToo := again.Simulate(w)
				if err != nil || errToo != nil || !reflect.DeepEqual(first, second) {
					t.Fatalf("%s does another thing when it is read again: %v, %v", p, err, errToo)
				}
			})
		})
	}
}

// Every peer is there once, with its defaults; every option has a name of its own, tells what it
// does and where it is from, and its default is a value that it takes.
func TestAll(t *testing.T) {
	t.Parallel()
	all, names := peers.All(), peers.Names()
	if len(all) != len(names) || len(all) != 19 {
		t.Fatalf("%d peers, %d names; want 19", len(all), len(names))
	}
	for i, p := range all {
		if p.Name() != names[i] || slices.Index(names, p.Name()) != i {
			t.Errorf("peer %d is %s, want %s, and once", i, p.Name(), names[i])
		}
		seen := map[string]bool{}
		for _, o := range p.Options() {
			if o.Name == "" || seen[o.Name] || o.Meaning == "" || o.Source == "" || o.Set != (o.Value != o.Default) {
				t.Errorf("%s: option %+v: no name of its own, or nothing told", p, o)
			}
			seen[o.Name] = true
			if len(values[o.Name]) == 0 {
				t.Errorf("%s: %s is never drawn", p, o.Name)
			}
			if o.Default == "" || o.Default == "-1" && o.Name != "rotate.interval.ms" && o.Name != "rotate.schedule.interval.ms" {
				continue
			}
			if p.Name() == "firehose" {
				continue // takes both options or none
			}
			with := withExample(p.Name())
			if !strings.Contains(with, o.Name+"=") {
				with += " " + o.Name + "=" + o.Default
			}
			q, err := peers.Parse(with)
			if err != nil {
				t.Errorf("%s does not take the default: %v", with, err)
				continue
			}
			if q.String() != p.String() {
				t.Errorf("%s: the default is printed: %s", with, q)
			}
		}
	}
}

// A peer that is filled in as a struct is refused as one that is read.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, option, says string
	}{
		{"", "", "a peer is needed"},
		{"flink-filesnk", "", "did you mean flink-filesink?"},
		{"kafka-conect-s3 flush.size=1", "", "did you mean kafka-connect-s3?"},
		{"kafka-connect-s3", "flush.size", "is required"},
		{"kafka-connect-hdfs", "flush.size", "is required"},
		{"kafka-connect-s3 flush.size=10 rotate.schedule.interval.ms=60000", "timezone", "must be set when using rotate.schedule.interval.ms (kafka-connect-s3 S3SinkConnectorConfig.validateTimezone)"},
		{"kafka-connect-hdfs flush.size=10 rotate.schedule.interval.ms=60000", "timezone", "HdfsSinkConnectorConfig.validateTimezone"},
		{"kafka-connect-s3 flush.size=10 timezone=Europe/Berln", "timezone", "time zone database"},
		{"kafka-connect-s3 flush.size=10 rotate.schedule.intervall.ms=1", "rotate.schedule.intervall.ms", "did you mean rotate.schedule.interval.ms?"},
		{"kafka-connect-s3 flush.size=ten", "flush.size", "want a whole number"},
		{"kafka-connect-s3 flush.size=10 rotate.interval.ms=1min", "rotate.interval.ms", "milliseconds, without a unit"},
		{"kafka-connect-s3 flush.size=10 partitioner.class=TimeBasedPartitioner timezone=UTC locale=en path.format=yyyy", "partition.duration.ms", "must be positive"},
		{"kafka-connect-s3 flush.size=10 partitioner.class=TimeBasedPartitioner timezone=UTC locale=en partition.duration.ms=1000", "path.format", "is required"},
		{"kafka-connect-s3 flush.size=10 partitioner.class=HourlyPartitioner timezone=UTC", "locale", "is required"},
		{"kafka-connect-s3 flush.size=10 partitioner.class=DailyPartitioner locale=en", "timezone", "is required"},
		{"kafka-connect-s3 flush.size=10 partitioner.class=HourlyPartition", "partitioner.class", "did you mean HourlyPartitioner?"},
		{"kafka-connect-s3 flush.size=10 flush.size=10", "flush.size", "is given twice"},
		{"kafka-connect-s3 flush.size", "flush.size", "want option=value"},
		{"kafka-connect-s3 flush.size='10", "", "quote is not closed"},
		{"aiven-s3 tasks.max=-1", "tasks.max", "at least 1"},
		{"flink-kafka", "sink.transactional-id-prefix", "is required for exactly-once (Flink KafkaSinkBuilder.sanityCheck)"},
		{"flink-kafka sink.transactional-id-prefix=a", "properties.transaction.timeout.ms", "is more than the broker's transaction.max.timeout.ms, 900000"},
		{"flink-sql format=cvs", "format", "did you mean csv?"},
		{"flink-sql sink.partition-commit.trigger=partition-time", "sink.partition-commit.trigger", "is not modelled"},
		{"flink-sql sink.rolling-policy.rollover-interval='10 minuts'", "sink.rolling-policy.rollover-interval", "want a time such as"},
		{"flink-filesink withMaxPartSize=12tb", "withMaxPartSize", "want a number of bytes"},
		{"flink-filesink withRolloverInterval=-1", "withRolloverInterval", "not negative"},
		{"flink-filesink enableCompactionOnCheckpoint=-2", "enableCompactionOnCheckpoint", "more than 0"},
		{"arroyo multipart.target_part_size=4mb", "multipart.target_part_size", "must be at least 5242880"},
		{"arroyo partitioning.time_pattern=%j", "partitioning.time_pattern", "only %Y"},
		{"bento-s3 batching.jitter=-0.1", "batching.jitter", "cannot be negative"},
		{"vector-s3 batch.timeout_secs=-1", "batch.timeout_secs", "must be greater than zero"},
		{"vector-s3 batch.max_events=-1", "batch.max_events", "must be greater than zero"},
		{"fluentd-file flush_mode=lazy flush_interval=10s", "flush_interval", "can't be specified when flush_mode is not interval"},
		{"fluentd-file chunk_full_threshold=1.5", "chunk_full_threshold", "between 0 and 1"},
		{"firehose SizeInMBs=10", "SizeInMBs", "needs one for the other"},
		{"firehose SizeInMBs=129 IntervalInSeconds=60", "SizeInMBs", "must be 1 to 128"},
		{"firehose SizeInMBs=10 IntervalInSeconds=901", "IntervalInSeconds", "must be 0 to 900"},
		{"hudi hoodie.parquet.small.file.limit=200mb", "hoodie.parquet.small.file.limit", "must be below"},
		{"delta spark.databricks.delta.autoCompact.minNumFiles=-1", "spark.databricks.delta.autoCompact.minNumFiles", "greater than 0"},
		{"iceberg-flink write.target-file-size-byte=1", "write.target-file-size-byte", "did you mean write.target-file-size-bytes?"},
		{"spark processingTime=fast", "processingTime", "want a time"},
	} {
		_, err := peers.Parse(c.line)
		var refused *peers.OptionError
		if !errors.As(err, &refused) || !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%q: %v is no OptionError", c.line, err)
			continue
		}
		if refused.Option != c.option || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: option %q, %q; want option %q and %q", c.line, refused.Option, err, c.option, c.says)
		}
	}
	for _, p := range []peers.Peer{
		peers.KafkaConnectS3{}, peers.FlinkKafka{}, peers.FlinkSQL{Format: "tsv"}, peers.FlinkFileSink{RolloverInterval: time.Microsecond},
		peers.Spark{ProcessingTime: -1}, peers.Firehose{SizeInMBs: 3}, peers.Hudi{MaxFileSize: 1}, peers.VectorFile{IdleTimeout: -time.Second},
		peers.FluentdFile{FlushMode: "eager"}, peers.BentoS3{Period: time.Microsecond},
	} {
		if _, err := p.Simulate(peers.Workload{}); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%s: %v wraps no ErrConfig", p, err)
		}
	}
}

// A unit may be written as the peer's own parser takes it.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{"flink-sql sink.rolling-policy.rollover-interval='10 min' sink.rolling-policy.file-size='1 kb'", "flink-sql sink.rolling-policy.file-size=1024 sink.rolling-policy.rollover-interval=10min"},
		{"flink-sql sink.rolling-policy.rollover-interval=30min format=json", "flink-sql"},
		{"spark processingTime='90 seconds'", "spark processingTime=90s"},
		{"spark processingTime='120 seconds'", "spark processingTime=2min"},
		{"fluentd-file timekey=1h chunk_limit_size=8m timekey_wait=0", "fluentd-file timekey=1h timekey_wait=0 chunk_limit_size=8388608"},
		{"arroyo rolling_policy.interval=0 rolling_policy.file_size=100MB", "arroyo rolling_policy.file_size=104857600 rolling_policy.interval=0"},
		{"vector-s3 batch.timeout_secs=300", "vector-s3"},
		{"kafka-connect-s3  flush.size=5\trotate.file.on.partition.change=false", "kafka-connect-s3 flush.size=5 rotate.file.on.partition.change=false"},
		{"firehose SizeInMBs=5 IntervalInSeconds=0", "firehose SizeInMBs=5 IntervalInSeconds=0"},
	} {
		if got := parse(t, c.line).String(); got != c.want {
			t.Errorf("%s is %s, want %s", c.line, got, c.want)
		}
	}
}

// A workload that makes no sense is refused by every peer.
func TestRefusedWorkload(t *testing.T) {
	t.Parallel()
	for _, w := range []peers.Workload{
		{Duration: -1}, {CommitDuration: time.Microsecond}, {RecordSize: -1}, {Subtasks: -1}, {Buckets: -1}, {Start: -1}, {TimerDelay: -time.Second},
		{Arrivals: simConstant(-1)}, {Outages: simOutages(2, 1)},
	} {
		for _, p := range peers.All() {
			if _, err := p.Simulate(w); !errors.Is(err, sinkcore.ErrConfig) {
				t.Errorf("%s under %s: %v wraps no ErrConfig", p, describe(w), err)
			}
		}
	}
}

// The nearest is the one with the fewest changes, and nothing is near everything.
func TestNearest(t *testing.T) {
	candidates := []string{"rotate.interval.ms", "rotate.schedule.interval.ms", "flush.size"}
	for got, want := range map[string]string{"rotate.intervall.ms": "rotate.interval.ms", "FLUSH.SIZE": "flush.size", "shedule.interval.ms": "rotate.interval.ms", "x": "", "s3.bucket.name": ""} {
		if near := peers.Nearest(got, candidates); near != want {
			t.Errorf("%q: %q, want %q", got, near, want)
		}
	}
}
