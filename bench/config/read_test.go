package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
)

func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/config/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The form is seen in the text, or else by the name.
func TestDetect(t *testing.T) {
	for name, want := range map[string]Form{
		"defaults.java": FlinkJava, "builders.java": FlinkJava, "nexmark-q10.sql": FlinkSQL, "tables.sql": FlinkSQL,
		"s3-sink.json": KafkaConnect, "s3-sink.properties": KafkaConnect, "plan.toml": "",
	} {
		if got := Detect("-", example(t, name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]Form{"a.scala": FlinkJava, "a.SQL": FlinkSQL, "a.properties": KafkaConnect, "a.txt": ""} {
		if got := Detect(name, ""); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Values are followed over constants, variables and builders of several statements.
func TestReadJava(t *testing.T) {
	f, err := Read(FlinkJava, example(t, "builders.java"))
	if err != nil || len(f.Sinks) != 3 || f.Checkpoint != 30*time.Second || f.CheckpointLine != 9 {
		t.Fatalf("%+v, %v", f, err)
	}
	slow, quick, parquet := f.Sinks[0], f.Sinks[1], f.Sinks[2]
	if want := (sinkcore.Default{Size: 256 << 20, Rollover: 15 * time.Minute, Inactivity: 5 * time.Minute}); slow.Policy != want || slow.Check != time.Minute || slow.Name != "slow" || slow.Line != 15 {
		t.Errorf("%+v", slow)
	}
	if want := (sinkcore.Default{Size: 128 << 20, Rollover: 10 * time.Second, Inactivity: 20 * time.Second}); quick.Policy != want || quick.Check != time.Minute {
		t.Errorf("%+v", quick)
	}
	if p, ok := quick.Peer.(peers.FlinkFileSink); !ok || p.OnCheckpoint != 5 {
		t.Errorf("%+v", quick.Peer)
	}
	if o, ok := slow.Option("withRolloverInterval"); !ok || o.Line != 12 || o.Value != "900000" {
		t.Errorf("%+v", o)
	}
	if parquet.Policy != (sinkcore.OnCheckpoint{}) {
		t.Errorf("%+v", parquet)
	}
}

// Ways to write a duration or a size.
func TestReadJavaValues(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"60_000L": time.Minute, "60 * 1000": time.Minute, "(1 + 2) * 1000 / 3": time.Second, "1 << 10": 1024 * time.Millisecond,
		"Duration.ofMinutes(2)": 2 * time.Minute, "java.time.Duration.ofHours(1)": time.Hour, "Duration.ofSeconds(90).toMillis()": 90 * time.Second,
		"TimeUnit.MINUTES.toMillis(15)": 15 * time.Minute, "(long) 5_000": 5 * time.Second, "Time.seconds(3).toMillis()": 3 * time.Second,
		"LIMIT": 7 * time.Second, "Job.LIMIT * 2": 14 * time.Second, "0x10": 16 * time.Millisecond, "limit.toMillis()": 8 * time.Second,
	} {
		text := "static final long LIMIT = 7_000; Duration limit = Duration.ofSeconds(8);\nsink = FileSink.forRowFormat(a, b).withBucketCheckInterval(" + value + ").build();"
		f, err := Read(FlinkJava, text)
		if err != nil || len(f.Sinks) != 1 || f.Sinks[0].Check != want {
			t.Errorf("%s: %+v, %v; want %v", value, f.Sinks, err, want)
		}
	}
	for _, value := range []string{"config.interval()", "interval", "Duration.of(1, ChronoUnit.MINUTES)", "\"60000\"", "60000 * n", "9223372036854775807 * 2", "1 / 0"} {
		f, err := Read(FlinkJava, "FileSink.forRowFormat(a, b)\n.withBucketCheckInterval("+value+").build();")
		if err != nil || len(f.Sinks) != 1 || len(f.Sinks[0].Unread) != 1 || f.Sinks[0].Unread[0].Line != 2 || f.Sinks[0].Peer != nil {
			t.Errorf("%s: %+v, %v; want it unread", value, f.Sinks, err)
		}
	}
	f, err := Read(FlinkJava, "DefaultRollingPolicy.builder().withMaxPartSize(Long.MAX_VALUE).withRolloverInterval(Long.MAX_VALUE).build()")
	if p, ok := f.Sinks[0].Policy.(sinkcore.Default); err != nil || !ok || p.Size != 1<<63-1 || p.Rollover < 100*365*24*time.Hour {
		t.Errorf("%+v, %v", f.Sinks, err)
	}
}

// The builder of a sink may be a variable too.
func TestReadJavaBuilderVariable(t *testing.T) {
	f, err := Read(FlinkJava, "var builder = FileSink.forRowFormat(a, b);\nbuilder.withBucketCheckInterval(5000);\nsink = builder.build();")
	if err != nil || len(f.Sinks) != 1 || f.Sinks[0].Check != 5*time.Second || f.Sinks[0].Options[0].Line != 2 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Where checkpoints are set.
func TestReadJavaCheckpoint(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"env.enableCheckpointing(30_000);": 30 * time.Second, "env.enableCheckpointing(Duration.ofMinutes(1).toMillis(), CheckpointingMode.EXACTLY_ONCE);": time.Minute,
		"env.getCheckpointConfig().setCheckpointInterval(5000);": 5 * time.Second, "c.setString(\"execution.checkpointing.interval\", \"10 s\");": 10 * time.Second,
		"c.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(7));": 7 * time.Second, "// env.enableCheckpointing(1);\n": 0, "env.enableCheckpointing(interval);": 0,
	} {
		f, err := Read(FlinkJava, text+"FileSink.forRowFormat(a, b).build();")
		if err != nil || f.Checkpoint != want {
			t.Errorf("%s: %v, %v; want %v", text, f.Checkpoint, err, want)
		}
	}
}

// A checkpoint interval that a program computes is no text without one.
func TestReadJavaUnreadCheckpoint(t *testing.T) {
	for text, want := range map[string]string{
		"\nenv.enableCheckpointing(CKPT);":                                                         "the checkpoint interval CKPT cannot be read",
		"\nenv.getCheckpointConfig().setMinPauseBetweenCheckpoints(conf.pause());":                 "the pause between checkpoints conf.pause() cannot be read",
		"\nc.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, args.get(0));":                       "the checkpoint interval args.get(0) cannot be read",
		"\nenv.enableCheckpointing(1000);":                                                         "",
		"\nvoid enableCheckpointing(Environment env) {}":                                           "",
		"long CKPT = 5_000;\nenv.enableCheckpointing(CKPT);":                                       "",
		"env.enableCheckpointing(CKPT);\nenv.getCheckpointConfig().setCheckpointInterval(30_000);": "",
	} {
		f, err := Read(FlinkJava, text+"FileSink.forRowFormat(a, b).build();")
		got, line := "", 2
		if len(f.Unread) > 0 {
			got, line = f.Unread[0].Problem, f.Unread[0].Line
		}
		if err != nil || got != want || line != 2 {
			t.Errorf("%s: %+v, %v; want %q", text, f.Unread, err, want)
		}
	}
	for text, want := range map[string]time.Duration{
		"env.getCheckpointConfig().setMinPauseBetweenCheckpoints(300_000);":                 5 * time.Minute,
		"c.set(CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS, Duration.ofSeconds(7));": 7 * time.Second,
		"c.setString(\"execution.checkpointing.min-pause\", \"10 s\");":                     10 * time.Second,
	} {
		if f, err := Read(FlinkJava, text+"FileSink.forRowFormat(a, b).build();"); err != nil || f.MinPause != want || f.MinPauseLine != 1 {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
}

// What Flink's builders do not take.
func TestReadJavaRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"FileSink.forBulkFormat(a, b).withRollingPolicy(DefaultRollingPolicy.builder().build())":                                         "a bulk format takes a CheckpointRollingPolicy only",
		"FileSink.forRowFormat(a, b).withBucketCheckInterval(0)":                                                                         "must be greater than 0",
		"DefaultRollingPolicy.builder().withRolloverInterval(-1)":                                                                        "must be greater than 0",
		"DefaultRollingPolicy.builder().withRollOverInterval(1)":                                                                         "did you mean withRolloverInterval?",
		"FileSink.forRowFormat(a, b).withRollingPolicy(new DeadlineRollingPolicy<>(Duration.ofSeconds(1), Duration.ofSeconds(2), 0, 0))": "no record can be visible sooner",
	} {
		f, err := Read(FlinkJava, text+".build();")
		if err != nil || len(f.Sinks) != 1 || len(f.Sinks[0].Refusals) != 1 || !strings.Contains(f.Sinks[0].Refusals[0].Problem, want) {
			t.Errorf("%s: %+v, %v; want %q", text, f.Sinks, err, want)
		}
	}
	f, err := Read(FlinkJava, "FileSink.forRowFormat(a, b).withRollingPolicy(new MyPolicy()).build();")
	if err != nil || len(f.Sinks[0].Unread) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Tables of file sinks and of exactly-once Kafka sinks are read, others are not.
func TestReadSQL(t *testing.T) {
	f, err := Read(FlinkSQL, example(t, "tables.sql"))
	if err != nil || len(f.Sinks) != 3 || f.Checkpoint != 30*time.Second || f.CheckpointLine != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	orders := f.Sinks[0]
	if want := (sinkcore.Default{Size: 128 << 20, Rollover: time.Minute, Inactivity: 30 * time.Second}); orders.Name != "lake.raw.orders_json" || orders.Line != 8 || orders.Policy != want || orders.Check != time.Minute {
		t.Errorf("%+v", orders)
	}
	f, err = Read(FlinkSQL, "create table t (a int) with ('connector'='filesystem','path'='p','format'='json');\nalter table t set ('sink.rolling-policy.check-interval' = '5s');\nset execution.checkpointing.interval = 10 min;")
	if err != nil || len(f.Sinks) != 1 || f.Sinks[0].Check != 5*time.Second || f.Checkpoint != 10*time.Minute {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = Read(FlinkSQL, "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem');")
	if err != nil || len(f.Sinks[0].Refusals) != 1 || f.Sinks[0].Refusals[0].Option != "format" {
		t.Errorf("%+v, %v", f, err)
	}
}

// Properties and JSON of connectors.
func TestReadConnect(t *testing.T) {
	f, err := Read(KafkaConnect, example(t, "s3-sink.json"))
	p, ok := f.Sinks[0].Peer.(peers.KafkaConnectS3)
	if err != nil || !ok || p.FlushSize != 100000 || p.RotateInterval != 10*time.Minute || p.Class != "HourlyPartitioner" || p.Extractor != "Record" || p.Tasks != 4 || f.Sinks[0].Name != "orders-to-s3" {
		t.Errorf("%+v, %v", f, err)
	}
	if o, _ := f.Sinks[0].Option("locale"); o.Line != 14 {
		t.Errorf("%+v", o)
	}
	if o, _ := f.Sinks[0].Option("rotate.interval.ms"); o.Line != 12 {
		t.Errorf("%+v", o)
	}
	f, err = Read(KafkaConnect, "! worker\r\noffset.flush.interval.ms : 10000\nconnector.class HdfsSinkConnector\n\nflush.size = \\\n   5\nrotate.interval.ms=60000\n")
	hdfs, ok := f.Sinks[0].Peer.(peers.KafkaConnectHDFS)
	if err != nil || !ok || hdfs.FlushSize != 5 || hdfs.OffsetFlushInterval != 10*time.Second || hdfs.RotateInterval != time.Minute {
		t.Errorf("%+v, %v", f, err)
	}
	if o, _ := f.Sinks[0].Option("rotate.interval.ms"); o.Line != 7 {
		t.Errorf("%+v", o)
	}
	// What other parts of Connect have is none of our business, however it is called.
	f, err = Read(KafkaConnect, "connector.class=S3SinkConnector\nflush.size=5\ntransforms.insert.offset.field=o\nerrors.tolerance=all\ntimestamp.field=ts\ns3.part.retries=3\nkey.converter=x\n")
	if err != nil || len(f.Sinks[0].Refusals) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A text that cannot be read is an error with its line.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		form Form
		text string
		line int
		want string
	}{
		{FlinkJava, "int x;\n", 1, "there is no sink in it"},
		{FlinkJava, "x\n\"abc\n", 2, "a quotation mark is not closed"},
		{FlinkSQL, "SELECT 1;", 1, "there is no sink in it"},
		{FlinkSQL, "SELECT 1;\nSELECT 'x;\n", 2, "a quotation mark is not closed"},
		{FlinkSQL, "\nSET 'execution.checkpointing.interval' = 'soon';", 2, "want a time such as 500ms"},
		{KafkaConnect, "flush.size=1\n", 1, "connector.class is missing"},
		{KafkaConnect, "flush.size=1\nconnector.class=io.confluent.connect.s3.S3SinkConector\n", 2, "did you mean io.confluent.connect.s3.S3SinkConnector?"},
		{KafkaConnect, "flush.size=1\nconnector.class=FileStreamSource\n", 2, "none that is known"},
		{KafkaConnect, "flush.size=1\nwhat\n", 2, "want key=value"},
		{KafkaConnect, "{\n\"a\": \"b\"\n\"c\": 1}", 3, "invalid character"},
		{KafkaConnect, "{\"a\": \"b\"\n", 2, "the JSON object is not closed"},
		{KafkaConnect, "{\n\"a\": [1]}", 2, "want a value and no list"},
	} {
		_, err := Read(c.form, c.text)
		var read *ReadError
		if !errors.As(err, &read) || !errors.Is(err, ErrRead) || read.Line != c.line || !strings.Contains(read.Problem, c.want) {
			t.Errorf("%s %q: %v; want line %d, %q", c.form, c.text, err, c.line, c.want)
		}
	}
	if _, err := Read("xml", ""); !errors.Is(err, ErrRead) {
		t.Error(err)
	}
}

// TestPropReadTakesAnything: a text that was cut, doubled or spoilt anywhere is read or is an
// error, with a line that it has; and what was read can be judged.
func TestPropReadTakesAnything(t *testing.T) {
	var texts []string
	for _, name := range []string{"defaults.java", "builders.java", "nexmark-q10.sql", "tables.sql", "s3-sink.json", "s3-sink.properties"} {
		texts = append(texts, example(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := min(len(text), from+rapid.IntRange(0, 40).Draw(t, "long"))
			text = text[:from] + rapid.SampledFrom([]string{"", "(", ")", "'", "\"", "=", ".", "\n", "/*", "<", "9", text[from:to] + text[from:to]}).Draw(t, "instead") + text[to:]
		}
		for _, form := range Forms() {
			f, err := Read(form, text)
			var read *ReadError
			if errors.As(err, &read) {
				if read.Line < 1 || read.Line > 1+strings.Count(text, "\n") || read.Problem == "" {
					t.Fatalf("%s: %+v", form, read)
				}
				continue
			}
			if err != nil || len(f.Sinks) == 0 {
				t.Fatalf("%s: %+v, %v", form, f, err)
			}
			found, err := Lint(f, plan.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range found {
				if x.Line < 1 || x.Line > 1+strings.Count(text, "\n") {
					t.Fatalf("%s: %+v", form, x)
				}
			}
		}
	})
}
