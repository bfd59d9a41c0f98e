package sinklab.flink.oracle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;

/**
 * Which element of the old subtasks' state each new subtask is given, and in which order: the one thing about a restore with
 * another number of subtasks that Flink leaves to chance. Element n of old subtask s is written as [s, n].
 */
final class Order {
    private Order() {}

    /** Elements are found again by their bytes; equal ones are interchangeable. */
    static List<List<int[]>> of(List<OperatorSubtaskState> old, List<OperatorSubtaskState> given, String name) throws IOException {
        List<List<byte[]>> from = new ArrayList<>();
        for (OperatorSubtaskState state : old) {
            from.add(new ArrayList<>(ListState.elements(state, name)));
        }
        List<List<int[]>> order = new ArrayList<>();
        for (OperatorSubtaskState state : given) {
            List<int[]> subtask = new ArrayList<>();
            for (byte[] element : ListState.elements(state, name)) {
                subtask.add(take(from, element));
            }
            order.add(subtask);
        }
        for (List<byte[]> left : from) {
            for (byte[] element : left) {
                if (element != null) {
                    throw new IOException("an element of " + name + " was given to no subtask");
                }
            }
        }
        return order;
    }

    private static int[] take(List<List<byte[]>> from, byte[] element) throws IOException {
        for (int s = 0; s < from.size(); s++) {
            for (int n = 0; n < from.get(s).size(); n++) {
                if (Arrays.equals(from.get(s).get(n), element)) {
                    from.get(s).set(n, null);
                    return new int[] {s, n};
                }
            }
        }
        throw new IOException("an element of the state was given twice, or none of the old subtasks had it");
    }
}
