package sinklab.flink.job;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.sink.compactor.ConcatFileCompactor;
import org.apache.flink.connector.file.sink.compactor.FileCompactStrategy;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * A job on Flink's local executor that fails once: it reads 300 records, takes a checkpoint after 200 of them, fails at the next
 * one, is restored, reads the rest and ends before another checkpoint is due. Nothing in it is unusual, and every record should
 * be visible when it has ended.
 *
 * <p>Arguments: the output directory, and "compaction" to have files merged at every checkpoint or "plain".
 */
public final class FailingJob {
    static final int RECORDS = 300;
    static final int BEFORE_CHECKPOINT = 200;

    private FailingJob() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 2 || !(args[1].equals("compaction") || args[1].equals("plain"))) {
            System.err.println("want DIR compaction|plain");
            System.exit(2);
        }
        Configuration configuration = new Configuration();
        // The first checkpoint comes at some instant between the pause and the interval, here after all records that wait for it.
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(3));
        configuration.set(CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS, Duration.ofSeconds(3));
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, configuration);

        FileSink.DefaultRowFormatBuilder<String> sink =
                FileSink.forRowFormat(new Path(args[0]), new SimpleStringEncoder<String>("UTF-8"))
                        .withBucketAssigner(new BasePathBucketAssigner<>())
                        .withRollingPolicy(OnCheckpointRollingPolicy.build());
        if (args[1].equals("compaction")) {
            sink.enableCompact(
                    FileCompactStrategy.Builder.newBuilder().enableCompactionOnCheckpoint(1).build(), new ConcatFileCompactor());
        }
        // After so many records the source waits for a checkpoint to complete. After a restore it begins to count anew, and with fewer
        // records left it does not wait again.
        DataGeneratorSource<String> source =
                new DataGeneratorSource<>(
                        n -> "r" + n, RECORDS, RateLimiterStrategy.perCheckpoint(BEFORE_CHECKPOINT), Types.STRING);
        env.fromSource(source, WatermarkStrategy.noWatermarks(), "records")
                .map(new FailOnce(BEFORE_CHECKPOINT))
                .returns(Types.STRING)
                .sinkTo(sink.build())
                .uid("sink"); // compaction insists on it
        env.execute("fails once");
        if (!FailOnce.FAILED.get()) {
            throw new IllegalStateException("the job has not failed");
        }
    }

    /** Fails at one record, the first time it comes. */
    private static final class FailOnce implements MapFunction<String, String> {
        private static final long serialVersionUID = 1L;

        static final AtomicBoolean FAILED = new AtomicBoolean(); // outlives the restart: the job runs in this process

        private final String at;

        FailOnce(int record) {
            this.at = "r" + record;
        }

        @Override
        public String map(String record) {
            if (record.equals(at) && FAILED.compareAndSet(false, true)) {
                throw new IllegalStateException("the failure that was asked for");
            }
            return record;
        }
    }
}
