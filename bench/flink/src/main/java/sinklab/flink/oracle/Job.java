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
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** One run of the sink's operators, from its start or restore until the process dies. Subtasks are played one after the other. */
public final class Job {
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
    public Job(FileSink<String> sink, Settings settings, int parallelism, long now) throws Exception {
        this.sink = sink;
        this.ended = new boolean[parallelism];
        this.compaction = settings.compaction() == null ? null : new Compaction(sink, settings.compaction(), parallelism);
        for (int i = 0; i < parallelism; i++) {
            var writer = Harness.of(new SinkWriterOperatorFactory<String, FileSinkCommittable>(sink), parallelism, i);
            var committer = Harness.of(new CommitterOperatorFactory<FileSinkCommittable>(sink, false, true), parallelism, i);
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
    public void start(Checkpoint checkpoint, long id) throws Exception {
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
            Harness.initialize(committers.get(i), committerStates == null ? null : committerStates.get(i), id);
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
        Harness.initialize(writers.get(subtask), states == null ? null : states.get(subtask), id);
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

    public void write(int subtask, String record) throws Exception {
        writers.get(subtask).processElement(new StreamRecord<>(record));
    }

    /** Moves the clock, which fires the timers that are due by then, subtask by subtask. */
    public void advanceTo(long now) throws Exception {
        for (var writer : writers) {
            if (writer.getProcessingTime() != now) {
                writer.setProcessingTime(now);
            }
        }
    }

    /** When the next timer is due. */
    public long nextTimer() {
        long next = Long.MAX_VALUE;
        for (var writer : writers) {
            for (long due : writer.getProcessingTimeService().getActiveTimerTimestamps()) {
                next = Math.min(next, due);
            }
        }
        return next;
    }

    /** Lets a barrier pass through all operators. */
    public Checkpoint checkpoint(long id, long now) throws Exception {
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

    public void complete(long id, int subtask) throws Exception {
        writers.get(subtask).notifyOfCompletedCheckpoint(id);
        if (compaction != null) {
            compaction.complete(id, subtask);
        }
        committers.get(subtask).notifyOfCompletedCheckpoint(id);
    }

    public void abort(long id) throws Exception {
        for (int i = 0; i < writers.size(); i++) {
            writers.get(i).getOperator().notifyCheckpointAborted(id);
            committers.get(i).getOperator().notifyCheckpointAborted(id);
        }
    }

    public void endInput(int subtask) throws Exception {
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

    /** What the end of the input has done that is known to go wrong, see {@link Compaction#notes}. */
    List<String> notes() {
        return compaction == null ? List.of() : compaction.notes();
    }

    /** Lets the process die. Streams are closed, which writes nothing since none of them has a buffer. */
    public void close() throws Exception {
        for (int i = 0; i < writers.size(); i++) {
            Harness.close(writers.get(i));
            Harness.close(committers.get(i));
        }
        if (compaction != null) {
            compaction.close();
        }
    }

    private void handOver(int subtask) throws Exception {
        for (StreamRecord<CommittableMessage<FileSinkCommittable>> message : Harness.drain(writers.get(subtask))) {
            if (compaction != null) {
                compaction.accept(message);
            } else {
                committers.get(subtask).processElement(message);
            }
        }
    }

    private void handOverCompacted(int subtask) throws Exception {
        for (StreamRecord<CommittableMessage<FileSinkCommittable>> message : compaction.output(subtask)) {
            committers.get(subtask).processElement(message);
        }
    }
}
