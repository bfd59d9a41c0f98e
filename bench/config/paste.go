package config

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// Write prints settings in a form, ready to paste. What [Read] makes of it has the same
// policy, check interval and checkpoint interval; a connector of Kafka Connect has none of
// these, and is the nearest that there is: see [Connect]. What is not about files and
// checkpoints, such as a path, has a placeholder.
//
// The error wraps sinkcore.ErrConfig if the form cannot say the policy.
func Write(form Form, s plan.Settings) (string, error) {
	switch form {
	case FlinkJava:
		return writeJava(s)
	case FlinkSQL:
		return writeSQL(s)
	case KafkaConnect:
		guarantee, err := plan.Guarantees(s)
		if err != nil {
			return "", err
		}
		return WriteConnect(Connect(s, guarantee, plan.ManyFilesPerHour)), nil
	}
	return "", fmt.Errorf("%w: %q is no form", sinkcore.ErrConfig, form)
}

// cannotSay is the error for a policy that a form has no words for.
func cannotSay(form Form, s plan.Settings) error {
	return fmt.Errorf("%w: %s cannot say %v", sinkcore.ErrConfig, form, s.Policy)
}

// interval is how often checkpoints start.
func interval(s plan.Settings) time.Duration { return cmp.Or(s.CheckpointInterval, 2*time.Second) }

// policyOf is the policy with its defaults.
func policyOf(s plan.Settings) sinkcore.RollingPolicy {
	if s.Policy == nil {
		return sinkcore.Default{}.Filled()
	}
	if p, ok := s.Policy.(sinkcore.Default); ok {
		return p.Filled()
	}
	return s.Policy
}

func writeJava(s plan.Settings) (string, error) {
	var policy string
	check := ""
	switch p := policyOf(s).(type) {
	case sinkcore.Default:
		policy = "DefaultRollingPolicy.builder()\n" +
			"                .withRolloverInterval(" + javaDuration(p.Rollover) + ")\n" +
			"                .withInactivityInterval(" + javaDuration(p.Inactivity) + ")\n" +
			"                .withMaxPartSize(" + javaSize(p.Size) + ")\n" +
			"                .build()"
		check = "        .withBucketCheckInterval(" + javaCheck(cmp.Or(s.CheckInterval, sinkcore.DefaultCheckInterval)) + ")\n"
	case sinkcore.OnCheckpoint:
		policy = "OnCheckpointRollingPolicy.build()"
	case sinkcore.Deadline:
		policy = fmt.Sprintf("new DeadlineRollingPolicy<>(%s, %s, %s, %dL)", javaDuration(p.Within), javaDuration(p.Checkpoint), javaDuration(p.Duration), p.Target)
	default:
		return "", cannotSay(FlinkJava, s)
	}
	return "env.enableCheckpointing(" + strconv.FormatInt(interval(s).Milliseconds(), 10) + "); // " + Short(interval(s)) + "\n\n" +
		"FileSink<String> sink = FileSink\n" +
		"        .forRowFormat(new Path(\"…\"), new SimpleStringEncoder<String>())\n" +
		"        .withRollingPolicy(" + policy + ")\n" + check +
		"        .build();\n", nil
}

// javaDuration is a duration in the largest unit of Duration that it is a whole number of.
func javaDuration(d time.Duration) string {
	for _, u := range []struct {
		method string
		unit   time.Duration
	}{{"ofHours", time.Hour}, {"ofMinutes", time.Minute}, {"ofSeconds", time.Second}} {
		if d > 0 && d%u.unit == 0 {
			return fmt.Sprintf("Duration.%s(%d)", u.method, d/u.unit)
		}
	}
	return fmt.Sprintf("Duration.ofMillis(%d)", d.Milliseconds())
}

// javaCheck is milliseconds, which is what withBucketCheckInterval takes.
func javaCheck(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func javaSize(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("MemorySize.ofMebiBytes(%d)", n>>20)
	}
	return fmt.Sprintf("new MemorySize(%dL)", n)
}

// sqlDuration is a duration as Flink's configuration has it.
func sqlDuration(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if d > 0 && d%u.unit == 0 {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func sqlSize(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

func writeSQL(s plan.Settings) (string, error) {
	options := [][2]string{{"connector", "filesystem"}, {"path", "…"}}
	note := ""
	switch p := policyOf(s).(type) {
	case sinkcore.Default:
		options = append(options, [][2]string{
			{"format", "json"},
			{"sink.rolling-policy.rollover-interval", sqlDuration(p.Rollover)},
			{"sink.rolling-policy.inactivity-interval", sqlDuration(p.Inactivity)},
			{"sink.rolling-policy.check-interval", sqlDuration(cmp.Or(s.CheckInterval, sinkcore.DefaultCheckInterval))},
			{"sink.rolling-policy.file-size", sqlSize(p.Size)},
		}...)
		note = "-- json and raw only: csv, avro, parquet and orc make a file at every checkpoint, whatever the options say.\n"
	case sinkcore.OnCheckpoint:
		options = append(options, [2]string{"format", "parquet"})
		// The limits of the connector are there all the same, and must not come first.
		if long := interval(s); long >= 30*time.Minute {
			options = append(options, [2]string{"sink.rolling-policy.rollover-interval", sqlDuration(2 * long)}, [2]string{"sink.rolling-policy.inactivity-interval", sqlDuration(2 * long)})
		}
		lanes := float64(max(s.Subtasks, 1)) * float64(max(s.Buckets, 1))
		if most := rate(s.Arrivals) / lanes * float64(cmp.Or(s.RecordSize, 100)) * interval(s).Seconds(); most > float64(sinkcore.DefaultSize)/2 {
			options = append(options, [2]string{"sink.rolling-policy.file-size", sqlSize(int64(min(2*most, math.MaxInt64/4)))})
		}
		note = "-- csv, avro, parquet and orc make a file at every checkpoint; no option does it for json and raw.\n"
	default:
		return "", cannotSay(FlinkSQL, s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "SET 'execution.checkpointing.interval' = '%s';\n\n%s", sqlDuration(interval(s)), note)
	b.WriteString("CREATE TABLE files (\n  line STRING\n) WITH (\n")
	for i, o := range options {
		fmt.Fprintf(&b, "  '%s' = '%s'", o[0], o[1])
		if i < len(options)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString(");\n")
	return b.String(), nil
}

// ConnectPlan is the nearest that Kafka Connect's S3 connector has to settings of a sink that
// commits with checkpoints.
type ConnectPlan struct {
	Connector peers.KafkaConnectS3

	// Bound is the longest that a record waits, whatever arrives, and FilesPerHour the most
	// files in the long run.
	Bound        time.Duration
	FilesPerHour float64
}

// Connect finds the settings of the S3 connector whose records wait no longer than those of
// settings with a guarantee, and that make as few files as goes with that; or that make no
// more than so many files an hour, if that asks for a longer wait. It rotates by the
// clock, since nothing else shows the records of a stream that stops; the clock is looked at
// when records arrive, and each offset.flush.interval.ms if none do. So the two
// together are the bound. Topic partitions stand for subtasks, and the time of an upload for
// that of a checkpoint.
func Connect(s plan.Settings, g plan.Guarantee, files float64) ConnectPlan {
	bound := max(g.Worst-s.CheckpointDuration, 2*time.Millisecond)
	// A flush that is as long as the checkpoint interval costs no file where the bound leaves
	// room for it; with half of the bound the rotation has the other half.
	flush := min(interval(s), bound/2, time.Minute).Truncate(time.Millisecond)
	schedule := bound - flush
	if schedule > time.Second {
		schedule = schedule.Truncate(time.Second)
	}
	lanes := float64(max(s.Subtasks, 1)) * float64(max(s.Buckets, 1))
	if records := rate(s.Arrivals) * 3600; records > files {
		needed := math.Ceil(lanes * 3600 * 1000 / files * (1 - 1e-12))
		schedule = max(schedule, time.Duration(min(needed, 1e12))*time.Millisecond)
	}
	flush = min(flush, schedule)
	c := peers.KafkaConnectS3{}
	c.RotateScheduleInterval, c.OffsetFlushInterval, c.Timezone = schedule, flush, "UTC"

	// Twice as many records as come in that time: more come only when the stream is at
	// twice its rate, and then a file more does no harm.
	subtasks := float64(max(s.Subtasks, 1))
	records := 2 * rate(s.Arrivals) * schedule.Seconds() / subtasks
	c.FlushSize = int64(math.Pow(10, math.Ceil(math.Log10(max(1000, min(records, 1e12))))))
	w := Workload(s)
	return ConnectPlan{
		Connector: c, Bound: c.WorstLatency(w).Worst,
		FilesPerHour: min(lanes*float64(time.Hour)/float64(schedule), rate(s.Arrivals)*3600),
	}
}

// rate is records a second.
func rate(a plan.Arrivals) float64 {
	switch a := a.(type) {
	case plan.Constant:
		return float64(time.Second) / float64(cmp.Or(a.Interval, 100*time.Millisecond))
	case plan.Poisson:
		return float64(time.Second) / float64(cmp.Or(a.Interval, 100*time.Millisecond))
	case plan.Bursts:
		return float64(cmp.Or(a.Size, 600)) * float64(time.Second) / float64(cmp.Or(a.Every, time.Minute))
	}
	return 10
}

// Workload is what arrives at settings, as the other engines take it.
func Workload(s plan.Settings) peers.Workload {
	w := peers.Workload{
		RecordSize: s.RecordSize, Subtasks: s.Subtasks, Buckets: s.Buckets,
		CheckpointInterval: s.CheckpointInterval, FirstCheckpoint: s.FirstCheckpoint, CommitDuration: s.CheckpointDuration, Duration: s.Duration,
	}
	switch a := s.Arrivals.(type) {
	case plan.Constant:
		w.Arrivals = sim.Constant{Interval: a.Interval, First: a.First}
	case plan.Poisson:
		w.Arrivals = sim.Poisson{Interval: a.Interval}
	case plan.Bursts:
		w.Arrivals = sim.Bursts{Size: a.Size, Every: a.Every, Interval: a.Interval, First: a.First}
	}
	for _, o := range s.Outages {
		w.Outages = append(w.Outages, sim.Outage{From: o.From, To: o.To})
	}
	return w
}

// WriteConnect prints the properties of the connector and of its worker.
func WriteConnect(p ConnectPlan) string {
	c := p.Connector
	return fmt.Sprintf(`# of the connector
connector.class=io.confluent.connect.s3.S3SinkConnector
flush.size=%d
rotate.schedule.interval.ms=%d
timezone=%s

# of the worker: on a stream that stops, the clock is looked at this often
offset.flush.interval.ms=%d
`, c.FlushSize, c.RotateScheduleInterval.Milliseconds(), c.Timezone, c.OffsetFlushInterval.Milliseconds())
}

// ConnectDiffers says what a connector does not do as settings of Flink do, a line each.
func ConnectDiffers() []string {
	return []string{
		"files are committed when the clock has reached a multiple of the interval since midnight, not at checkpoints",
		"flush.size counts the records of a topic partition; when it is reached, all its files are committed",
		"there is no limit in bytes, and none for a time without records",
		"after a failure open files are thrown away and written again from the last committed offset",
	}
}
