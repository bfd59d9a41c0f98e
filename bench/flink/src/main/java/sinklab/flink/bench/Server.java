package sinklab.flink.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Measures when it is asked to, so that another process can measure something else in turns with it. It reads one JSON object a line
 * from standard input and answers each with one on standard output:
 *
 * <pre>
 * {"do":"open","dir":DIR,"encoder":"simple"|"onecall"|"bulk","size":BYTES,"buckets":N,"buffer":BYTES}
 *                          a new writer; see {@link WritePath}
 * {"do":"write","n":N}     the next N records, answers with "ns" that it took
 * {"do":"close"}           closes and publishes everything
 * {"do":"job","flags":[…]} runs a bounded {@link sinklab.flink.job.RecordsJob} on the local executor, answers with "ns" from the first
 *                          record to the last
 * </pre>
 *
 * After an exception the answer has "error". It ends with standard input.
 */
public final class Server {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Server() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // the answers have standard output for themselves
        Writer answers = new OutputStreamWriter(out, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        WritePath path = null;
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                JsonNode r = JSON.readTree(line);
                switch (r.get("do").asText()) {
                    case "open":
                        path =
                                new WritePath(
                                        r.get("dir").asText(),
                                        r.get("encoder").asText(),
                                        r.get("size").asInt(),
                                        r.get("buckets").asInt(),
                                        r.get("buffer").asInt());
                        break;
                    case "write":
                        answer.put("ns", path.write(r.get("n").asInt()));
                        break;
                    case "close":
                        path.close();
                        break;
                    case "job":
                        answer.put("ns", LocalJob.run(JSON.convertValue(r.get("flags"), String[].class)));
                        break;
                    default:
                        throw new IllegalArgumentException(line);
                }
            } catch (Throwable thrown) {
                Throwable cause = thrown;
                while (cause.getCause() != null && cause.getCause() != cause) {
                    cause = cause.getCause();
                }
                answer.put("error", cause.toString());
            }
            answers.write(JSON.writeValueAsString(answer));
            answers.write('\n');
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
