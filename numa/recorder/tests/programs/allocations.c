// Allocates in known ways, from functions that return to known places.
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf back;
static volatile int jumps_at = 0;

NOINLINE static void *block(size_t bytes) {
    void *it = malloc(bytes);
    __asm__ volatile("" ::: "memory"); // no tail call
    return it;
}

NOINLINE static void *mapping(size_t bytes) {
    void *it = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    __asm__ volatile("" ::: "memory");
    return it;
}

NOINLINE static void leaves(int depth) {
    if (depth == jumps_at) longjmp(back, 1);
    if (depth > -100) leaves(depth - 1);
    __asm__ volatile("" ::: "memory");
}

NOINLINE static void *deep(int depth) {
    void *it = depth == 0 ? block(50000) : deep(depth - 1);
    __asm__ volatile("" ::: "memory");
    return it;
}

int main(void) {
    printf("%p %p %p\n", (void *)main, (void *)block, (void *)mapping);
    printf("%s %s\n", getenv("LD_PRELOAD") ? "preloaded" : "clean",
           getenv("KILOCORE_SMALLEST_BLOCK") ? "told" : "clean");
    char *first = block(10000);
    memset(first, 1, 10000);
    printf("%p\n", (void *)first);
    free(first);
    free(block(4095));
    char *again = realloc(block(20000), 300000);
    again[299999] = 1;
    again = realloc(again, 30000);
    free(again);
    free(calloc(100, 100));
    void *aligned = NULL;
    if (posix_memalign(&aligned, 64, 40000)) return 1;
    free(aligned);
    // What is left by a jump is not among the callers of what comes later.
    if (!setjmp(back)) leaves(20);
    printf("%p\n", mapping(123 << 12));
    free(deep(200));
    printf("%p\n", mapping(7 << 12));
    return 0;
}
