import java.util.concurrent.locks.ReentrantLock;

/** Threads that share one java.util.concurrent.locks.ReentrantLock. */
final class Reentrant {
    private static final ReentrantLock planted_lock = new ReentrantLock();

    private static void planted_section(Planted self) {
        planted_lock.lock();
        try {
            self.hold();
        } finally {
            planted_lock.unlock();
        }
    }

    public static void main(String[] words) throws Exception {
        Planted.run(words, "ReentrantLock", self -> {
            while (!Planted.over()) {
                self.think();
                planted_section(self);
            }
        });
    }
}
