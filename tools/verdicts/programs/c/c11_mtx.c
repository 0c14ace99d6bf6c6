/* Threads that share a lock of C11. */
#include <threads.h>
#include "work.h"

static mtx_t lock;
static uint64_t shared = 1;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        mtx_lock(&lock);
        shared = compute(shared, hold);
        mtx_unlock(&lock);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    mtx_init(&lock, mtx_plain);
    run_threads(body);
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
