/* Threads that add to one counter without a lock, HOLD times in a row. */
#include <stdatomic.h>

#include "work.h"

static _Atomic long counter;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        for (long add = 0; add < hold; add++)
            atomic_fetch_add(&counter, 1);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    run_threads(body);
    printf("%ld\n", (long)counter);
    return 0;
}
