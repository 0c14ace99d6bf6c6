import java.util.concurrent.locks.ReentrantLock;

/** Threads that wait, each in its own way, until standard input ends. While the interpreter enters a
 *  monitor, it says that it is at the first line inside. */
public class Planted {
    static final Object monitor = new Object();
    static final Object bell = new Object();
    static final ReentrantLock lock = new ReentrantLock();

    static void enterMonitor() {
        synchronized (monitor) {
            System.out.println("in the monitor"); // planted: monitor
        }
    }

    static void takeLock() {
        lock.lock(); // planted: lock
        lock.unlock();
    }

    static void listen() throws Exception {
        synchronized (bell) {
            bell.wait(); // planted: bell
        }
    }

    static Thread start(String name, Thread.State waiting, Work work) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != waiting) {
            Thread.onSpinWait();
        }
        return thread;
    }

    interface Work {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        lock.lock();
        synchronized (monitor) {
            start("waits for \"the\" monitor", Thread.State.BLOCKED, Planted::enterMonitor);
            start("waits for the lock", Thread.State.WAITING, Planted::takeLock);
            start("waits for the bell", Thread.State.WAITING, Planted::listen);
            // In one line, which is where it is as soon as it is ready.
            System.out.println("ready"); System.in.read(); // planted: main
        }
    }
}
