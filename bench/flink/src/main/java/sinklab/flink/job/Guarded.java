package sinklab.flink.job;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs another main class and ends the process when standard input ends. Whoever started it need not live to stop it: however he
 * dies, the kernel closes his end of the pipe.
 *
 * <p>Arguments: the class, and its arguments.
 */
public final class Guarded {
    private Guarded() {}

    public static void main(String[] args) throws Exception {
        Thread guard =
                new Thread(
                        () -> {
                            try {
                                while (System.in.read() >= 0) {}
                            } catch (IOException e) {
                                // The pipe is gone, which is the same.
                            }
                            Runtime.getRuntime().halt(0);
                        },
                        "guard");
        guard.setDaemon(true);
        guard.start();
        try {
            Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace();
            System.exit(1);
        }
    }
}
