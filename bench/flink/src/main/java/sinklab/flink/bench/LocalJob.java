package sinklab.flink.bench;

import java.util.UUID;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ParameterTool;
import sinklab.flink.job.PacedSource;
import sinklab.flink.job.RecordsJob;

/** A whole job on Flink's local executor, with parallelism 1. */
final class LocalJob {
    private LocalJob() {}

    /** Runs it to its end and returns the nanoseconds from its first record to the end of its input. */
    static long run(String[] args) throws Exception {
        ParameterTool flags = ParameterTool.fromArgs(args);
        String name = UUID.randomUUID().toString();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, RecordsJob.configuration(flags));
        RecordsJob.define(env, flags, name);
        env.execute(name);
        return PacedSource.sentNanos(name);
    }
}
