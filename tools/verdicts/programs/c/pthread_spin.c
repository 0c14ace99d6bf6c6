/* Threads that share a pthread spin lock. */
#include "work.h"

static pthread_spinlock_t lock;
static uint64_t shared = 1;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        pthread_spin_lock(&lock);
        shared = compute(shared, hold);
        pthread_spin_unlock(&lock);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    run_threads(body);
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
