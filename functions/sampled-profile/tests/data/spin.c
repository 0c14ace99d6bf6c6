// What the recordings beside it are of: no libraries, so that it is small enough to keep.
// Sums go to memory, so that no loop is left out. There is no other data: perf takes what has no
// place in the file for code.
static volatile long sum = 1;

static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

__attribute__((noinline)) void leaf(long times) {
    for (long i = 0; i < times; i++) {
        sum += i;
    }
}

__attribute__((noinline)) void often(void) {
    leaf(90000000);
    __asm__ volatile("");
}

__attribute__((noinline)) void seldom(void) {
    leaf(30000000);
    __asm__ volatile("");
}

__attribute__((noinline)) void kernel(void) {
    char buffer[1 << 16];
    static const char zero[] = "/dev/zero";
    long file = call(2, (long)zero, 0, 0);
    for (long i = 0; i < 12000; i++) {
        call(0, file, (long)buffer, sizeof buffer);
    }
    __asm__ volatile("");
}

__attribute__((noreturn)) void _start(void) {
    often();
    seldom();
    kernel();
    call(60, 0, 0, 0);
    __builtin_unreachable();
}
