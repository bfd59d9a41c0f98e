package sinklab.flink.policy;

import java.io.IOException;
import java.time.Duration;
import org.apache.flink.streaming.api.functions.sink.filesystem.PartFileInfo;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * Makes every record visible within a given time of being written, in as few files as that allows.
 *
 * <p>A part is closed at the last checkpoint whose completion still shows its first record in time. The check timer has no say, so
 * no check interval is added to the latency. It holds while checkpoints start at least every {@code checkpoint} and complete
 * within {@code duration}; give the longest that has been seen, not the mean.
 *
 * <p>It does as sinkcore.Deadline of sinklab does; testdata/flink/deadline.trace holds both to it.
 */
public final class DeadlineRollingPolicy<IN, BucketID> implements RollingPolicy<IN, BucketID> {
    private static final long serialVersionUID = 1L;

    private final long slack;
    private final long target;
    private final SerializableSupplier<Long> clock;

    /**
     * @param within from a record's arrival until it is visible, at least {@code max(checkpoint, duration) + duration}
     * @param checkpoint from the start of a checkpoint to that of the next, at least 1 ms
     * @param duration of a checkpoint at most, until its completion has been acted on
     * @param target closes a part that has so many bytes, if the deadline does not come before; 0 for none
     */
    public DeadlineRollingPolicy(Duration within, Duration checkpoint, Duration duration, long target) {
        this(within, checkpoint, duration, target, System::currentTimeMillis);
    }

    /**
     * @param clock the processing time in milliseconds since 1970: Flink tells it to a policy at its timers only, not at checkpoints
     */
    public DeadlineRollingPolicy(Duration within, Duration checkpoint, Duration duration, long target, SerializableSupplier<Long> clock) {
        if (checkpoint.toMillis() < 1 || duration.isNegative() || target < 0) {
            throw new IllegalArgumentException("checkpoint must be 1 ms at least, duration and target must not be negative");
        }
        long interval = Math.max(checkpoint.toMillis(), duration.toMillis());
        this.slack = within.toMillis() - interval - duration.toMillis();
        if (slack < 0) {
            throw new IllegalArgumentException(
                    "no record can be visible within " + within + ": it waits for the next checkpoint and its completion");
        }
        this.target = target;
        this.clock = clock;
    }

    @Override
    public boolean shouldRollOnEvent(PartFileInfo<BucketID> part, IN record) throws IOException {
        return target > 0 && part.getSize() >= target;
    }

    @Override
    public boolean shouldRollOnCheckpoint(PartFileInfo<BucketID> part) throws IOException {
        // Left open, the part would wait for the next checkpoint and its completion. The age is compared, not an instant: that cannot overflow.
        return clock.get() - part.getCreationTime() > slack || shouldRollOnEvent(part, null);
    }

    @Override
    public boolean shouldRollOnProcessingTime(PartFileInfo<BucketID> part, long now) {
        return false;
    }
}
