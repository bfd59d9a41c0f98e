package sinklab.flink.oracle;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.io.disk.iomanager.IOManager;
import org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** What all operators have in common, in Flink's own harness for single operators. */
final class Harness {
    private static final int MAX_PARALLELISM = 16;

    // An environment of its own would start two threads, for spilling to disk, which no operator here does.
    private static final IOManager SPILLING = new IOManagerAsync();

    private Harness() {}

    static <I, O> OneInputStreamOperatorTestHarness<I, O> of(OneInputStreamOperatorFactory<I, O> factory, int parallelism, int subtask)
            throws Exception {
        MockEnvironment environment =
                new MockEnvironmentBuilder()
                        .setTaskName("sinklab")
                        .setIOManager(SPILLING)
                        .setManagedMemorySize(1 << 20)
                        .setMaxParallelism(MAX_PARALLELISM)
                        .setParallelism(parallelism)
                        .setSubtaskIndex(subtask)
                        .build();
        return new OneInputStreamOperatorTestHarness<>(factory, environment);
    }

    /** Gives an operator its state, or none if it is null. */
    static void initialize(OneInputStreamOperatorTestHarness<?, ?> operator, OperatorSubtaskState state, long id) throws Exception {
        if (state == null) {
            operator.initializeEmptyState();
        } else {
            operator.setRestoredCheckpointId(id);
            operator.initializeState(state);
        }
        operator.open();
    }

    /** Takes the records that an operator has put out. */
    @SuppressWarnings("unchecked")
    static <O> List<StreamRecord<O>> drain(OneInputStreamOperatorTestHarness<?, O> operator) {
        List<StreamRecord<O>> out = new ArrayList<>();
        for (Object x = operator.getOutput().poll(); x != null; x = operator.getOutput().poll()) {
            if (x instanceof StreamRecord) {
                out.add((StreamRecord<O>) x);
            }
        }
        return out;
    }

    /** Ends an operator whose process is dead, so nobody is there to be told of a failure. */
    static void close(OneInputStreamOperatorTestHarness<?, ?> operator) {
        try {
            operator.close();
        } catch (Exception e) {
            // It is dead all the same.
        }
    }
}
