package sinklab.flink.job;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.util.ParameterTool;

/**
 * Several jobs at once on one local cluster, each with the checkpoints of the article: the first a given time after the job has
 * started, and one every interval after that. Flink's own timer draws the first one's time at random within the interval, so what
 * is visible when would differ from run to run; everything else about a checkpoint is as it is with that timer.
 *
 * <p>Arguments: milliseconds from the start of a job to its first checkpoint, milliseconds between two, and for each job one argument
 * with its flags, as {@link RecordsJob} has them, separated by a newline. It prints a line for each job, {@code started N MS} with
 * the number of the job from 0 on and the instant, and {@code checkpoint N ID MS MS} for each checkpoint with the instants of its
 * start and completion. It ends with standard input.
 */
public final class ArticleJob {
    private static final Object OUT = new Object();

    private ArticleJob() {}

    public static void main(String[] args) {
        try {
            run(args);
            Runtime.getRuntime().halt(0);
        } catch (Throwable thrown) {
            thrown.printStackTrace();
            Runtime.getRuntime().halt(1); // the cluster's threads would go on
        }
    }

    private static void run(String[] args) throws Exception {
        long first = Long.parseLong(args[0]);
        long interval = Long.parseLong(args[1]);
        List<String> jobs = List.of(args).subList(2, args.length);
        Configuration configuration = new Configuration();
        configuration.set(RestOptions.BIND_PORT, "0"); // any that is free, or two of these could not run at once
        configuration.set(RestOptions.ADDRESS, "127.0.0.1");
        configuration.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
        MiniClusterConfiguration cluster =
                new MiniClusterConfiguration.Builder()
                        .setConfiguration(configuration)
                        .setNumTaskManagers(1)
                        .setNumSlotsPerTaskManager(jobs.size())
                        .build();
        MiniCluster flink = new MiniCluster(cluster); // ends with the process
        flink.start();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < jobs.size(); i++) {
            int number = i;
            String name = "job" + i;
            ParameterTool flags = ParameterTool.fromArgs(jobs.get(i).split("\n"));
            StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, RecordsJob.configuration(flags));
            RecordsJob.define(env, flags, name);
            StreamGraph graph = env.getStreamGraph();
            graph.setJobName(name);
            CompletableFuture<Long> started = PacedSource.STARTED.computeIfAbsent(name, n -> new CompletableFuture<>());
            JobID id = flink.submitJob(graph.getJobGraph()).get().getJobID();
            Thread thread = new Thread(() -> checkpoints(flink, number, id, started.join(), first, interval), name);
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {}
    }

    private static void checkpoints(MiniCluster flink, int number, JobID id, long started, long first, long interval) {
        print("started " + number + " " + started);
        try {
            for (long at = started + first; ; at += interval) {
                Thread.sleep(Math.max(0, at - System.currentTimeMillis()));
                checkpoint(flink, number, id, at + interval / 2);
            }
        } catch (Exception e) {
            print("failed " + number + " " + String.valueOf(e.getMessage()).replace('\n', ' '));
        }
    }

    /** Takes a checkpoint. A task that is only just starting refuses, and is asked again until an instant. */
    private static void checkpoint(MiniCluster flink, int number, JobID id, long until) throws Exception {
        while (true) {
            long begun = System.currentTimeMillis();
            try {
                long checkpoint = flink.triggerCheckpoint(id, CheckpointType.FULL).get();
                print("checkpoint " + number + " " + checkpoint + " " + begun + " " + System.currentTimeMillis());
                return;
            } catch (ExecutionException e) {
                if (begun >= until) {
                    throw e;
                }
                Thread.sleep(5);
            }
        }
    }

    private static void print(String line) {
        synchronized (OUT) {
            System.out.println(line);
            System.out.flush();
        }
    }
}
