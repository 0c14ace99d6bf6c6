// A program that allocates: two threads build and drop trees and tables, most of them short-lived,
// while a window of the newest stays.
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

public class Allocate {
    record Node(Node left, Node right, byte[] load) {}

    static Node tree(int depth, Random random) {
        if (depth == 0) return null;
        byte[] load = new byte[random.nextInt(64)];
        return new Node(tree(depth - 1, random), tree(depth - 1, random), load);
    }

    static void work(int seed, long until) {
        Random random = new Random(seed);
        ArrayDeque<Object> window = new ArrayDeque<>();
        while (System.nanoTime() < until) {
            Map<String, Node> table = new HashMap<>();
            for (int i = 0; i < 200; i++) table.put("key " + i, tree(5, random));
            window.add(table);
            window.add(tree(12, random));
            window.add(new byte[random.nextInt(1 << 18)]);
            while (window.size() > 120) window.remove();
        }
    }

    public static void main(String[] words) throws InterruptedException {
        long until = System.nanoTime() + 1_000_000L * Integer.parseInt(words[0]);
        Thread other = new Thread(() -> work(1, until));
        other.start();
        work(2, until);
        other.join();
    }
}
