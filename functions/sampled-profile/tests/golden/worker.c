/* The program of `worker.prof`: its time is in functions of its own, and in one that a library
   calls. `make-worker` makes both anew. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) void hash(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) sink = sink * 31 + i;
}

__attribute__((noinline)) void count(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) sink += i;
}

__attribute__((noinline)) void store(uint64_t n) {
    hash(n);
    count(n / 2);
    sink += 1;
}

static int order(const void *one, const void *other) {
    sink += 1;
    return *(const int *)one - *(const int *)other;
}

__attribute__((noinline)) void arrange(void) {
    static int all[4096];
    for (int i = 0; i < 4096; i++) all[i] = (i * 7919) % 4096;
    qsort(all, 4096, sizeof *all, order);
    sink += 1;
}

int main(void) {
    struct timespec now;
    do {
        store(100000);
        arrange();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec < 1 && now.tv_nsec < 700000000);
    return 0;
}
