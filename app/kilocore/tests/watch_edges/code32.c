/* A program of 32-bit code that needs no library: three threads take turns at a futex, for ever. */
static int lock;
static char stacks[3][8192];

static int call(int number, int a, int b, int c) {
    int result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(0)
                     : "memory");
    return result;
}
static void work(void) {
    for (;;) {
        int free = 0;
        if (!__atomic_compare_exchange_n(&lock, &free, 1, 0, 5, 5))
            while (__atomic_exchange_n(&lock, 2, 5)) call(240, (int)&lock, 128, 2);
        for (volatile int i = 0; i < 20000; i++) {}
        if (__atomic_exchange_n(&lock, 0, 5) == 2) call(240, (int)&lock, 129, 1);
        for (volatile int i = 0; i < 20000; i++) {}
    }
}
static void start(char *top) {
    int result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(120), "b"(0x50f00), "c"(top), "d"(0), "S"(0), "D"(0)
                     : "memory");
    if (result == 0) work();
}
void _start(void) {
    __asm__ volatile("and $-16, %esp");
    for (int i = 0; i < 3; i++) start(stacks[i] + 8176);
    call(4, 1, (int)"ready 32\n", 9);
    for (;;) call(29, 0, 0, 0);
}
