package sinklab.flink.oracle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.OperatorStateHandle;

/**
 * Which element of the old subtasks' state each new subtask is given, and in which order: the one thing about a restore with
 * another number of subtasks that Flink leaves to chance. Element n of old subtask s is written as [s, n].
 */
final class Order {
    private Order() {}

    /** Elements are found again by the handle that they are in and their place in it. */
    static List<List<int[]>> of(List<OperatorSubtaskState> old, List<OperatorSubtaskState> given, String name) throws IOException {
        List<List<int[]>> order = new ArrayList<>();
        for (OperatorSubtaskState state : given) {
            List<int[]> subtask = new ArrayList<>();
            for (OperatorStateHandle handle : state.getManagedOperatorState()) {
                for (long offset : ListState.offsets(handle, name)) {
                    subtask.add(find(old, handle, offset, name));
                }
            }
            order.add(subtask);
        }
        return order;
    }

    private static int[] find(List<OperatorSubtaskState> old, OperatorStateHandle in, long offset, String name) throws IOException {
        for (int s = 0; s < old.size(); s++) {
            int n = 0;
            for (OperatorStateHandle handle : old.get(s).getManagedOperatorState()) {
                for (long candidate : ListState.offsets(handle, name)) {
                    if (candidate == offset && handle.getDelegateStateHandle().equals(in.getDelegateStateHandle())) {
                        return new int[] {s, n};
                    }
                    n++;
                }
            }
        }
        throw new IOException("a subtask was given an element of " + name + " that none of the old ones had");
    }
}
