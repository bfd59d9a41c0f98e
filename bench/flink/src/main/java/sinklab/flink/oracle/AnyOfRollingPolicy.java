package sinklab.flink.oracle;

import java.io.IOException;
import java.util.List;
import org.apache.flink.streaming.api.functions.sink.filesystem.PartFileInfo;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;

/** Closes a file as soon as one of several policies would. Flink has no such policy; a user would write it like this. */
final class AnyOfRollingPolicy implements RollingPolicy<String, String> {
    private static final long serialVersionUID = 1L;

    private final List<RollingPolicy<String, String>> policies;

    AnyOfRollingPolicy(List<RollingPolicy<String, String>> policies) {
        this.policies = policies;
    }

    @Override
    public boolean shouldRollOnEvent(PartFileInfo<String> part, String record) throws IOException {
        for (RollingPolicy<String, String> policy : policies) {
            if (policy.shouldRollOnEvent(part, record)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean shouldRollOnCheckpoint(PartFileInfo<String> part) throws IOException {
        for (RollingPolicy<String, String> policy : policies) {
            if (policy.shouldRollOnCheckpoint(part)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean shouldRollOnProcessingTime(PartFileInfo<String> part, long now) throws IOException {
        for (RollingPolicy<String, String> policy : policies) {
            if (policy.shouldRollOnProcessingTime(part, now)) {
                return true;
            }
        }
        return false;
    }
}
