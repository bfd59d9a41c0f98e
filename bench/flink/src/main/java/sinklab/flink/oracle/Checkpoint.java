package sinklab.flink.oracle;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;

/** The states of all operators at a checkpoint, by subtask. The last two are empty without compaction. */
public record Checkpoint(
        List<OperatorSubtaskState> writers,
        List<OperatorSubtaskState> committers,
        List<OperatorSubtaskState> coordinator,
        List<OperatorSubtaskState> compactors)
        implements Serializable {}
