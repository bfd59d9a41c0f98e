// A job that takes Flink's file sink as it comes.
public final class Defaults {
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.enableCheckpointing(2_000);

        FileSink<String> sink =
                FileSink.forRowFormat(new Path(args[0]), new SimpleStringEncoder<String>("UTF-8")).build();

        env.fromSource(lines(), WatermarkStrategy.noWatermarks(), "lines").sinkTo(sink);
        env.execute();
    }
}
