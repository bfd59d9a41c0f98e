package sinklab.flink.oracle;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.RoundRobinOperatorStateRepartitioner;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.state.OperatorStateHandle;

/** Operator state as a list of elements: spreading it over another number of subtasks, and reading it. */
final class ListState {
    private ListState() {}

    /** The states of n subtasks made from those of any number, by Flink's own repartitioner. */
    static List<OperatorSubtaskState> redistribute(List<OperatorSubtaskState> old, int n) {
        if (old.size() == n) {
            return old;
        }
        List<List<OperatorStateHandle>> handles = new ArrayList<>();
        for (OperatorSubtaskState state : old) {
            handles.add(new ArrayList<>(state.getManagedOperatorState()));
        }
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (List<OperatorStateHandle> part :
                RoundRobinOperatorStateRepartitioner.INSTANCE.repartitionState(handles, old.size(), n)) {
            states.add(OperatorSubtaskState.builder().setManagedOperatorState(new StateObjectCollection<>(part)).build());
        }
        return states;
    }

    /** The elements of a list of byte arrays, in the order in which a subtask is given them at a restore. */
    static List<byte[]> elements(OperatorSubtaskState state, String name) throws IOException {
        List<byte[]> elements = new ArrayList<>();
        for (OperatorStateHandle handle : state.getManagedOperatorState()) {
            try (FSDataInputStream in = handle.openInputStream()) {
                for (long offset : offsets(handle, name)) {
                    in.seek(offset);
                    DataInputStream data = new DataInputStream(in); // reads no byte ahead
                    byte[] element = new byte[data.readInt()];
                    data.readFully(element);
                    elements.add(element);
                }
            }
        }
        return elements;
    }

    /** Where the elements of a list are in a handle. */
    static long[] offsets(OperatorStateHandle handle, String name) {
        OperatorStateHandle.StateMetaInfo info = handle.getStateNameToPartitionOffsets().get(name);
        return info == null ? new long[0] : info.getOffsets();
    }
}
