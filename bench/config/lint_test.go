package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// rules are the findings of a text, as LINE:RULE words. Checkpoints come every 2 s unless the
// text or the settings say something else.
func rules(t *testing.T, form Form, text string, s plan.Settings) (list []string, found []Finding) {
	t.Helper()
	f, err := Read(form, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s.CheckpointInterval = cmp.Or(s.CheckpointInterval, 2*time.Second)
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

// Nexmark's file sink, query 10: it would be in resonance, but csv is closed at every checkpoint.
func TestLintNexmark(t *testing.T) {
	f, err := Read(FlinkSQL, example(t, "nexmark-q10.sql"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := Lint(f, plan.Settings{})
	if err != nil || len(found) != 2 || found[0].Rule != NoCheckpoints || found[0].Line != 2 || found[1].Rule != NoEffect || found[1].Line != 18 {
		t.Errorf("%+v, %v", found, err)
	}
}

// allRules are the findings of a text for settings as they are, as LINE:RULE words.
func allRules(t *testing.T, form Form, text string, s plan.Settings) (string, []Finding) {
	t.Helper()
	f, err := Read(form, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	found, err := Lint(f, s)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, x := range found {
		words = append(words, string(rune('0'+x.Line))+":"+string(x.Rule))
	}
	return strings.Join(words, " "), found
}

// A job with a sink and no checkpoints is told so, at the line where they belong; not if anything
// may turn them on, nor in batch mode, nor where there is no job.
func TestLintNoCheckpoints(t *testing.T) {
	const (
		env   = "import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;\nStreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();\n"
		sink  = "stream.sinkTo(FileSink.forRowFormat(a, b).withRollingPolicy(OnCheckpointRollingPolicy.build()).build());\n"
		bulk  = "stream.sinkTo(FileSink.forBulkFormat(a, b).build());\n"
		table = "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet');\n"
	)
	for _, c := range []struct {
		form Form
		text string
		want string
	}{
		{FlinkJava, env + sink, "2:no-checkpoints"},
		{FlinkJava, env + bulk, "2:no-checkpoints"},
		{FlinkJava, env + "// job.enableCheckpointing(1000);\n" + bulk, "2:no-checkpoints"},
		{FlinkJava, "static void build(StreamExecutionEnvironment env) {\n" + bulk + "}", "1:no-checkpoints"},
		{FlinkJava, "val env = StreamExecutionEnvironment.getExecutionEnvironment\n" + bulk, "1:no-checkpoints"},
		{FlinkJava, env + "job.enableCheckpointing(1000);\n" + bulk, ""},
		{FlinkJava, env + "job.enableCheckpointing();\n" + bulk, ""},
		{FlinkJava, env + "job.enableCheckpointing(interval);\n" + bulk, ""},
		{FlinkJava, env + "job.getCheckpointConfig().setCheckpointInterval(1000);\n" + bulk, ""},
		{FlinkJava, env + "conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));\n" + bulk, ""},
		{FlinkJava, env + "conf.setString(CheckpointingOptions.CHECKPOINTING_INTERVAL.key(), \"1 s\");\n" + bulk, ""},
		{FlinkJava, env + "conf.setString(\"execution.checkpointing.interval\", \"1 s\");\n" + bulk, ""},
		{FlinkJava, env + "ParameterTool.fromArgs(new String[] {\"--execution.checkpointing.interval\", \"1 s\"});\n" + bulk, ""},
		{FlinkJava, env + "job.setRuntimeMode(RuntimeExecutionMode.BATCH);\n" + bulk, ""},
		{FlinkJava, env + "job.setRuntimeMode(BATCH);\n" + bulk, ""},
		{FlinkJava, env + "conf.setString(\"execution.runtime-mode\", \"batch\");\n" + bulk, ""},
		{FlinkJava, env + "job.setRuntimeMode(RuntimeExecutionMode.STREAMING);\n" + bulk, "2:no-checkpoints"},
		{FlinkJava, "import a.StreamExecutionEnvironment;\n" + bulk, ""},
		{FlinkJava, bulk, ""},
		{FlinkSQL, table, "1:no-checkpoints"},
		{FlinkSQL, "-- SET 'execution.checkpointing.interval' = '1 s';\n" + table, "2:no-checkpoints"},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '1 s';\n" + table, ""},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '0 s';\n" + table, "1:no-checkpoints"},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '1 s';\nRESET 'execution.checkpointing.interval';\n" + table, "3:no-checkpoints"},
		{FlinkSQL, "SET 'execution.checkpointing.interval' = '1 s';\nRESET;\n" + table, "3:no-checkpoints"},
		{FlinkSQL, "SET 'execution.runtime-mode' = 'batch';\n" + table, ""},
		{FlinkSQL, "SET 'execution.runtime-mode' = 'streaming';\n" + table, "2:no-checkpoints"},
		{FlinkSQL, "env.enableCheckpointing(1000);\n" + table, ""},
		{FlinkSQL, "CREATE TABLE i (a INT) WITH ('connector' = 'iceberg');", "1:no-checkpoints"},
		{KafkaConnect, "connector.class=S3SinkConnector\nflush.size=1\n", ""},
	} {
		got, found := allRules(t, c.form, c.text, plan.Settings{})
		if got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.text, got, c.want)
		}
		if got != "" && (found[0].Severity != NothingVisible || !strings.Contains(found[0].What, "checkpoints o")) {
			t.Errorf("%+v", found)
		}
		// Who says how often they come knows better.
		if got, _ := allRules(t, c.form, c.text, plan.Settings{CheckpointInterval: 2 * time.Second}); got != "" {
			t.Errorf("with an interval\n%s\ngot %q", c.text, got)
		}
	}
}

// With the line that is to be added checkpoints are on, whatever the environment is called; and what
// is not known is said.
func TestLintNoCheckpointsSaysTheLine(t *testing.T) {
	const sink = "FileSink.forBulkFormat(a, b).build();\n"
	for _, c := range []struct{ text, want, unless string }{
		{"StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();\n", "job.enableCheckpointing(2000);", "or one that the program loads"},
		{"void f(StreamExecutionEnvironment e) {}\n", "e.enableCheckpointing(2000);", "what makes e,"},
		{"fun f(see: StreamExecutionEnvironment) {}\n", "see.enableCheckpointing(2000);", "what makes see,"},
		{"val job: StreamExecutionEnvironment = StreamExecutionEnvironment.getExecutionEnvironment\n", "job.enableCheckpointing(2000);", "or one that the program loads"},
		{"use(StreamExecutionEnvironment.getExecutionEnvironment());\n", "env.enableCheckpointing(2000);", "the cluster's configuration"},
	} {
		_, found := allRules(t, FlinkJava, c.text+sink, plan.Settings{})
		if len(found) != 1 || !strings.HasPrefix(found[0].Better[0], c.want) || !strings.Contains(found[0].What, c.unless) || !strings.Contains(found[0].What, "Flink has no default") {
			t.Errorf("%s: %+v", c.text, found)
			continue
		}
		if got, _ := allRules(t, FlinkJava, c.text+found[0].Better[0]+"\n"+sink, plan.Settings{}); got != "" {
			t.Errorf("with %s: %s", found[0].Better[0], got)
		}
	}
	const table = "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet');"
	_, found := allRules(t, FlinkSQL, table, plan.Settings{})
	if got, _ := allRules(t, FlinkSQL, found[0].Better[0]+"\n"+table, plan.Settings{}); got != "" {
		t.Errorf("with %s: %s", found[0].Better[0], got)
	}
}

// A FileSink that merges its files loses records, whether the strategy can be read or not; a table
// merges by other operators, of which that was not shown.
func TestLintCompaction(t *testing.T) {
	const (
		checkpoint = "FileSink.forBulkFormat(a, b)\n.enableCompact(FileCompactStrategy.Builder.newBuilder().enableCompactionOnCheckpoint(5).build(), new ConcatFileCompactor())\n.build();"
		size       = "FileSink.forBulkFormat(a, b)\n.enableCompact(FileCompactStrategy.Builder.newBuilder()\n.setSizeThreshold(1024).build(), new ConcatFileCompactor()).build();"
		table      = "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet',\n"
	)
	for _, c := range []struct {
		form Form
		text string
		want string
	}{
		{FlinkJava, checkpoint, "2:compaction-loses"},
		{FlinkJava, strings.Replace(checkpoint, "(5)", "(n())", 1), "2:compaction-loses"},
		{FlinkJava, "FileSink.forRowFormat(a, b).withRollingPolicy(OnCheckpointRollingPolicy.build())\n.enableCompact(strategy, compactor).build();", "2:compaction-loses"},
		{FlinkJava, strings.Replace(checkpoint, "\n.build();", ".disableCompact().build();", 1), ""},
		{FlinkJava, strings.Replace(checkpoint, "\n.enableCompact", ".disableCompact()\n.enableCompact", 1), "2:compaction-loses"},
		{FlinkJava, size, "2:compaction-loses 3:idle-unbounded"},
		{FlinkJava, strings.Replace(size, ".setSize", ".enableCompactionOnCheckpoint(2).setSize", 1), "2:compaction-loses"},
		{FlinkSQL, table + "'auto-compaction' = 'true');", ""},
		{FlinkSQL, table + "'auto-compaction' = 'true', 'compaction.file-size' = '1MB', 'compaction.parallelism' = '2');", ""},
		{FlinkSQL, table + "'compaction.file-size' = '1MB',\n'compaction.parallelism' = '2');", "2:no-effect 3:no-effect"},
	} {
		list, found := rules(t, c.form, c.text, plan.Settings{})
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
		}
		for _, f := range found {
			if f.Rule == CompactionLoses && (f.Severity != RecordsMissing || !strings.Contains(f.What, "Flink 2.3.0") || !strings.Contains(f.Source, "findings")) {
				t.Errorf("%+v", f)
			}
		}
	}
	// The files that are merged are seen five checkpoints later.
	_, found := rules(t, FlinkJava, checkpoint, plan.Settings{CheckpointInterval: 10 * time.Second})
	if c := found[0].Costs; len(c) != 1 || c[0].Now != 60 || c[0].Later != 10 {
		t.Errorf("%+v", c)
	}
	// So it is if the strategy has a name, and of one that comes from elsewhere there is no figure.
	const named = "FileSink.forBulkFormat(a, b).enableCompact(strategy, c).build();"
	_, found = rules(t, FlinkJava, "FileCompactStrategy strategy = FileCompactStrategy.Builder.newBuilder().enableCompactionOnCheckpoint(5).build();\n"+named, plan.Settings{CheckpointInterval: 10 * time.Second})
	if c := found[0].Costs; len(c) != 1 || c[0].Now != 60 || c[0].Later != 10 {
		t.Errorf("%+v", c)
	}
	if _, found = rules(t, FlinkJava, named, plan.Settings{}); len(found) != 1 || len(found[0].Costs) != 0 {
		t.Errorf("%+v", found)
	}
}

// What is said of the latency of a sink that merges its files says that the merging is left out.
func TestLintCompactionIsLeftOutOfOtherFigures(t *testing.T) {
	const text = "FileSink.forRowFormat(a, b)\n.enableCompact(x, y)\n.build();"
	for _, merges := range []bool{true, false} {
		text := text
		if !merges {
			text = strings.Replace(text, ".enableCompact(x, y)", "", 1)
		}
		_, found := rules(t, FlinkJava, text, plan.Settings{})
		at := slices.IndexFunc(found, func(f Finding) bool { return f.Rule == plan.Resonance })
		if at < 0 || strings.Contains(found[at].What, "without the compaction") != merges {
			t.Errorf("%+v", found)
		}
	}
}

// A time zone in which a task fails is worse than one that makes many files.
func TestLintTaskThatFailsIsWorse(t *testing.T) {
	for zone, want := range map[string]Severity{"Europe/Berlin": Files, "Asia/Beirut": RecordsMissing} {
		_, found := rules(t, KafkaConnect, "connector.class=S3SinkConnector\nflush.size=100000\nrotate.schedule.interval.ms=60000\ntimezone="+zone+"\n", plan.Settings{})
		if len(found) != 1 || found[0].Rule != DaylightSaving || found[0].Severity != want {
			t.Errorf("%s: %+v", zone, found)
		}
	}
}

// A file of a bulk format is closed at every checkpoint: no check comes too late for it, and what
// is advised is no other bulk format.
func TestLintBulkTableIsNotInResonance(t *testing.T) {
	for format, want := range map[string]string{
		"json":    "1:inactivity-never 2:resonance",
		"parquet": "2:no-effect", "orc": "2:no-effect", "avro": "2:no-effect", "csv": "2:no-effect",
	} {
		for _, rollover := range []string{"10 min", "1 min"} {
			text := "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = '" + format + "',\n'sink.rolling-policy.rollover-interval' = '" + rollover + "');"
			list, found := rules(t, FlinkSQL, text, plan.Settings{})
			if got := strings.Join(list, " "); got != want || strings.Contains(found[0].What, "row format") {
				t.Errorf("%s, %s: %+v", format, rollover, found)
			}
		}
	}
	text := "SET 'execution.checkpointing.interval' = '1 h';\nCREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet'\n);"
	list, found := rules(t, FlinkSQL, text, plan.Settings{})
	if !slices.Equal(list, []string{"2:checkpoint-above-rollover"}) {
		t.Fatal(list)
	}
	if list, _ := rules(t, FlinkSQL, strings.Replace(text, "\n);", ",\n"+strings.Join(found[0].Better, ",")+");", 1), plan.Settings{}); list != nil {
		t.Errorf("with %q: %v", found[0].Better, list)
	}
}

// No size is advised that is as far from being reached.
func TestLintSizeNeverAdvisesNoSize(t *testing.T) {
	for form, text := range map[Form]string{
		FlinkJava: "FileSink.forRowFormat(a, b).withRollingPolicy(DefaultRollingPolicy.builder().withMaxPartSize(MemorySize.ofMebiBytes(256)).withRolloverInterval(59_000).withInactivityInterval(29_000).build()).build();",
		FlinkSQL:  "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet', 'sink.rolling-policy.file-size' = '256MB');",
	} {
		_, found := rules(t, form, text, plan.Settings{})
		if len(found) != 1 || found[0].Rule != plan.SizeNever || len(found[0].Better) != 1 || !strings.HasPrefix(found[0].Better[0], "leave ") || !found[0].Arrivals || found[0].Severity != WithoutEffect || len(found[0].Costs) != 0 {
			t.Errorf("%s: %+v", form, found)
		}
	}
}

// What leaves records unseen comes first, of whatever sink, then latency, then files, and last what
// does nothing.
func TestLintTellsTheWorstFirst(t *testing.T) {
	text := "CREATE TABLE a (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet', 'sink.rolling-policy.rollover-interval' = '1 min');\n" +
		"CREATE TABLE b (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json', 'sink.rolling-policy.rollover-interval' = '1 min');\n" +
		"CREATE TABLE c (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'jsn');\n"
	if got, _ := allRules(t, FlinkSQL, text, plan.Settings{}); got != "1:no-checkpoints 3:refused 2:resonance 2:inactivity-never 1:no-effect" {
		t.Error(got)
	}
	text = "FileSink.forRowFormat(a, b).withRollingPolicy(DefaultRollingPolicy.builder().withMaxPartSize(MemorySize.ofMebiBytes(256)).build())\n.enableCompact(x, y).build();\nenv.enableCheckpointing(600_000);"
	if got, _ := allRules(t, FlinkJava, text, plan.Settings{}); got != "2:compaction-loses 1:resonance 1:inactivity-never 1:checkpoint-above-rollover 1:size-never" {
		t.Error(got)
	}
	for _, r := range Rules() {
		if severityOf[r.Rule].String() == "" {
			t.Errorf("nobody knows how bad %s is", r.Rule)
		}
	}
	if !slices.IsSortedFunc(Rules(), func(a, b RuleMeaning) int { return cmp.Compare(severityOf[a.Rule], severityOf[b.Rule]) }) {
		t.Error("the rules are in another order")
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
	for format, want := range map[string]string{"json": "leave it out; or 'auto-compaction' = 'false', without which it counts", "parquet": "leave it out; or 'auto-compaction' = 'false' and 'format' = 'json' or 'raw', for which it counts"} {
		_, found := rules(t, FlinkSQL, table+"'format' = '"+format+"', 'auto-compaction' = 'true', 'sink.rolling-policy.rollover-interval' = '20 s');", plan.Settings{})
		if len(found) != 1 || found[0].Better[0] != want || !strings.Contains(found[0].What, "when they have been merged") || !strings.Contains(found[0].What, "rollover-interval decides nothing") {
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
