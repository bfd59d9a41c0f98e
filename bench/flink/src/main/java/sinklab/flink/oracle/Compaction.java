package sinklab.flink.oracle;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.sink.FileSinkCommittable;
import org.apache.flink.connector.file.sink.compactor.ConcatFileCompactor;
import org.apache.flink.connector.file.sink.compactor.FileCompactStrategy;
import org.apache.flink.connector.file.sink.compactor.operator.CompactCoordinatorFactory;
import org.apache.flink.connector.file.sink.compactor.operator.CompactorOperator;
import org.apache.flink.connector.file.sink.compactor.operator.CompactorOperatorFactory;
import org.apache.flink.connector.file.sink.compactor.operator.CompactorRequest;
import org.apache.flink.connector.file.sink.compactor.operator.CompactorRequestTypeInfo;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketWriter;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/**
 * The two operators that stand between writers and committers if files are merged: one coordinator, which every writer sends to,
 * and a compactor before each committer, to which the coordinator deals its requests in turn.
 */
final class Compaction {
    private final OneInputStreamOperatorTestHarness<CommittableMessage<FileSinkCommittable>, CompactorRequest> coordinator;
    private final List<OneInputStreamOperatorTestHarness<CompactorRequest, CommittableMessage<FileSinkCommittable>>> compactors =
            new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private int next; // compactor to deal to
    private long restored; // checkpoint, 0 for none

    Compaction(FileSink<String> sink, FileCompactStrategy strategy, int parallelism) throws Exception {
        coordinator = Harness.of(new CompactCoordinatorFactory(strategy, sink::getCommittableSerializer), 1, 0);
        coordinator.setup(new CompactorRequestTypeInfo(sink::getCommittableSerializer).createSerializer(new SerializerConfigImpl()));
        for (int i = 0; i < parallelism; i++) {
            var compactor = Harness.of(
                    new CompactorOperatorFactory(
                            strategy, new ConcatFileCompactor(), sink::getCommittableSerializer, () -> bucketWriter(sink)),
                    parallelism, i);
            compactor.setup();
            compactors.add(compactor);
        }
    }

    /** Restores the operators from their states, or starts them with none if checkpoint is null. */
    void start(Checkpoint checkpoint, long id) throws Exception {
        List<OperatorSubtaskState> states =
                checkpoint == null ? null : ListState.redistribute(checkpoint.compactors(), compactors.size());
        for (int i = 0; i < compactors.size(); i++) {
            Harness.initialize(compactors.get(i), states == null ? null : states.get(i), id);
        }
        Harness.initialize(coordinator, checkpoint == null ? null : checkpoint.coordinator().get(0), id);
        restored = id;
        deal();
        await();
    }

    /** Takes what a writer has handed over. */
    void accept(StreamRecord<CommittableMessage<FileSinkCommittable>> message) throws Exception {
        coordinator.processElement(message);
    }

    /** Takes the checkpoint of both operators, all writers having handed over their part of it. */
    Checkpoint checkpoint(long id, long now, List<OperatorSubtaskState> writers) throws Exception {
        coordinator.prepareSnapshotPreBarrier(id);
        List<OperatorSubtaskState> coordinated = List.of(coordinator.snapshot(id, now));
        deal();
        List<OperatorSubtaskState> compacted = new ArrayList<>();
        for (var compactor : compactors) {
            compactor.prepareSnapshotPreBarrier(id);
            compacted.add(compactor.snapshot(id, now));
        }
        return new Checkpoint(writers, null, coordinated, compacted);
    }

    /** Tells the compactor of one subtask, which then merges files; that takes no time here. */
    void complete(long id, int subtask) throws Exception {
        if (subtask == 0) {
            coordinator.notifyOfCompletedCheckpoint(id);
        }
        compactors.get(subtask).notifyOfCompletedCheckpoint(id);
        await();
    }

    /** Ends the input, which ends when that of all writers has. */
    void endInput() throws Exception {
        coordinator.endInput();
        deal();
        for (var compactor : compactors) {
            CompactorOperator operator = (CompactorOperator) compactor.getOperator();
            long key = (Long) field(CompactorOperator.class, "lastKnownCheckpointId").get(operator) + 1;
            Map<?, ?> requests = (Map<?, ?>) field(CompactorOperator.class, "checkpointRequests").get(operator);
            if (requests.get(key) instanceof List<?> list && !list.isEmpty()) {
                notes.add("replaced");
            }
            if (key <= restored) {
                notes.add("not above");
            }
            compactor.endInput();
            if (requests.values().stream().anyMatch(list -> !((List<?>) list).isEmpty())) {
                notes.add("left");
            }
        }
    }

    private static Field field(Class<?> c, String name) throws NoSuchFieldException {
        Field field = c.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** What the compactor of a subtask hands over to its committer. */
    List<StreamRecord<CommittableMessage<FileSinkCommittable>>> output(int subtask) {
        return Harness.drain(compactors.get(subtask));
    }

    /**
     * What the end of the input has done that is known to go wrong. An operator files what it collects at the end under the number
     * after the last checkpoint that it knows of, which a restore does not tell it (CompactorOperator:143-156). Requests restored
     * under that number are then "replaced"; those restored under a later one are "left" to wait; and if the number is "not above"
     * the restored checkpoint, its completion covers what came after it.
     */
    List<String> notes() {
        return notes;
    }

    void close() {
        Harness.close(coordinator);
        for (var compactor : compactors) {
            Harness.close(compactor);
        }
    }

    private void deal() throws Exception {
        for (StreamRecord<CompactorRequest> message : Harness.drain(coordinator)) {
            compactors.get(next).processElement(message);
            next = (next + 1) % compactors.size();
        }
    }

    /** Files are merged on threads of their own. A failure comes out at the next checkpoint, as it does in a job. */
    private void await() {
        for (var compactor : compactors) {
            ((CompactorOperator) compactor.getOperator()).getAllTasksFuture().handle((done, failure) -> null).join();
        }
    }

    /** The sink hands its bucket writer to its own operators only. */
    @SuppressWarnings("unchecked")
    private static BucketWriter<?, String> bucketWriter(FileSink<String> sink) throws IOException {
        try {
            Object builder = field(FileSink.class, "bucketsBuilder").get(sink);
            for (Class<?> c = builder.getClass(); c != null; c = c.getSuperclass()) {
                for (Method method : c.getDeclaredMethods()) {
                    if (method.getName().equals("createBucketWriter") && !Modifier.isAbstract(method.getModifiers())) {
                        method.setAccessible(true);
                        return (BucketWriter<?, String>) method.invoke(builder);
                    }
                }
            }
            throw new NoSuchMethodException("createBucketWriter");
        } catch (ReflectiveOperationException e) {
            throw new IOException(e);
        }
    }
}
