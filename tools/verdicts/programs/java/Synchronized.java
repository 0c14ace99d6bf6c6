/** Threads that share an object's monitor. */
public class Synchronized {
    static final Object lock = new Object();
    static long shared = 1;

    static long compute(long value, int steps) {
        for (int step = 0; step < steps; step++) {
            value ^= value << 13;
            value ^= value >>> 7;
            value ^= value << 17;
        }
        return value;
    }

    public static void main(String[] words) throws InterruptedException {
        int threads = Integer.parseInt(words[0]), sections = Integer.parseInt(words[1]);
        int hold = Integer.parseInt(words[2]), think = Integer.parseInt(words[3]);
        Thread[] all = new Thread[threads];
        for (int number = 0; number < threads; number++) {
            final long first = number + 1;
            all[number] = new Thread(() -> {
                long own = first;
                for (int each = 0; each < sections / threads; each++) {
                    own = compute(own, think);
                    synchronized (lock) {
                        shared = compute(shared + (own & 1), hold);
                    }
                }
            });
            all[number].start();
        }
        for (Thread each : all) each.join();
        System.out.println(shared);
    }
}
