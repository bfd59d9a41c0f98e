package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// rules are the findings of a text, as LINE:RULE words.
func rules(t *testing.T, form Form, text string, s plan.Settings) (list []string, found []Finding) {
	t.Helper()
	f, err := Read(form, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	found, err = Lint(f, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found {
		list = append(list, string(rune('0'+x.Line))+":"+string(x.Rule))
	}
	return list, found
}

// Each rule is found at its line, and not without its cause.
func TestLint(t *testing.T) {
	const (
		s3   = "connector.class=S3SinkConnector\n"
		hdfs = "connector.class=HdfsSinkConnector\n"
		sql  = "CREATE TABLE t (a INT) WITH (\n'connector' = 'filesystem', 'path' = 'p',\n"
		java = "FileSink.forRowFormat(a, b).withRollingPolicy(DefaultRollingPolicy.builder()\n"
	)
	for _, c := range []struct {
		form Form
		text string
		want string
	}{
		// The Flink forms.
		{FlinkJava, java + ".withRolloverInterval(Duration.ofMinutes(1))\n.withInactivityInterval(Duration.ofSeconds(20)).build()).build();", "2:resonance"},
		{FlinkJava, java + ".withRolloverInterval(Duration.ofSeconds(59))\n.withInactivityInterval(Duration.ofSeconds(20)).build()).build();", ""},
		{FlinkJava, java + ".withRolloverInterval(10_000)\n.withInactivityInterval(5_000).build())\n.withBucketCheckInterval(60_000).build();", "4:rollover-below-check"},
		{FlinkJava, java + ".withMaxPartSize(MemorySize.ofMebiBytes(1024))\n.withRolloverInterval(59_000).withInactivityInterval(29_000).build()).build();", "2:size-never"},
		{FlinkJava, "env.enableCheckpointing(600_000);\n" + java + ".withRolloverInterval(59_000).withInactivityInterval(29_000).build()).build();", "3:checkpoint-above-rollover"},
		{FlinkJava, "FileSink.forRowFormat(a, b).withRollingPolicy(OnCheckpointRollingPolicy.build()).build();", ""},
		{FlinkJava, "FileSink.forBulkFormat(a, b).build();", ""},
		{FlinkJava, "FileSink.forRowFormat(a, b)\n.withBucketAssigner(new DateTimeBucketAssigner<>(\"yyyy-MM-dd--HH-mm\")).withRollingPolicy(DefaultRollingPolicy.builder()\n.withRolloverInterval(Duration.ofMinutes(15)).withInactivityInterval(Duration.ofMinutes(3)).build())\n.withBucketCheckInterval(10_000).build();", "2:short-buckets"},
		{FlinkJava, "FileSink.forRowFormat(a, b)\n.withBucketAssigner(new DateTimeBucketAssigner<>(\"yyyy-MM-dd 'mm' HH\")).withRollingPolicy(DefaultRollingPolicy.builder()\n.withRolloverInterval(Duration.ofMinutes(15)).withInactivityInterval(Duration.ofMinutes(3)).build())\n.withBucketCheckInterval(10_000).build();", ""},
		{FlinkJava, "FileSink.forBulkFormat(a, b).withBucketAssigner(new DateTimeBucketAssigner<>(\"yyyy-MM-dd--HH-mm\")).build();", ""},
		{FlinkJava, "env.enableCheckpointing(300_000);\nFileSink.forBulkFormat(a, b)\n.withBucketAssigner(new DateTimeBucketAssigner<>(\"yyyy-MM-dd--HH-mm\")).build();", "3:short-buckets"},
		{FlinkSQL, sql + "'format' = 'json',\n'sink.rolling-policy.check-interval' = '30 min', 'sink.rolling-policy.inactivity-interval' = '10 min');", "4:resonance"},
		{FlinkSQL, sql + "'format' = 'parquet');", ""},
		{FlinkSQL, sql + "'format' = 'parquet',\n'sink.rolling-policy.rollover-interval' = '59 s');", "4:no-effect"},
		{FlinkSQL, sql + "'format' = 'parquet',\n'sink.rolling-policy.rollover-interval' = '2 h');", ""},
		{FlinkSQL, sql + "'format' = 'json', 'auto-compaction' = 'true',\n'sink.rolling-policy.rollover-interval' = '59 s');", "4:no-effect"},
		{FlinkSQL, sql + "'format' = 'json', 'auto-compaction' = 'true',\n'sink.rolling-policy.rollover-interval' = '20 s');", "4:no-effect"},
		{FlinkSQL, sql + "'format' = 'jsn');", "3:refused"},
		{FlinkSQL, "CREATE TABLE i (a INT) WITH ('connector' = 'iceberg');\n" + sql + "'format' = 'json', 'sink.rolling-policy.check-interval' = '1 min',\n'sink.rolling-policy.rollover-interval' = '60 s', 'sink.rolling-policy.inactivity-interval' = '20 s');", "5:resonance"},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '10 s';\nSET 'execution.checkpointing.min-pause' = '5 min';\n" + sql + "'format' = 'parquet');", "2:min-pause"},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '10 s';\nSET 'execution.checkpointing.min-pause' = '5 s';\n" + sql + "'format' = 'parquet');", ""},
		{FlinkJava, "env.enableCheckpointing(10_000);\nenv.getCheckpointConfig().setMinPauseBetweenCheckpoints(300_000);\n" + java + ".withRolloverInterval(59_000).withInactivityInterval(29_000).build()).build();", "2:min-pause 4:checkpoint-above-rollover"},
		{FlinkJava, "env.getCheckpointConfig().setMinPauseBetweenCheckpoints(300_000);\n" + java + ".withRolloverInterval(59_000).withInactivityInterval(29_000).build()).build();", "3:checkpoint-above-rollover"},
		{FlinkSQL, sql + "'format' = 'json', 'json.encode.decimal-as-plain-number' = 'true', 'sink.parallelism' = '2',\n'sink.rolling-policy.filesize' = '1mb');", "4:refused"},
		{FlinkSQL, "CREATE TABLE t (a INT) WITH (\n'connector' = 'kafka', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'x', 'properties.transaction.timeout.ms' = '900000');", ""},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '1 h';\nCREATE TABLE t (a INT) WITH (\n'connector' = 'kafka', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'x',\n'properties.transaction.timeout.ms' = '900000');", "4:idle-unbounded"},

		// The connectors.
		{KafkaConnect, s3 + "flush.size=1000\n", "2:idle-unbounded"},
		{KafkaConnect, s3 + "flush.size=1\n", ""},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.interval.ms=60000\n", "3:idle-unbounded 3:no-effect"},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.interval.ms=60000\npartitioner.class=io.confluent.connect.storage.partitioner.HourlyPartitioner\nlocale=en\ntimezone=UTC\n", "3:idle-unbounded"},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=60000\ntimezone=UTC\n", ""},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=60000\n", "1:refused"},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=8000\ntimezone=UTC\n", "3:late-check"},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=59000\ntimezone=UTC\n", "3:late-check"},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=8000\ntimezone=UTC\n# of the worker\noffset.flush.interval.ms=8000\n", ""},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=8000\ntimezone=UTC\noffset.flush.interval.ms=8000\nbootstrap.servers=x:1\n", ""},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=8000\ntimezone=UTC\noffset.flush.interval.ms=8000\n", "3:late-check 5:no-effect"},
		{KafkaConnect, s3 + "flush.size=1000\nrotate.schedule.interval.ms=60000\ntimezone=UTC\noffset.flush.interval.ms=1000\n# of the worker\n", "5:no-effect"},
		{KafkaConnect, "{\"connector.class\": \"S3SinkConnector\",\n\"flush.size\": \"1000\", \"rotate.schedule.interval.ms\": 60000, \"timezone\": \"UTC\",\n\"offset.flush.interval.ms\": 1000}", "3:no-effect"},
		{KafkaConnect, s3 + "flush.size=100000\nrotate.schedule.interval.ms=60000\ntimezone=Europe/Berlin\n", "4:daylight-saving"},
		{KafkaConnect, s3 + "flush.size=100000\nrotate.schedule.interval.ms=60000\ntimezone=Asia/Beirut\n", "4:daylight-saving"},
		{KafkaConnect, hdfs + "flush.size=1000\nrotate.interval.ms=60000\n", ""},
		{KafkaConnect, hdfs + "flush.size=1000\nrotate.interval.ms=6000\n", "3:late-check"},
		{KafkaConnect, s3 + "flush.size=0\n", "2:refused"},
		{KafkaConnect, "connector.class=io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector\n", ""},
	} {
		list, found := rules(t, c.form, c.text, plan.Settings{})
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%s\n%s\ngot  %s\nwant %s", c.form, c.text, got, c.want)
		}
		for _, f := range found {
			if f.Rule != Refused && f.Rule != plan.IdleUnbounded && len(f.Better) == 0 || f.What == "" {
				t.Errorf("%+v says nothing", f)
			}
		}
	}
	list, _ := rules(t, KafkaConnect, s3+"flush.size=1\n", plan.Settings{Arrivals: plan.Constant{Interval: 10 * time.Millisecond}})
	if !slices.Equal(list, []string{"2:many-files"}) {
		t.Errorf("%v", list)
	}
}

// The better setting is one: with it in the text the finding is gone, and it costs as little
// as the finding says.
func TestLintBetterIsBetter(t *testing.T) {
	text := func(rollover string) string {
		return "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'json', 'sink.rolling-policy.inactivity-interval' = '20 s',\n" + rollover + ");"
	}
	list, found := rules(t, FlinkSQL, text("'sink.rolling-policy.rollover-interval' = '60 s'"), plan.Settings{})
	if !slices.Equal(list, []string{"2:resonance"}) {
		t.Fatal(list)
	}
	if list, _ := rules(t, FlinkSQL, text(found[0].Better[0]), plan.Settings{}); list != nil {
		t.Errorf("with %s: %v", found[0].Better[0], list)
	}
}

// Nexmark's file sink, query 10: its settings are in resonance, though csv does not show it.
func TestLintNexmark(t *testing.T) {
	f, err := Read(FlinkSQL, example(t, "nexmark-q10.sql"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := Lint(f, plan.Settings{})
	if err != nil || len(found) != 2 || found[1].Rule != plan.Resonance || found[1].Line != 18 || found[1].Better[0] != "'sink.rolling-policy.rollover-interval' = '59 s'" {
		t.Errorf("%+v, %v", found, err)
	}
}

// An Iceberg table is judged by its engine: many files are found at the checkpoint interval.
func TestLintIceberg(t *testing.T) {
	text := "SET 'execution.checkpointing.interval' = '50 ms';\nCREATE TABLE i (a INT) WITH ('connector' = 'iceberg');"
	if list, _ := rules(t, FlinkSQL, strings.Replace(text, "50 ms", "2 s", 1), plan.Settings{}); list != nil {
		t.Errorf("every 2 s: %v", list)
	}
	list, found := rules(t, FlinkSQL, text, plan.Settings{Arrivals: plan.Constant{Interval: 10 * time.Millisecond}})
	if !slices.Equal(list, []string{"1:many-files"}) || !strings.Contains(found[0].Better[0], "checkpoints less often") {
		t.Errorf("%v %+v", list, found)
	}
}

// The pause is added to what a checkpoint takes, and what is to be written helps.
func TestLintMinPause(t *testing.T) {
	text := "SET 'execution.checkpointing.interval' = '10 s';\nSET 'execution.checkpointing.min-pause' = '8 s';\nCREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet');"
	if list, _ := rules(t, FlinkSQL, text, plan.Settings{}); list != nil {
		t.Errorf("a checkpoint that takes no time: %v", list)
	}
	slow := plan.Settings{CheckpointDuration: 3 * time.Second}
	list, found := rules(t, FlinkSQL, text, slow)
	if !slices.Equal(list, []string{"2:min-pause"}) {
		t.Fatal(list)
	}
	if c := found[0].Costs; len(c) != 2 || c[0].Now != 11 || c[0].Later != 10 || c[1].Now != 14 || c[1].Later != 13 {
		t.Errorf("%+v", c)
	}
	if list, _ := rules(t, FlinkSQL, strings.Replace(text, "SET 'execution.checkpointing.min-pause' = '8 s';", found[0].Better[0], 1), slow); list != nil {
		t.Errorf("with %s: %v", found[0].Better[0], list)
	}
}

// Of a sink that is refused it is said that the rest is not judged, and with auto-compaction no
// format is advised that the table has.
func TestLintSaysWhatItMeans(t *testing.T) {
	const table = "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', "
	_, found := rules(t, FlinkSQL, table+"'format' = 'jsn', 'sink.x' = '1');", plan.Settings{})
	if len(found) != 2 || strings.Contains(found[0].What, "not judged") || !strings.HasSuffix(found[1].What, " (the rest of this sink is not judged until this is mended)") {
		t.Errorf("%+v", found)
	}
	for format, want := range map[string]string{"json": "leave them out; or 'auto-compaction' = 'false', without which they count", "parquet": "leave them out; or 'auto-compaction' = 'false' and 'format' = 'json' or 'raw', for which they count"} {
		_, found := rules(t, FlinkSQL, table+"'format' = '"+format+"', 'auto-compaction' = 'true', 'sink.rolling-policy.rollover-interval' = '20 s');", plan.Settings{})
		if len(found) != 1 || found[0].Better[0] != want {
			t.Errorf("%s: %+v", format, found)
		}
	}
}

// A bucket a minute is 60 files an hour of each subtask.
func TestLintShortBucketsCosts(t *testing.T) {
	text := "FileSink.forRowFormat(a, b).withBucketAssigner(new DateTimeBucketAssigner<>(\"yyyyMMddHHmm\")).withRollingPolicy(DefaultRollingPolicy.builder().withRolloverInterval(900_000).withInactivityInterval(180_000).build()).withBucketCheckInterval(10_000).build();"
	_, found := rules(t, FlinkJava, text, plan.Settings{Subtasks: 3})
	if len(found) != 1 || found[0].Rule != ShortBuckets || found[0].Costs[0].Now != 180 || found[0].Costs[0].Later >= 20 {
		t.Errorf("%+v", found)
	}
	_, found = rules(t, FlinkJava, strings.Replace(text, "HHmm", "HHmmss", 1), plan.Settings{Arrivals: plan.Constant{Interval: 10 * time.Second}})
	if len(found) != 1 || found[0].Costs[0].Now != 360 {
		t.Errorf("no more files than records: %+v", found)
	}
}

// What is not in the text is not judged, and settings that make no sense are an error.
func TestLintDoesNotGuess(t *testing.T) {
	list, _ := rules(t, FlinkJava, "FileSink.forRowFormat(a, b).withBucketCheckInterval(x).build();", plan.Settings{})
	if list != nil {
		t.Error(list)
	}
	f, err := Read(FlinkJava, "FileSink.forRowFormat(a, b).build();")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lint(f, plan.Settings{RecordSize: -1}); !errors.Is(err, sinkcore.ErrConfig) {
		t.Error(err)
	}
}
