import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What the planted programs in Java share. See ../c/planted.h for what a program does. */
final class Planted extends Thread {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final long SECOND_NS = 1_000_000_000;

    private static long holdNs;
    private static long thinkNs;
    private static long startNs;
    private static long deadlineNs;
    private static volatile boolean stop;
    private static volatile boolean started;

    private final Consumer<Planted> body;
    private final CountDownLatch gate;
    private final long[] perSecond;
    private long random;
    private long work = 1;
    private long acquisitions;
    private long heldNs;
    private long heldWallNs;
    private long thinks;
    private long thoughtNs;

    private Planted(int number, Consumer<Planted> body, CountDownLatch gate, int seconds) {
        super("planted-" + number);
        this.body = body;
        this.gate = gate;
        this.random = 0x9e3779b97f4a7c15L * (number + 1);
        this.perSecond = new long[seconds];
    }

    private static long xorshift(long random) {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return random;
    }

    /** Computes until the thread has run for `wanted` nanoseconds more; returns for how long it ran. */
    private long compute(long wanted) {
        if (wanted == 0) {
            return 0;
        }
        long start = CLOCK.getCurrentThreadCpuTime();
        long ran;
        do {
            long work = this.work;
            for (int i = 0; i < 200; i++) {
                work = xorshift(work);
            }
            // It goes into a field, so that it is not left out.
            this.work = work;
            ran = CLOCK.getCurrentThreadCpuTime() - start;
        } while (ran < wanted);
        return ran;
    }

    /** The work of one section, to be done while the lock is held. */
    void hold() {
        long taken = System.nanoTime();
        heldNs += compute(holdNs);
        heldWallNs += System.nanoTime() - taken;
        acquisitions++;
        long second = (taken - startNs) / SECOND_NS;
        if (second < perSecond.length) {
            perSecond[(int) second]++;
        }
    }

    /** Computes for THINK_US, give or take a half. */
    void think() {
        random = xorshift(random);
        double part = 0.5 + (random >>> 11) * 0x1p-53;
        thoughtNs += compute((long) (thinkNs * part));
        thinks++;
    }

    static boolean over() {
        return stop || System.nanoTime() - deadlineNs >= 0;
    }

    @Override
    public void run() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            return;
        }
        body.accept(this);
    }

    private static double number(String text, double least, double most) {
        try {
            double number = Double.parseDouble(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        System.err.println("planted: " + text + " is no number from " + least + " to " + most);
        System.exit(2);
        return 0;
    }

    /** The whole run of a program: `body` in each thread, and then the truth. */
    static void run(String[] words, String lock, Consumer<Planted> body) throws Exception {
        boolean idleStart = words.length == 5 && words[4].equals("--idle-start");
        if (words.length != (idleStart ? 5 : 4)) {
            System.err.println("usage: THREADS HOLD_US THINK_US SECONDS [--idle-start]");
            System.exit(2);
        }
        Planted[] threads = new Planted[(int) number(words[0], 1, 1000)];
        holdNs = (long) (1e3 * number(words[1], 0, 1e9));
        thinkNs = (long) (1e3 * number(words[2], 0, 1e9));
        double seconds = number(words[3], 0, 3600);
        CountDownLatch gate = new CountDownLatch(1);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Planted(i, body, gate, (int) seconds + 60);
            threads[i].start();
        }
        CountDownLatch told = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stop = true;
            try {
                // Who still waits for a line of input has no truth to tell.
                if (started) {
                    told.await();
                }
            } catch (InterruptedException e) {
                // Then there is no truth.
            }
        }));
        System.out.println("ready " + ProcessHandle.current().pid());
        System.out.flush();
        int read = 0;
        while (idleStart && read >= 0 && read != '\n') {
            read = System.in.read();
        }
        started = true;
        startNs = System.nanoTime();
        deadlineNs = startNs + (long) (seconds * SECOND_NS);
        if (idleStart) {
            System.out.println("begun");
            System.out.flush();
        }
        gate.countDown();
        for (Planted thread : threads) {
            thread.join();
        }
        System.out.println(truth(threads, lock));
        System.out.flush();
        told.countDown();
    }

    private static String mean(long sum, long count) {
        return String.format(Locale.ROOT, "%.1f", count == 0 ? 0.0 : (double) sum / count);
    }

    private static String truth(Planted[] threads, String lock) {
        long wallNs = System.nanoTime() - startNs;
        Planted sum = threads[0];
        long[] seconds = new long[(int) Math.min(wallNs / SECOND_NS, sum.perSecond.length)];
        for (Planted thread : threads) {
            for (int s = 0; s < seconds.length; s++) {
                seconds[s] += thread.perSecond[s];
            }
            if (thread != sum) {
                sum.acquisitions += thread.acquisitions;
                sum.heldNs += thread.heldNs;
                sum.heldWallNs += thread.heldWallNs;
                sum.thinks += thread.thinks;
                sum.thoughtNs += thread.thoughtNs;
            }
        }
        return "{\"language\":\"java\",\"lock\":\"" + lock + "\",\"threads\":" + threads.length
            + ",\"acquisitions\":" + sum.acquisitions
            + ",\"hold_ns_mean\":" + mean(sum.heldNs, sum.acquisitions)
            + ",\"hold_wall_ns_mean\":" + mean(sum.heldWallNs, sum.acquisitions)
            + ",\"think_ns_mean\":" + mean(sum.thoughtNs, sum.thinks)
            + ",\"wall_ns\":" + wallNs + ",\"per_second\":["
            + Arrays.stream(seconds).mapToObj(Long::toString).collect(Collectors.joining(","))
            + "]}";
    }
}
