package peers_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

// values gives options values that make files roll within seconds, so that a workload of
// minutes tries them many times.
var values = map[string][]string{
	"withMaxPartSize":                                {"1", "99", "100", "1000", "5000"},
	"withRolloverInterval":                           {"1", "999", "1000", "1001", "5000", "7777"},
	"withInactivityInterval":                         {"1", "500", "3000"},
	"withBucketCheckInterval":                        {"1", "10", "1000", "3333"},
	"enableCompactionOnCheckpoint":                   {"1", "2", "5"},
	"setSizeThreshold":                               {"1", "1000", "20000"},
	"format":                                         {"json", "raw", "csv", "parquet"},
	"sink.rolling-policy.file-size":                  {"1", "1kb", "5000"},
	"sink.rolling-policy.rollover-interval":          {"1ms", "1s", "5s", "7777ms"},
	"sink.rolling-policy.inactivity-interval":        {"1ms", "500ms", "3s"},
	"sink.rolling-policy.check-interval":             {"1ms", "10ms", "1s", "3333ms"},
	"auto-compaction":                                {"true", "false"},
	"compaction.file-size":                           {"1", "1000", "100000"},
	"sink.partition-commit.delay":                    {"0", "1ms", "2s", "5s"},
	"sink.partition-commit.policy.kind":              {"none", "success-file"},
	"sink.transactional-id-prefix":                   {"a"},
	"properties.transaction.timeout.ms":              {"900000", "2000"},
	"transaction.max.timeout.ms":                     {"900000"},
	"write.target-file-size-bytes":                   {"1", "50000"},
	"rolling_policy.file_size":                       {"1", "2", "3", "250", "5mb", "20mb"},
	"rolling_policy.interval":                        {"900ms", "1s", "5s", "1500ms"},
	"rolling_policy.inactivity_interval":             {"900ms", "1s", "3s"},
	"rolling_policy.watermark_expiration":            {"true", "false"},
	"partitioning.time_pattern":                      {"%Y-%m-%d-%H-%M-%S", "%M", "all"},
	"multipart.target_part_size":                     {"5mb"},
	"multipart.max_parts":                            {"1", "3"},
	"flush.size":                                     {"1", "2", "7", "1000000"},
	"rotate.interval.ms":                             {"-1", "1", "1000", "5000"},
	"rotate.schedule.interval.ms":                    {"-1", "1", "1000", "7000", "60000"},
	"rotate.file.on.partition.change":                {"true", "false"},
	"partitioner.max.open.files":                     {"-1", "1", "2"},
	"partitioner.class":                              {"DefaultPartitioner", "FieldPartitioner", "TimeBasedPartitioner", "HourlyPartitioner"},
	"partition.duration.ms":                          {"1", "1000", "60000"},
	"path.format":                                    {"yyyy"},
	"locale":                                         {"en-US"},
	"timezone":                                       {"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"},
	"timestamp.extractor":                            {"Wallclock", "Record"},
	"offset.flush.interval.ms":                       {"100", "1000", "5000"},
	"tasks.max":                                      {"1", "2"},
	"processingTime":                                 {"0", "1ms", "1s", "5s", "7777ms"},
	"batching.count":                                 {"0", "1", "2", "10"},
	"batching.byte_size":                             {"0", "1", "1000", "5000"},
	"batching.period":                                {"1ms", "1s", "5s"},
	"batching.jitter":                                {"0", "0.3", "1.5"},
	"batch.max_bytes":                                {"1", "100", "950", "5000"},
	"batch.max_events":                               {"1", "3", "100"},
	"batch.timeout_secs":                             {"1", "5"},
	"idle_timeout_secs":                              {"1", "5"},
	"chunk_keys":                                     {"time", "none"},
	"timekey":                                        {"1s", "5s", "60s"},
	"timekey_wait":                                   {"0", "1s", "7s", "10s"},
	"flush_mode":                                     {"default", "lazy", "interval", "immediate"},
	"flush_interval":                                 {"1s", "5s", "20s"},
	"chunk_limit_size":                               {"1", "950", "5000"},
	"chunk_full_threshold":                           {"0.5", "1"},
	"flush_thread_interval":                          {"100ms", "1s", "3s"},
	"flush_thread_burst_interval":                    {"100ms", "1s"},
	"SizeInMBs":                                      {"1", "5"},
	"IntervalInSeconds":                              {"0", "1", "5"},
	"hoodie.parquet.small.file.limit":                {"1", "10000"},
	"hoodie.parquet.max.file.size":                   {"10001", "20000"},
	"delta.autoOptimize.autoCompact":                 {"true", "false"},
	"spark.databricks.delta.autoCompact.minNumFiles": {"2", "5"},
	"spark.databricks.delta.autoCompact.maxFileSize": {"1000", "100000"},
	"sink.partition-commit.trigger":                  {"process-time"},
}

// drawPeer draws a peer of a name with options that it takes. Options that decide how long a
// record waits are mostly given, since their defaults are longer than the workloads.
func drawPeer(t *rapid.T, name string) peers.Peer {
	zero := parse(t, withExample(name))
	for {
		line := name
		for _, o := range zero.Options() {
			if o.Default == "" && o.Value != "" || rapid.IntRange(0, 3).Draw(t, "give "+o.Name) > 0 {
				line += " " + o.Name + "='" + rapid.SampledFrom(values[o.Name]).Draw(t, o.Name) + "'"
			}
		}
		p, err := peers.Parse(line)
		if err == nil {
			return p
		}
		var refused *peers.OptionError
		if !errors.As(err, &refused) || !errors.Is(err, sinkcore.ErrConfig) {
			t.Fatalf("%s: %v is no OptionError", line, err)
		}
	}
}

// withExample is a name with the options that the peer cannot do without.
func withExample(name string) string {
	for _, p := range peers.All() {
		if p.Name() == name {
			return p.String()
		}
	}
	return name
}

// drawWorkload draws a stream of some minutes.
func drawWorkload(t *rapid.T) peers.Workload {
	w := peers.Workload{
		RecordSize:         rapid.SampledFrom([]int{24, 100, 999, 1 << 20}).Draw(t, "record size"),
		Subtasks:           rapid.IntRange(1, 3).Draw(t, "subtasks"),
		Buckets:            rapid.IntRange(1, 3).Draw(t, "buckets"),
		CheckpointInterval: rapid.SampledFrom([]time.Duration{100, 999, 2000, 5000}).Draw(t, "checkpoint interval") * ms,
		FirstCheckpoint:    rapid.SampledFrom([]time.Duration{1, 150, 3000}).Draw(t, "first checkpoint") * ms,
		CommitDuration:     rapid.SampledFrom([]time.Duration{0, 0, 1, 700, 3000, 5000}).Draw(t, "commit duration") * ms,
		TimerDelay:         rapid.SampledFrom([]time.Duration{0, 0, 1, 30}).Draw(t, "timer delay") * ms,
		Start:              rapid.Int64Range(0, 4e12).Draw(t, "start"),
		Seed:               rapid.Uint64().Draw(t, "seed"),
		Duration:           4 * time.Minute,
	}
	w.Arrivals = drawArrivals(t, 2*time.Minute)
	return w
}

// drawArrivals draws records that end at an instant.
func drawArrivals(t *rapid.T, end time.Duration) sim.Arrivals {
	var from sim.Arrivals
	switch rapid.IntRange(0, 3).Draw(t, "arrivals") {
	case 0:
		from = sim.Constant{
			Interval: rapid.SampledFrom([]time.Duration{10, 100, 777, 1000, 2500}).Draw(t, "interval") * ms,
			First:    rapid.SampledFrom([]time.Duration{0, 1, 50}).Draw(t, "first") * ms,
		}
	case 1:
		from = sim.Poisson{Interval: rapid.SampledFrom([]time.Duration{20, 300, 4000}).Draw(t, "mean") * ms, Seed: rapid.Uint64().Draw(t, "arrivals seed")}
	case 2:
		from = sim.Bursts{Size: rapid.IntRange(1, 50).Draw(t, "burst"), Every: 20 * time.Second, Interval: rapid.SampledFrom([]time.Duration{1, 333}).Draw(t, "within") * ms}
	default:
		var at []int64
		now := int64(0)
		for range rapid.IntRange(0, 30).Draw(t, "records") {
			// Distances at which the limits lie, and one more or less.
			now += rapid.SampledFrom([]int64{0, 0, 1, 2, 499, 500, 999, 1000, 1001, 2999, 3000, 3001, 5000, 10_000}).Draw(t, "gap")
			at = append(at, now)
		}
		return one(at...)
	}
	return until{from, end}
}

// until is a stream that ends.
type until struct {
	sim.Arrivals
	end time.Duration
}

func (u until) All() iter.Seq[sim.Arrival] {
	return func(yield func(sim.Arrival) bool) {
		for a := range u.Arrivals.All() {
			if a.At > u.end.Milliseconds() || !yield(a) {
				return
			}
		}
	}
}

// describe prints a workload without what is zero.
func describe(w peers.Workload) string {
	s := fmt.Sprintf("%+v", w)
	return strings.ReplaceAll(s, "\n", " ")
}

// drawOutages draws times in which no process runs.
func drawOutages(t *rapid.T) (outages []sim.Outage) {
	at := time.Duration(0)
	for range rapid.IntRange(0, 4).Draw(t, "outages") {
		from := at + rapid.SampledFrom([]time.Duration{0, 1, 500, 2000, 10_000, 30_000}).Draw(t, "runs for")*ms
		at = from + rapid.SampledFrom([]time.Duration{0, 1, 700, 5000}).Draw(t, "down for")*ms
		outages = append(outages, sim.Outage{From: from, To: at})
	}
	return outages
}

func simConstant(interval time.Duration) sim.Arrivals { return sim.Constant{Interval: interval} }

func simOutages(from, to time.Duration) []sim.Outage {
	return []sim.Outage{{From: from * ms, To: to * ms}}
}
