package sinklab.flink.bench;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.api.common.serialization.Encoder;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.file.sink.FileSinkCommittable;
import org.apache.flink.connector.file.sink.writer.DefaultFileWriterBucketFactory;
import org.apache.flink.connector.file.sink.writer.FileWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.RecoverableWriter;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketWriter;
import org.apache.flink.streaming.api.functions.sink.filesystem.BulkBucketWriter;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;
import org.apache.flink.streaming.api.functions.sink.filesystem.RowWiseBucketWriter;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.SimpleVersionedStringSerializer;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.DefaultRollingPolicy;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * Flink's own FileWriter with nothing around it, as the sink's writer operator calls it. Record number k is k in ten digits, "/",
 * its bucket and as much padding as it needs.
 *
 * <p>Encoders:
 *
 * <ul>
 *   <li>simple: Flink's SimpleStringEncoder, which writes the record and then the newline, each by a call of the operating system
 *   <li>onecall: writes both in one call
 *   <li>bulk: a bulk writer with a buffer, as formats like Parquet have one
 * </ul>
 */
final class WritePath {
    private static final SinkWriter.Context NO_TIME =
            new SinkWriter.Context() {
                @Override
                public long currentWatermark() {
                    return Long.MIN_VALUE;
                }

                @Override
                public Long timestamp() {
                    return null;
                }
            };

    /** Bytes of records that are made and then written, as on the other side. */
    private static final int BATCH = 100_000;

    /** Bytes of a file that is not closed while it is measured, as on the other side. */
    private static final MemorySize NO_ROLL = new MemorySize(1L << 40);

    private final int buckets;
    private final int batch;
    private final String padding;
    private final BucketWriter<String, String> files;
    private final FileWriter<String> writer;
    private long written;

    WritePath(String dir, String encoder, int size, int buckets, int buffer) throws IOException {
        this.buckets = buckets;
        this.batch = Math.max(1, BATCH / size);
        this.padding = "x".repeat(size - "0123456789/b0123\n".length());
        RecoverableWriter disk = FileSystem.getLocalFileSystem().createRecoverableWriter();
        RollingPolicy<String, String> policy = DefaultRollingPolicy.builder().withMaxPartSize(NO_ROLL).build();
        switch (encoder) {
            case "simple":
                files = new RowWiseBucketWriter<>(disk, new SimpleStringEncoder<>("UTF-8"));
                break;
            case "onecall":
                files = new RowWiseBucketWriter<>(disk, new OneCall());
                break;
            case "bulk":
                files = new BulkBucketWriter<>(disk, file -> new Buffered(file, buffer));
                policy = OnCheckpointRollingPolicy.build(); // a bulk writer must not be left open at a checkpoint
                break;
            default:
                throw new IllegalArgumentException("encoder " + encoder);
        }
        BucketAssigner<String, String> assigner = buckets == 1 ? new BasePathBucketAssigner<>() : new ByName();
        writer =
                new FileWriter<>(
                        new Path(dir),
                        UnregisteredMetricsGroup.createSinkWriterMetricGroup(),
                        assigner,
                        new DefaultFileWriterBucketFactory<>(),
                        files,
                        policy,
                        OutputFileConfig.builder().build(),
                        new NoTimer(),
                        60_000);
    }

    /**
     * Writes the next records and returns how many nanoseconds this thread was on a processor for that. They are made and then written
     * some at a time, so that they are written soon after they were made. The making is not counted, nor is what the threads of the
     * virtual machine do.
     */
    long write(int n) throws IOException, InterruptedException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long took = 0;
        for (int left = n; left > 0; ) {
            String[] records = new String[Math.min(left, batch)];
            for (int i = 0; i < records.length; i++, written++) {
                records[i] = String.format("%010d/b%04d", written, written % buckets) + padding;
            }
            left -= records.length;
            long begun = threads.getCurrentThreadCpuTime();
            writeAll(records);
            took += threads.getCurrentThreadCpuTime() - begun;
        }
        return took;
    }

    private void writeAll(String[] records) throws IOException, InterruptedException {
        for (String record : records) {
            writer.write(record, NO_TIME);
        }
    }

    void close() throws IOException, InterruptedException {
        writer.flush(true);
        for (FileSinkCommittable committable : writer.prepareCommit()) {
            if (committable.hasPendingFile()) {
                files.recoverPendingFile(committable.getPendingFile()).commit();
            }
        }
        writer.close();
    }

    private static final class OneCall implements Encoder<String> {
        private static final long serialVersionUID = 1L;

        @Override
        public void encode(String record, OutputStream stream) throws IOException {
            stream.write((record + '\n').getBytes(StandardCharsets.UTF_8));
        }
    }

    private static final class Buffered implements BulkWriter<String> {
        private final OutputStream stream;

        Buffered(FSDataOutputStream file, int buffer) {
            stream = new BufferedOutputStream(file, buffer);
        }

        @Override
        public void addElement(String record) throws IOException {
            stream.write(record.getBytes(StandardCharsets.UTF_8));
            stream.write('\n');
        }

        @Override
        public void flush() throws IOException {
            stream.flush();
        }

        @Override
        public void finish() throws IOException {
            stream.flush(); // the file is closed by whoever opened it
        }
    }

    private static final class ByName implements BucketAssigner<String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String getBucketId(String record, Context context) {
            return record.substring(11, 16);
        }

        @Override
        public SimpleVersionedSerializer<String> getSerializer() {
            return SimpleVersionedStringSerializer.INSTANCE;
        }
    }

    /** Time goes on and timers do not fire: a measurement takes seconds. */
    private static final class NoTimer implements ProcessingTimeService {
        @Override
        public long getCurrentProcessingTime() {
            return System.currentTimeMillis();
        }

        @Override
        public ScheduledFuture<?> registerTimer(long timestamp, ProcessingTimeCallback target) {
            throw new UnsupportedOperationException();
        }
    }
}
