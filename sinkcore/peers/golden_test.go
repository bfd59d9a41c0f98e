package peers_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

const ms = time.Millisecond

// parse reads a peer that there has to be.
func parse(t interface {
	Helper()
	Fatal(...any)
}, line string) peers.Peer {
	t.Helper()
	p, err := peers.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fast is 10,000 records a second of 100 bytes, 1 MB/s; slow is ten of them, 1 kB/s, of which
// none falls on a check. A checkpoint every 2 s completes at once.
var (
	fast = peers.Workload{Arrivals: sim.Constant{Interval: 100 * time.Microsecond}}
	slow = peers.Workload{Arrivals: sim.Constant{Interval: 100 * ms, First: 50 * ms}}
)

// coarse has the same bytes a second in fewer, larger records, for what takes years.
func coarse(w peers.Workload, times int, duration time.Duration) peers.Workload {
	c := w.Arrivals.(sim.Constant)
	c.Interval *= time.Duration(times)
	w.Arrivals, w.RecordSize, w.Duration = c, 100*times, duration
	return w
}

// dense is fast in a tenth of the records: still one in every millisecond, that of the start
// included.
var dense = peers.Workload{Arrivals: sim.Constant{Interval: ms, First: 1}, RecordSize: 1000}

// short is ten minutes of it.
func short(w peers.Workload) peers.Workload { w.Duration = 10 * time.Minute; return w }

// rare has a checkpoint a minute, for what takes years.
func rare(w peers.Workload) peers.Workload { w.CheckpointInterval = time.Minute; return w }

// TestDefaultsOfAll is the table of what the defaults come to. Every number is held against the
// closed form and against the simulation.
func TestDefaultsOfAll(t *testing.T) {
	t.Parallel()
	shiftedFlush := "kafka-connect-s3 flush.size=100000000 rotate.schedule.interval.ms=60000 timezone=UTC"
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	for _, c := range []struct {
		peer     string
		w        peers.Workload
		name     string
		max      time.Duration // the longest latency
		within   time.Duration // how much less the simulation may have, where checkpoints fall decides
		files    float64       // an hour, in the long run
		spread   float64       // how much the files of an hour may differ: by the first or the last one, or for a rounded number
		simulate peers.Workload
	}{
		{"flink-filesink", fast, "fast", 62 * time.Second, 2 * time.Second, 60, 1, dense},
		{"flink-filesink", slow, "slow", 122 * time.Second, 2100 * ms, 30, 1, slow},
		{"flink-filesink withRolloverInterval=59000", fast, "fast", 62 * time.Second, 2 * time.Second, 60, 1, dense},
		{"flink-filesink withRolloverInterval=59000", slow, "slow", 62 * time.Second, 2100 * ms, 60, 1, slow},
		{"flink-filesink-bulk", fast, "fast", 2 * time.Second, ms, 1800, 1, dense},
		{"flink-filesink-bulk", slow, "slow", 2 * time.Second, 100 * ms, 1800, 1, slow},
		{"flink-sql", fast, "fast", 136*time.Second + 300*ms, 2100 * ms, 26.8, 1, dense},
		{"flink-sql", slow, "slow", 31*time.Minute + 2*time.Second, 2100 * ms, 1.94, 1, slow},
		{"flink-sql format=parquet", fast, "fast", 2 * time.Second, ms, 1800, 1, dense},
		{"flink-sql format=parquet", slow, "slow", 2 * time.Second, 100 * ms, 1800, 1, slow},
		// csv is a bulk format for the writer, whatever the documentation says.
		{"flink-sql format=csv", slow, "slow", 2 * time.Second, 100 * ms, 1800, 1, slow},
		// 1000 parts of 32 MiB at 1 MB/s are 33,554 s, which is 9.32 hours, and at 1 kB/s 388 days.
		{"arroyo", fast, "fast", hours(9.3213), 3 * time.Second, 0.10729, 0.05, coarse(fast, 10000, 20*time.Hour)},
		{"arroyo", slow, "slow", 388*24*time.Hour + 9*time.Hour, time.Hour, 0.000107, 0.0001, rare(coarse(slow, 36000, 400*24*time.Hour))},
		{"arroyo-local", fast, "fast", peers.Forever, 0, 0, 0, coarse(fast, 1000, time.Hour)},
		{"arroyo-local", slow, "slow", peers.Forever, 0, 0, 0, slow},
		{"kafka-connect-s3 flush.size=1000", fast, "fast", 100 * ms, ms, 36_000, 6, short(fast)},
		{"kafka-connect-s3 flush.size=1000", slow, "slow", 100 * time.Second, 100 * ms, 36, 1, slow},
		{shiftedFlush, fast, "fast", 60 * time.Second, ms, 60, 6, short(fast)},
		// The table of the peers has at most 120 s, which is the bound; a stream that flows
		// calls put() at every record.
		{shiftedFlush, slow, "slow", 60*time.Second + 100*ms, 200 * ms, 60, 1, slow},
		{"aiven-s3", fast, "fast", 60 * time.Second, ms, 60, 1, dense},
		{"aiven-s3", slow, "slow", 60 * time.Second, 100 * ms, 60, 1, slow},
		{"bento-s3", fast, "fast", 0, 0, 36_000_000, 501, short(fast)},
		{"bento-s3", slow, "slow", 0, 0, 36_000, 1, slow},
		{"vector-s3", fast, "fast", 10 * time.Second, ms, 360, 1, dense},
		{"vector-s3", slow, "slow", 300 * time.Second, ms, 12, 1, slow},
		{"fluentd-file", fast, "fast", 255 * time.Second, 2 * time.Second, 14.12, 1, dense},
		// A day, 600 s, up to 54.6 s until the check and a second until the thread.
		{"fluentd-file", slow, "slow", 24*time.Hour + 11*time.Minute, 70 * time.Second, 0.0417, 0.001, coarse(slow, 10, 10*24*time.Hour+15*time.Minute)},
		{"firehose", fast, "fast", 5243 * ms, ms, 686.6, 1, dense},
		{"firehose", slow, "slow", 300 * time.Second, ms, 12, 1, slow},
		{"iceberg-flink", fast, "fast", 2 * time.Second, ms, 1800, 1, dense},
		{"iceberg-flink", slow, "slow", 2 * time.Second, 100 * ms, 1800, 1, slow},
		{"flink-kafka sink.transactional-id-prefix=a properties.transaction.timeout.ms=900000", slow, "slow", 2 * time.Second, 100 * ms, 1800, 1, slow},
	} {
		t.Run(fmt.Sprintf("%s/%s", c.peer, c.name), func(t *testing.T) {
			t.Parallel()
			checkDefaults(t, c.peer, c.w, c.simulate, c.max, c.within, c.files, c.spread)
		})
	}
	// A batch of one second under a trigger of a minute.
	for _, w := range []peers.Workload{dense, slow} {
		w.CommitDuration = time.Second
		checkDefaults(t, "spark processingTime='60 seconds'", w, w, 61*time.Second, 100*ms, 60, 1)
	}
}

func checkDefaults(t *testing.T, peer string, w, simulated peers.Workload, most, within time.Duration, files, spread float64) {
	t.Helper()
	p := parse(t, peer)
	predicted, ok := p.Predict(w)
	if !ok {
		t.Fatal("no closed form")
	}
	outcome, err := p.Simulate(simulated)
	if err != nil {
		t.Fatal(err)
	}
	if most == peers.Forever {
		if predicted.Max != peers.Forever || predicted.FilesPerHour != 0 || outcome.Visible != 0 || outcome.Files != 0 {
			t.Errorf("predicted %v, simulated %d visible records in %d files; want nothing ever", predicted, outcome.Visible, outcome.Files)
		}
		return
	}
	seen := outcome.Latency(1)
	t.Logf("longest latency: predicted %v, simulated %v; files an hour: %v, %v", predicted.Max, seen, predicted.FilesPerHour, outcome.FilesPerHour())
	if d := predicted.Max - most; d > within+100*ms || d < -within-100*ms {
		t.Errorf("predicted %v, want %v", predicted.Max, most)
	}
	if seen > predicted.Max || seen < predicted.Max-predicted.Slack-within || seen > most+within || seen < most-within-predicted.Slack {
		t.Errorf("simulated %v, want %v, and at most %v and more than %v less than predicted", seen, most, predicted.Max, predicted.Slack)
	}
	if math.Abs(predicted.FilesPerHour-files) > math.Max(files*0.01, spread) {
		t.Errorf("predicted %v files an hour, want %v", predicted.FilesPerHour, files)
	}
	if math.Abs(outcome.FilesPerHour()-files) > math.Max(files*0.01, spread) {
		t.Errorf("simulated %v files an hour, want %v", outcome.FilesPerHour(), files)
	}
}

// The article: Flink's defaults, ten records a second from 50 ms on, a checkpoint at 150 ms and
// every 2 s after that.
func TestArticle(t *testing.T) {
	t.Parallel()
	w := peers.FromSim(sim.Article(nil, 0))
	for _, c := range []struct {
		peer       string
		first, max time.Duration
		files      int64
	}{
		{"flink-filesink", 120150 * ms, 120100 * ms, 29},
		{"flink-filesink withRolloverInterval=10000 withInactivityInterval=10000 withBucketCheckInterval=1000", 12150 * ms, 12100 * ms, 327},
		{"flink-filesink-bulk", 150 * ms, 2000 * ms, 1800},
		{"flink-filesink withRolloverInterval=59000", 60150 * ms, 60100 * ms, 59},
	} {
		o, err := parse(t, c.peer).Simulate(w)
		if err != nil || o.FirstVisible != c.first || o.Latency(1) != c.max || o.Files != c.files {
			t.Errorf("%s: first %v, longest %v, %d files, %v; want %v, %v, %d", c.peer, o.FirstVisible, o.Latency(1), o.Files, err, c.first, c.max, c.files)
		}
	}
}

// In Flink SQL the timer shows the time at which it fires. A millisecond late at each of
// thirty checks, it finds a part of up to 30 ms after the start old enough at the thirtieth.
func TestFlinkSQLReadsTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first  time.Duration
		closes time.Duration
	}{{30 * ms, 30*time.Minute + 30*ms}, {31 * ms, 31*time.Minute + 31*ms}} {
		o, err := parse(t, "flink-sql").Simulate(peers.Workload{
			Arrivals: sim.Constant{Interval: 10 * time.Second, First: c.first}, CheckpointInterval: ms, TimerDelay: ms, Duration: 40 * time.Minute,
		})
		if err != nil || o.FirstVisible != c.closes {
			t.Errorf("first record at %v: visible at %v, %v; want %v", c.first, o.FirstVisible, err, c.closes)
		}
	}
}

// one gives a stream of records at instants.
func one(at ...int64) sim.Arrivals {
	var records []sim.Arrival
	for _, a := range at {
		records = append(records, sim.Arrival{At: a, EventTime: sinkcore.NoTime})
	}
	return sim.Recorded{Name: "some", Records: records}
}
