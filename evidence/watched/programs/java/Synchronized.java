/** Threads that share one object, which they lock with `synchronized`. */
final class Synchronized {
    private static final Object planted_lock = new Object();

    private static void planted_section(Planted self) {
        synchronized (planted_lock) {
            self.hold();
        }
    }

    public static void main(String[] words) throws Exception {
        Planted.run(words, "synchronized", self -> {
            while (!Planted.over()) {
                self.think();
                planted_section(self);
            }
        });
    }
}
