/* Threads that share a spin lock of their own making. */
#include <stdatomic.h>
#include "work.h"

static atomic_flag lock = ATOMIC_FLAG_INIT;

static void acquire(void) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
    }
}

static uint64_t shared = 1;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        acquire();
        shared = compute(shared, hold);
        atomic_flag_clear_explicit(&lock, memory_order_release);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    run_threads(body);
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
