package sinklab.flink.oracle;

import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.sink.compactor.ConcatFileCompactor;
import org.apache.flink.connector.file.sink.compactor.FileCompactStrategy;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.DateTimeBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.DefaultRollingPolicy;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import sinklab.flink.policy.DeadlineRollingPolicy;

/** The keys of a trace's open operation, which the Go package sinklab/sinkcore/sim describes, and what they make. */
public final class Settings {
    private final Map<String, String> keys;

    public Settings(Map<String, String> keys) {
        this.keys = keys;
    }

    private String text(String key, String otherwise) {
        return keys.getOrDefault(key, otherwise);
    }

    private long number(String key, long otherwise) {
        return keys.containsKey(key) ? Long.parseLong(keys.get(key)) : otherwise;
    }

    public FileSink<String> sink(String dir) {
        FileSink.DefaultRowFormatBuilder<String> builder =
                FileSink.forRowFormat(new Path(dir), new SimpleStringEncoder<String>("UTF-8"))
                        .withRollingPolicy(policy())
                        .withBucketAssigner(assigner())
                        .withBucketCheckInterval(number("check", 60_000))
                        .withOutputFileConfig(new OutputFileConfig(text("prefix", "part"), text("suffix", "")));
        FileCompactStrategy compaction = compaction();
        if (compaction != null) {
            builder.enableCompact(compaction, new ConcatFileCompactor());
        }
        return builder.build();
    }

    /** When files are merged, or null if they are not. */
    FileCompactStrategy compaction() {
        if (!keys.containsKey("compact") && !keys.containsKey("compact-size")) {
            return null;
        }
        FileCompactStrategy.Builder builder = FileCompactStrategy.Builder.newBuilder();
        if (keys.containsKey("compact")) {
            builder.enableCompactionOnCheckpoint((int) number("compact", 0));
        }
        if (keys.containsKey("compact-size")) {
            builder.setSizeThreshold(number("compact-size", 0));
        }
        return builder.build();
    }

    private BucketAssigner<String, String> assigner() {
        if (text("assigner", "prefix").equals("datetime")) {
            return new DateTimeBucketAssigner<>(text("format", "yyyy-MM-dd--HH"), ZoneId.of(text("zone", "UTC")));
        }
        return new PrefixAssigner();
    }

    /** Several policies joined by + close a file as soon as one of them would. */
    private RollingPolicy<String, String> policy() {
        List<RollingPolicy<String, String>> policies = new ArrayList<>();
        for (String name : text("policy", "default").split("\\+")) {
            policies.add(
                    switch (name) {
                        case "default", "rolling" -> limits();
                        case "oncheckpoint" -> OnCheckpointRollingPolicy.build();
                        case "deadline" -> new DeadlineRollingPolicy<>(
                                Duration.ofMillis(number("within", 0)),
                                Duration.ofMillis(number("checkpoint", 0)),
                                Duration.ofMillis(number("duration", 0)),
                                number("target", 0),
                                VirtualClock::now);
                        default -> throw new IllegalArgumentException("unknown policy " + name);
                    });
        }
        return policies.size() == 1 ? policies.get(0) : new AnyOfRollingPolicy(policies);
    }

    private RollingPolicy<String, String> limits() {
        DefaultRollingPolicy.PolicyBuilder builder = DefaultRollingPolicy.builder();
        if (keys.containsKey("size")) {
            builder = builder.withMaxPartSize(new MemorySize(number("size", 0)));
        }
        if (keys.containsKey("rollover")) {
            builder = builder.withRolloverInterval(Duration.ofMillis(number("rollover", 0)));
        }
        if (keys.containsKey("inactivity")) {
            builder = builder.withInactivityInterval(Duration.ofMillis(number("inactivity", 0)));
        }
        return builder.build();
    }
}
