/** Allocates in several threads, in the heap and outside it, and prints a sum. */
public class Memory {
    public static void main(String[] words) throws Exception {
        long[] sums = new long[4];
        Thread[] threads = new Thread[sums.length];
        for (int at = 0; at < threads.length; at++) {
            final int own = at;
            threads[at] = new Thread(() -> {
                for (int round = 0; round < 200; round++) {
                    byte[] inside = new byte[200_000 + round];
                    java.nio.ByteBuffer outside = java.nio.ByteBuffer.allocateDirect(300_000 + round);
                    for (int i = 0; i < outside.capacity(); i += 1000) {
                        if (outside.get(i) != 0) throw new IllegalStateException("not zero");
                        outside.put(i, (byte) own);
                    }
                    java.util.zip.Deflater packer = new java.util.zip.Deflater();
                    packer.setInput(inside);
                    packer.finish();
                    sums[own] += packer.deflate(new byte[1000]) + outside.get(1000);
                    packer.end();
                }
            });
            threads[at].start();
        }
        long sum = 0;
        for (int at = 0; at < threads.length; at++) {
            threads[at].join();
            sum += sums[at];
        }
        System.out.println(sum);
    }
}
