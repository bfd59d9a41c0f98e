package sinklab.flink.job;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.SimpleVersionedStringSerializer;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.DefaultRollingPolicy;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.util.ParameterTool;
import org.apache.flink.util.TimeUtils;
import sinklab.flink.policy.DeadlineRollingPolicy;

/**
 * The job for {@code flink run}: records that carry their time and offset, as {@link PacedSource} makes them, go into Flink's file
 * sink. See {@link #HELP} for its flags.
 */
public final class RecordsJob {
    static final String HELP =
            """
            RecordsJob: records that carry their time and offset, into Flink's FileSink.

              --output DIR         where the files go, of any file system that Flink knows
              --rate N             records a second, of all subtasks; 0 for as many as the sink takes (10)
              --count N            ends after so many records; 0 for no end (0)
              --for TIME           ends after this time; 0 s for no end (0 s)
              --size BYTES         of a record with its newline (100)
              --buckets N          records go to them in turn; 1 is the base directory (1)
              --checkpoint TIME    between two checkpoints; 0 s to have none by itself (2 s)
              --policy WORD        default, rolling, oncheckpoint or deadline (default)
              --rollover TIME      of rolling: greatest age of a file (1 min)
              --inactivity TIME    of rolling: greatest time without a record (1 min)
              --part-size SIZE     of rolling, and the target of deadline (128 mb)
              --check TIME         between two checks of the files' age (1 min)
              --within TIME        of deadline: from a record's arrival until it is visible (12 s)
              --duration TIME      of deadline: that a checkpoint takes at most (1 s)

            Times and sizes are as Flink's options have them: 500 ms, 2 s, 1 min; 64 kb, 128 mb.
            """;
    private static final Set<String> FLAGS =
            Set.of(
                    "output", "rate", "count", "for", "size", "buckets", "checkpoint", "policy", "rollover", "inactivity", "part-size",
                    "check", "within", "duration");

    private RecordsJob() {}

    public static void main(String[] args) throws Exception {
        ParameterTool flags;
        try {
            flags = ParameterTool.fromArgs(args);
            StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(configuration(flags));
            define(env, flags, "records");
            env.execute("records");
        } catch (IllegalArgumentException e) {
            // No exit: it would end the process of whoever submits the job.
            throw new IllegalArgumentException(e.getMessage() + "\n\n" + HELP, e);
        }
    }

    /** What the flags say of the checkpoints. Everything else is the cluster's. */
    public static Configuration configuration(ParameterTool flags) {
        Configuration configuration = new Configuration();
        Duration interval = time(flags, "checkpoint", "2 s");
        if (!interval.isZero()) {
            configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
        }
        return configuration;
    }

    /** Puts the source and the sink into an environment. */
    public static void define(StreamExecutionEnvironment env, ParameterTool flags, String name) {
        Set<String> unknown = new TreeSet<>(flags.toMap().keySet());
        unknown.removeAll(FLAGS);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("no such flag: " + String.join(", ", unknown));
        }
        if (!flags.has("output")) {
            throw new IllegalArgumentException("--output is missing");
        }
        PacedSource source =
                new PacedSource(
                        name,
                        flags.getDouble("rate", 10),
                        flags.getLong("count", 0),
                        time(flags, "for", "0 s").toMillis(),
                        flags.getInt("size", 100));
        FileSink<String> sink =
                FileSink.forRowFormat(new Path(flags.get("output")), new SimpleStringEncoder<String>("UTF-8"))
                        .withBucketAssigner(assigner(flags.getInt("buckets", 1)))
                        .withRollingPolicy(policy(flags))
                        .withBucketCheckInterval(time(flags, "check", "1 min").toMillis())
                        .build();
        env.fromSource(source, WatermarkStrategy.noWatermarks(), "records", Types.STRING).uid("records").sinkTo(sink).uid("sink");
    }

    private static RollingPolicy<String, String> policy(ParameterTool flags) {
        MemorySize size = MemorySize.parse(flags.get("part-size", "128 mb"));
        String word = flags.get("policy", "default");
        switch (word) {
            case "default":
                return DefaultRollingPolicy.builder().build();
            case "rolling":
                return DefaultRollingPolicy.builder()
                        .withRolloverInterval(time(flags, "rollover", "1 min"))
                        .withInactivityInterval(time(flags, "inactivity", "1 min"))
                        .withMaxPartSize(size)
                        .build();
            case "oncheckpoint":
                return OnCheckpointRollingPolicy.build();
            case "deadline":
                return new DeadlineRollingPolicy<>(
                        time(flags, "within", "12 s"), time(flags, "checkpoint", "2 s"), time(flags, "duration", "1 s"), size.getBytes());
            default:
                throw new IllegalArgumentException("--policy " + word + ": want default, rolling, oncheckpoint or deadline");
        }
    }

    private static BucketAssigner<String, String> assigner(int buckets) {
        if (buckets < 1) {
            throw new IllegalArgumentException("--buckets " + buckets + ": must be at least 1");
        }
        return buckets == 1 ? new BasePathBucketAssigner<>() : new InTurn(buckets);
    }

    private static Duration time(ParameterTool flags, String name, String otherwise) {
        return TimeUtils.parseDuration(flags.get(name, otherwise));
    }

    /** Deals the records out by their offset. */
    private static final class InTurn implements BucketAssigner<String, String> {
        private static final long serialVersionUID = 1L;

        private final int buckets;

        InTurn(int buckets) {
            this.buckets = buckets;
        }

        @Override
        public String getBucketId(String record, Context context) {
            int begin = record.indexOf(',') + 1;
            return "b" + Long.parseLong(record, begin, record.indexOf(',', begin), 10) % buckets;
        }

        @Override
        public SimpleVersionedSerializer<String> getSerializer() {
            return SimpleVersionedStringSerializer.INSTANCE;
        }
    }
}
