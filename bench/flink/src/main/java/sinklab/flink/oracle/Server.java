package sinklab.flink.oracle;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Plays operations on the real FileSink. It reads one JSON object a line from standard input and answers each with one on standard
 * output:
 *
 * <pre>
 * {"do":"open","dir":DIR,"settings":{KEY:VALUE,…}}     a new sink; nothing is started, states of the one before are forgotten
 * {"do":"start","parallelism":N,"now":MS}              starts it with no state
 * {"do":"start","parallelism":N,"now":MS,"checkpoint":ID,"state":TOKEN}
 *                                                      restores it
 * {"do":"write","subtask":N,"record":TEXT,"now":MS}
 * {"do":"tick","now":MS}                               the clock moves on and timers fire
 * {"do":"checkpoint","id":ID,"now":MS}                 answers with "state", a token, and "buckets" in it by subtask
 * {"do":"complete","id":ID,"subtask":N}, {"do":"abort","id":ID}
 * {"do":"end","subtask":N}                             answers with "notes", see {@link Compaction#notes}
 * {"do":"kill"}                                        the process dies
 * </pre>
 *
 * Every answer has "next", the instant of the next timer. That of a restore with another number of subtasks has "writers" and
 * "committers", see {@link Order}. After an exception it has "error", the class and text of its innermost cause. Whoever asks
 * looks at the directory himself.
 */
public final class Server {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Settings settings;
    private FileSink<String> sink;
    private Job job;
    private final List<Checkpoint> states = new ArrayList<>();

    private Server() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // the answers have standard output for themselves
        Writer answers = new OutputStreamWriter(out, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Server server = new Server();
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.write(JSON.writeValueAsString(server.answer(JSON.readTree(line))));
            answers.write('\n');
            answers.flush();
        }
        Runtime.getRuntime().halt(0); // threads of the compaction may be left
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
            answer.putObject("error").put("class", cause.getClass().getName()).put("text", String.valueOf(cause.getMessage()));
        }
        answer.put("next", job == null ? Long.MAX_VALUE : job.nextTimer());
        return answer;
    }

    private void play(JsonNode request, ObjectNode answer) throws Exception {
        if (request.has("now")) {
            VirtualClock.set(request.get("now").asLong());
            if (job != null) {
                job.advanceTo(VirtualClock.now());
            }
        }
        switch (request.get("do").asText()) {
            case "open" -> {
                kill();
                states.clear();
                settings = new Settings(words(request.get("settings")));
                sink = settings.sink(request.get("dir").asText());
            }
            case "start" -> start(request, answer);
            case "write" -> job.write(request.get("subtask").asInt(), request.get("record").asText());
            case "tick" -> {}
            case "checkpoint" -> {
                Checkpoint checkpoint = job.checkpoint(request.get("id").asLong(), VirtualClock.now());
                answer.put("state", states.size());
                states.add(checkpoint);
                List<List<String>> buckets = new ArrayList<>();
                for (var writer : checkpoint.writers()) {
                    buckets.add(job.buckets(writer));
                }
                answer.set("buckets", JSON.valueToTree(buckets));
            }
            case "complete" -> job.complete(request.get("id").asLong(), request.get("subtask").asInt());
            case "abort" -> job.abort(request.get("id").asLong());
            case "end" -> {
                job.endInput(request.get("subtask").asInt());
                answer.set("notes", JSON.valueToTree(job.notes()));
            }
            case "kill" -> kill();
            default -> throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void start(JsonNode request, ObjectNode answer) throws Exception {
        kill();
        job = new Job(sink, settings, request.get("parallelism").asInt(), VirtualClock.now());
        Checkpoint checkpoint = request.has("state") ? states.get(request.get("state").asInt()) : null;
        job.start(checkpoint, request.path("checkpoint").asLong());
        if (job.writerOrder() != null) {
            answer.set("writers", JSON.valueToTree(job.writerOrder()));
            answer.set("committers", JSON.valueToTree(job.committerOrder()));
        }
    }

    private void kill() throws Exception {
        if (job != null) {
            Job dead = job;
            job = null;
            dead.close();
        }
    }

    private static Map<String, String> words(JsonNode node) {
        Map<String, String> words = new HashMap<>();
        if (node == null) {
            return words; // all as it comes
        }
        for (Iterator<Map.Entry<String, JsonNode>> i = node.fields(); i.hasNext(); ) {
            Map.Entry<String, JsonNode> e = i.next();
            words.put(e.getKey(), e.getValue().asText());
        }
        return words;
    }
}
