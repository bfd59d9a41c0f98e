// Settings as they are found in programs: constants, builders over several statements, the
// long methods of older versions, a compaction.
public final class Builders {
    private static final long ROLLOVER_MS = 15 * 60 * 1000L;
    private static final Duration CHECK = Duration.ofMinutes(1);

    static void build(StreamExecutionEnvironment env, Path path) {
        Configuration configuration = new Configuration();
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(30));

        DefaultRollingPolicy.PolicyBuilder policy = DefaultRollingPolicy.builder();
        policy.withRolloverInterval(Duration.ofMillis(ROLLOVER_MS));
        policy.withInactivityInterval(TimeUnit.MINUTES.toMillis(5));

        FileSink<String> slow = FileSink.<String>forRowFormat(path, new SimpleStringEncoder<>())
                .withRollingPolicy(policy.withMaxPartSize(MemorySize.parse("256mb")).build())
                .withBucketCheckInterval(CHECK.toMillis())
                .build();

        /* withRolloverInterval(1) in a comment is none. */
        FileSink<String> quick = FileSink.forRowFormat(path, new SimpleStringEncoder<String>())
                .withRollingPolicy(
                        DefaultRollingPolicy.builder()
                                .withRolloverInterval(10_000L)
                                .withInactivityInterval(20_000L)
                                .withMaxPartSize(1024 * 1024 * 128)
                                .build())
                .enableCompact(
                        FileCompactStrategy.Builder.newBuilder().enableCompactionOnCheckpoint(5).build(), new RecordWiseFileCompactor<>(null))
                .build();

        FileSink<Row> parquet = FileSink.forBulkFormat(path, writerFactory()).build();
    }
}
