package sinklab.flink.job;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source that can be set back and whose records say when they were to arrive and which they are:
 *
 * <pre>
 * 1767225600050,0,xxxxxxxx
 * </pre>
 *
 * <p>Record k is due k/rate seconds after the first, whatever the job does meanwhile. After an outage the source sends at once what
 * has become due, so the latency of a record counts from when it was to arrive and the outage is in it. There is a split for each
 * subtask, and record k is in split k mod the number of them.
 */
public final class PacedSource implements Source<String, PacedSource.Split, List<PacedSource.Split>> {
    private static final long serialVersionUID = 1L;

    /** From the start of a reader to its first record. */
    static final long FIRST_MS = 50;

    /** When the first reader of the source of a name had something to read, in this process: milliseconds since 1970. */
    static final Map<String, CompletableFuture<Long>> STARTED = new ConcurrentHashMap<>();

    private static final Map<String, Long> SENT_NANOS = new ConcurrentHashMap<>();

    /**
     * How long the source of a name sent records, in this process.
     *
     * @return nanoseconds from its first record to its end
     */
    public static long sentNanos(String name) {
        return SENT_NANOS.get(name);
    }

    private final String name;
    private final double rate;
    private final long count;
    private final long durationMs;
    private final int size;

    /**
     * @param name in {@link #STARTED}
     * @param rate records a second, of all subtasks; 0 for as many as the sink takes
     * @param count records, of all subtasks; 0 for no end
     * @param durationMs ends after this time; 0 for no end
     * @param size bytes of a record with its newline; one that needs more for its numbers is longer
     */
    public PacedSource(String name, double rate, long count, long durationMs, int size) {
        this.name = name;
        this.rate = rate;
        this.count = count;
        this.durationMs = durationMs;
        this.size = size;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED; // a bounded job would have other checkpoints and restarts
    }

    @Override
    public SplitEnumerator<Split, List<Split>> createEnumerator(SplitEnumeratorContext<Split> context) {
        List<Split> splits = new ArrayList<>();
        for (int i = 0; i < context.currentParallelism(); i++) {
            splits.add(new Split(i, context.currentParallelism(), i, 0));
        }
        return new Enumerator(context, splits);
    }

    @Override
    public SplitEnumerator<Split, List<Split>> restoreEnumerator(SplitEnumeratorContext<Split> context, List<Split> splits) {
        return new Enumerator(context, splits);
    }

    @Override
    public SimpleVersionedSerializer<Split> getSplitSerializer() {
        return new SplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<List<Split>> getEnumeratorCheckpointSerializer() {
        return new SplitsSerializer();
    }

    @Override
    public SourceReader<String, Split> createReader(SourceReaderContext context) {
        return new Reader();
    }

    /**
     * A subtask's share.
     *
     * @param index of the share
     * @param of how many there are
     * @param next number of the record to send next
     * @param start when its reader started first, milliseconds since 1970; 0 if none has
     */
    public record Split(int index, int of, long next, long start) implements SourceSplit {
        @Override
        public String splitId() {
            return Integer.toString(index);
        }
    }

    /** Gives each share to the subtask of its number, and what comes back to the one that asks next. */
    private static final class Enumerator implements SplitEnumerator<Split, List<Split>> {
        private final SplitEnumeratorContext<Split> context;
        private final List<Split> waiting;

        Enumerator(SplitEnumeratorContext<Split> context, List<Split> splits) {
            this.context = context;
            this.waiting = new ArrayList<>(splits);
        }

        @Override
        public void start() {}

        @Override
        public void addReader(int subtask) {
            for (Split split : List.copyOf(waiting)) {
                if (split.index() % context.currentParallelism() == subtask) {
                    waiting.remove(split);
                    context.assignSplit(split, subtask);
                }
            }
            context.signalNoMoreSplits(subtask);
        }

        @Override
        public void addSplitsBack(List<Split> splits, int subtask) {
            waiting.addAll(splits);
        }

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public List<Split> snapshotState(long checkpoint) {
            return List.copyOf(waiting);
        }

        @Override
        public void close() {}
    }

    private final class Reader implements SourceReader<String, Split> {
        private final List<Share> shares = new ArrayList<>();
        private final ScheduledExecutorService timer =
                Executors.newSingleThreadScheduledExecutor(
                        task -> {
                            Thread thread = new Thread(task, "paced-source");
                            thread.setDaemon(true);
                            return thread;
                        });
        private final StringBuilder text = new StringBuilder();
        private CompletableFuture<Void> available = CompletableFuture.completedFuture(null);
        private boolean all;
        private long begun;

        @Override
        public void start() {}

        @Override
        public InputStatus pollNext(ReaderOutput<String> output) {
            Share first = null;
            for (Share share : shares) {
                if (first == null || share.next < first.next) {
                    first = share;
                }
            }
            if (first == null && !all) {
                available = new CompletableFuture<>();
                return InputStatus.NOTHING_AVAILABLE;
            }
            long now = System.currentTimeMillis();
            if (first == null || (count > 0 && first.next >= count) || (durationMs > 0 && now >= first.start + durationMs)) {
                SENT_NANOS.put(name, System.nanoTime() - begun);
                return InputStatus.END_OF_INPUT;
            }
            long due = rate > 0 ? first.start + FIRST_MS + (long) (first.next * 1000.0 / rate) : now;
            if (due > now) {
                CompletableFuture<Void> then = new CompletableFuture<>();
                available = then;
                timer.schedule(() -> then.complete(null), due - now, TimeUnit.MILLISECONDS);
                return InputStatus.NOTHING_AVAILABLE;
            }
            if (begun == 0) {
                begun = System.nanoTime();
            }
            output.collect(record(due, first.next));
            first.next += first.of;
            return InputStatus.MORE_AVAILABLE;
        }

        private String record(long due, long offset) {
            text.setLength(0);
            text.append(due).append(',').append(offset).append(',');
            while (text.length() < size - 1) {
                text.append(PADDING, 0, Math.min(PADDING.length(), size - 1 - text.length()));
            }
            return text.toString();
        }

        @Override
        public List<Split> snapshotState(long checkpoint) {
            return shares.stream().map(Share::split).toList();
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return available;
        }

        @Override
        public void addSplits(List<Split> splits) {
            splits.forEach(split -> shares.add(new Share(split)));
            shares.forEach(share -> STARTED.computeIfAbsent(name, n -> new CompletableFuture<>()).complete(share.start));
            available.complete(null);
        }

        @Override
        public void notifyNoMoreSplits() {
            all = true;
            available.complete(null);
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }

    private static final String PADDING = "x".repeat(64);

    /** A split that is being read. */
    private static final class Share {
        final int index;
        final int of;
        final long start;
        long next;

        Share(Split split) {
            index = split.index();
            of = split.of();
            start = split.start() > 0 ? split.start() : System.currentTimeMillis();
            next = split.next();
        }

        Split split() {
            return new Split(index, of, next, start);
        }
    }

    private static final class SplitSerializer implements SimpleVersionedSerializer<Split> {
        static final int BYTES = 24;

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Split split) {
            return put(ByteBuffer.allocate(BYTES), split).array();
        }

        @Override
        public Split deserialize(int version, byte[] bytes) {
            return get(ByteBuffer.wrap(bytes));
        }

        static ByteBuffer put(ByteBuffer to, Split split) {
            return to.putInt(split.index()).putInt(split.of()).putLong(split.next()).putLong(split.start());
        }

        static Split get(ByteBuffer from) {
            return new Split(from.getInt(), from.getInt(), from.getLong(), from.getLong());
        }
    }

    private static final class SplitsSerializer implements SimpleVersionedSerializer<List<Split>> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(List<Split> splits) {
            ByteBuffer bytes = ByteBuffer.allocate(splits.size() * SplitSerializer.BYTES);
            splits.forEach(split -> SplitSerializer.put(bytes, split));
            return bytes.array();
        }

        @Override
        public List<Split> deserialize(int version, byte[] from) {
            ByteBuffer bytes = ByteBuffer.wrap(from);
            List<Split> splits = new ArrayList<>();
            while (bytes.hasRemaining()) {
                splits.add(SplitSerializer.get(bytes));
            }
            return splits;
        }
    }
}
