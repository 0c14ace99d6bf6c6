/* Computing that lasts as long as asked for, in programs whose times are known. A thread's results are its
 * own, so that no line moves between cores because of it. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double per_ns; /* turns of the loop in a nanosecond */
static _Thread_local volatile uint64_t sink;

__attribute__((noinline)) static uint64_t turn(uint64_t turns, uint64_t x) {
    for (; turns; turns--) x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}
static void compute(double ns) { sink = turn((uint64_t)(ns * per_ns), sink); }

static double now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Prints the turns of the loop in a nanosecond. */
static void calibrate(void) {
    double best = 1e30;
    for (int try = 0; try < 200; try++) {
        double begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        sink = turn(200000, sink);
        double took = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
        if (took < best) best = took;
    }
    printf("%.6f\n", 200000 / best);
}
