package sinklab.flink.oracle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.sink.FileSinkCommittable;
import org.apache.flink.connector.file.sink.writer.FileWriterBucketState;
import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.runtime.operators.sink.CommitterOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.SinkWriterOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** One run of the sink's operators, from its start or restore until the process dies. Subtasks are played one after the other. */
final class Job {
    static final int MAX_PARALLELISM = 16;

    private static final String WRITER_STATE = "writer_raw_states";
    private static final String COMMITTER_STATE = "streaming_committer_raw_states";

    private final FileSink<String> sink;
    private final List<OneInputStreamOperatorTestHarness<String, CommittableMessage<FileSinkCommittable>>> writers = new ArrayList<>();
    private final List<OneInputStreamOperatorTestHarness<CommittableMessage<FileSinkCommittable>, CommittableMessage<FileSinkCommittable>>>
            committers = new ArrayList<>();
    private final Compaction compaction; // null without
    private final boolean[] ended;
    private List<List<int[]>> writerOrder;
    private List<List<int[]>> committerOrder;

    /** Makes the operators; {@link #start} starts them. */
    Job(FileSink<String> sink, Settings settings, int parallelism, long now) throws Exception {
        this.sink = sink;
        this.ended = new boolean[parallelism];
        this.compaction = settings.compaction() == null ? null : new Compaction(sink, settings.compaction(), parallelism);
        for (int i = 0; i < parallelism; i++) {
            var writer = new OneInputStreamOperatorTestHarness<String, CommittableMessage<FileSinkCommittable>>(
                    new SinkWriterOperatorFactory<>(sink), MAX_PARALLELISM, parallelism, i);
            var committer = new OneInputStreamOperatorTestHarness<CommittableMessage<FileSinkCommittable>, CommittableMessage<FileSinkCommittable>>(
                    new CommitterOperatorFactory<>(sink, false, true), MAX_PARALLELISM, parallelism, i);
            writer.setup();
            committer.setup();
            writer.setProcessingTime(now);
            writers.add(writer);
            committers.add(committer);
        }
    }

    /**
     * Starts the operators from a checkpoint, or with no state if it is null. Each committer comes before its writer, as in a chain
     * (RegularOperatorChain:102-108). After an exception the job can only be closed.
     */
    void start(Checkpoint checkpoint, long id) throws Exception {
        List<OperatorSubtaskState> writerStates = null;
        List<OperatorSubtaskState> committerStates = null;
        if (checkpoint != null) {
            writerStates = ListState.redistribute(checkpoint.writers(), writers.size());
            committerStates = ListState.redistribute(checkpoint.committers(), committers.size());
            if (checkpoint.writers().size() != writers.size()) {
                writerOrder = Order.of(checkpoint.writers(), writerStates, WRITER_STATE);
                committerOrder = Order.of(checkpoint.committers(), committerStates, COMMITTER_STATE);
            }
        }
        for (int i = 0; i < writers.size(); i++) {
            initialize(committers.get(i), committerStates == null ? null : committerStates.get(i), id);
            committers.get(i).open();
            if (compaction == null) {
                startWriter(i, writerStates, id);
            }
        }
        if (compaction != null) {
            compaction.start(checkpoint, id);
            for (int i = 0; i < writers.size(); i++) {
                startWriter(i, writerStates, id);
            }
        }
    }

    private void startWriter(int subtask, List<OperatorSubtaskState> states, long id) throws Exception {
        initialize(writers.get(subtask), states == null ? null : states.get(subtask), id);
        writers.get(subtask).open();
        handOver(subtask);
    }

    /** Which elements of the old writers' states each writer was given, or null if the number of subtasks is as it was. */
    List<List<int[]>> writerOrder() {
        return writerOrder;
    }

    /** The same of the committers. */
    List<List<int[]>> committerOrder() {
        return committerOrder;
    }

    void write(int subtask, String record) throws Exception {
        writers.get(subtask).processElement(new StreamRecord<>(record));
    }

    /** Moves the clock, which fires the timers that are due by then, subtask by subtask. */
    void advanceTo(long now) throws Exception {
        for (var writer : writers) {
            if (writer.getProcessingTime() != now) {
                writer.setProcessingTime(now);
            }
        }
    }

    /** When the next timer is due. */
    long nextTimer() {
        long next = Long.MAX_VALUE;
        for (var writer : writers) {
            for (long due : writer.getProcessingTimeService().getActiveTimerTimestamps()) {
                next = Math.min(next, due);
            }
        }
        return next;
    }

    /** Lets a barrier pass through all operators. */
    Checkpoint checkpoint(long id, long now) throws Exception {
        List<OperatorSubtaskState> writerStates = new ArrayList<>();
        List<OperatorSubtaskState> committerStates = new ArrayList<>();
        for (int i = 0; i < writers.size(); i++) {
            writers.get(i).prepareSnapshotPreBarrier(id);
            writerStates.add(writers.get(i).snapshot(id, now));
            handOver(i);
            if (compaction == null) {
                committers.get(i).prepareSnapshotPreBarrier(id);
                committerStates.add(committers.get(i).snapshot(id, now));
            }
        }
        if (compaction == null) {
            return new Checkpoint(writerStates, committerStates, List.of(), List.of());
        }
        Checkpoint merged = compaction.checkpoint(id, now, writerStates);
        for (int i = 0; i < committers.size(); i++) {
            handOverCompacted(i);
            committers.get(i).prepareSnapshotPreBarrier(id);
            committerStates.add(committers.get(i).snapshot(id, now));
        }
        return new Checkpoint(writerStates, committerStates, merged.coordinator(), merged.compactors());
    }

    /** The buckets in a writer's state, in its order. */
    List<String> buckets(OperatorSubtaskState writer) throws IOException {
        List<String> ids = new ArrayList<>();
        for (byte[] element : ListState.elements(writer, WRITER_STATE)) {
            FileWriterBucketState state =
                    SimpleVersionedSerialization.readVersionAndDeSerialize(sink.getWriterStateSerializer(), element);
            ids.add(state.getBucketId());
        }
        return ids;
    }

    void complete(long id, int subtask) throws Exception {
        writers.get(subtask).notifyOfCompletedCheckpoint(id);
        if (compaction != null) {
            compaction.complete(id, subtask);
        }
        committers.get(subtask).notifyOfCompletedCheckpoint(id);
    }

    void abort(long id) throws Exception {
        for (int i = 0; i < writers.size(); i++) {
            writers.get(i).getOperator().notifyCheckpointAborted(id);
            committers.get(i).getOperator().notifyCheckpointAborted(id);
        }
    }

    void endInput(int subtask) throws Exception {
        if (ended[subtask]) {
            return; // a task's input ends once
        }
        ended[subtask] = true;
        writers.get(subtask).endInput();
        handOver(subtask);
        if (compaction == null) {
            committers.get(subtask).endInput();
            return;
        }
        for (boolean one : ended) {
            if (!one) {
                return;
            }
        }
        compaction.endInput();
        for (int i = 0; i < committers.size(); i++) {
            handOverCompacted(i);
            committers.get(i).endInput();
        }
    }

    int parallelism() {
        return writers.size();
    }

    /** Lets the process die. Streams are closed, which writes nothing since none of them has a buffer. */
    void close() throws Exception {
        for (int i = 0; i < writers.size(); i++) {
            close(writers.get(i));
            close(committers.get(i));
        }
        if (compaction != null) {
            compaction.close();
        }
    }

    private void handOver(int subtask) throws Exception {
        for (Object message : drain(writers.get(subtask))) {
            if (compaction != null) {
                compaction.accept(record(message));
            } else {
                committers.get(subtask).processElement(Job.<CommittableMessage<FileSinkCommittable>>record(message));
            }
        }
    }

    private void handOverCompacted(int subtask) throws Exception {
        for (Object message : compaction.output(subtask)) {
            committers.get(subtask).processElement(Job.<CommittableMessage<FileSinkCommittable>>record(message));
        }
    }

    static void initialize(AbstractStreamOperatorTestHarness<?> operator, OperatorSubtaskState state, long id) throws Exception {
        if (state == null) {
            operator.initializeEmptyState();
            return;
        }
        operator.setRestoredCheckpointId(id);
        operator.initializeState(state);
    }

    /** Takes the records that an operator has put out. */
    static List<Object> drain(AbstractStreamOperatorTestHarness<?> operator) {
        List<Object> out = new ArrayList<>();
        for (Object x = operator.getOutput().poll(); x != null; x = operator.getOutput().poll()) {
            if (x instanceof StreamRecord) {
                out.add(x);
            }
        }
        return out;
    }

    @SuppressWarnings("unchecked")
    static <T> StreamRecord<T> record(Object message) {
        return (StreamRecord<T>) message;
    }

    /** Nobody is there to be told of a failure of a process that is dead. */
    static void close(AbstractStreamOperatorTestHarness<?> operator) {
        try {
            operator.close();
        } catch (Exception e) {
            // It is dead all the same.
        }
    }
}
