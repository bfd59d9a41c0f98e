package sinklab.flink.oracle;

/** The time of the program that is played. It is static since a policy is serialized with its sink and must find it again. */
public final class VirtualClock {
    private static volatile long now;

    private VirtualClock() {}

    public static long now() {
        return now;
    }

    public static void set(long millis) {
        now = millis;
    }
}
