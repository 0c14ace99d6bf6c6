// Threads that share a Mutex of D's runtime.
import core.sync.mutex, core.thread, std.conv, std.stdio;

__gshared Mutex lock;
__gshared ulong common = 1;

ulong compute(ulong value, long steps) {
    foreach (step; 0 .. steps) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    return value;
}

void main(string[] words) {
    const threads = words[1].to!long, sections = words[2].to!long;
    const hold = words[3].to!long, think = words[4].to!long;
    lock = new Mutex;
    Thread[] all;
    foreach (number; 0 .. threads)
        all ~= new Thread({
            ulong own = 1;
            foreach (each; 0 .. sections / threads) {
                own = compute(own, think);
                synchronized (lock)
                    common = compute(common + (own & 1), hold);
            }
        }).start();
    foreach (each; all)
        each.join();
    writeln(common);
}
