/* Threads that meet at a barrier; the first of them computes HOLD steps more than the others. */
#include "work.h"

static pthread_barrier_t barrier;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        if (number == 0)
            own = compute(own, hold);
        pthread_barrier_wait(&barrier);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    run_threads(body);
    return 0;
}
