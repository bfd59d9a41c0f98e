package sinklab.flink.kit;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import sinklab.flink.oracle.Checkpoint;
import sinklab.flink.oracle.Job;
import sinklab.flink.oracle.Settings;
import sinklab.flink.oracle.VirtualClock;

/**
 * The real FileSink behind the protocol of the Go package sinklab/props/sinktest/wire, which describes it. Its arguments are the keys of
 * a trace's open operation, such as {@code policy=oncheckpoint}.
 *
 * <p>It tells nothing of its files: FileSink uses the local disk as it always does, and the system calls are recorded from outside. A
 * state holds the states of all operators as Flink has serialized them, so it can be restored in another process.
 */
public final class Server {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Settings settings;
    private Job job;

    private Server(Settings settings) {
        this.settings = settings;
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // the answers have standard output for themselves
        Map<String, String> keys = new HashMap<>();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            if (pair.length < 2) {
                throw new IllegalArgumentException("want KEY=VALUE: " + arg);
            }
            keys.put(pair[0], pair[1]);
        }
        Server server = new Server(new Settings(keys));
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            out.write((JSON.writeValueAsString(server.answer(JSON.readTree(line))) + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
        Runtime.getRuntime().halt(0); // threads of Flink may be left
    }

    private ObjectNode answer(JsonNode request) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            play(request, answer);
        } catch (Throwable thrown) {
            Throwable cause = thrown;
            while (cause.getCause() != null && cause.getCause() != cause) {
                cause = cause.getCause();
            }
            answer.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
        return answer;
    }

    private void play(JsonNode request, ObjectNode answer) throws Exception {
        String what = request.get("do").asText();
        long checkpoint = request.path("checkpoint").asLong();
        switch (what) {
            case "new", "restore" -> {
                close();
                VirtualClock.set(request.get("now").asLong());
                FileSink<String> sink = settings.sink(request.get("dir").asText());
                job = new Job(sink, settings, 1, VirtualClock.now());
                job.start(what.equals("new") ? null : read(request.get("state").binaryValue()), checkpoint);
                return;
            }
            case "close" -> {
                close();
                return;
            }
            default -> {}
        }
        if (job == null) {
            throw new IllegalStateException(what + ", and no sink was started");
        }
        if (request.has("now")) {
            VirtualClock.set(request.get("now").asLong());
            job.advanceTo(VirtualClock.now());
        }
        switch (what) {
            case "write" -> job.write(0, request.get("record").asText());
            case "tick" -> {
                long next = job.nextTimer();
                if (next != Long.MAX_VALUE) {
                    answer.put("next", next);
                }
            }
            case "prepare" -> answer.put("state", bytes(job.checkpoint(checkpoint, VirtualClock.now())));
            case "commit" -> job.complete(checkpoint, 0);
            case "abort" -> job.abort(checkpoint);
            case "end" -> job.endInput(0);
            default -> throw new IllegalArgumentException("unknown request " + what);
        }
    }

    private void close() throws Exception {
        if (job != null) {
            Job dead = job;
            job = null;
            dead.close();
        }
    }

    private static byte[] bytes(Checkpoint checkpoint) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(checkpoint);
        }
        return bytes.toByteArray();
    }

    private static Checkpoint read(byte[] state) throws IOException, ClassNotFoundException {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(state))) {
            return (Checkpoint) in.readObject();
        }
    }
}
