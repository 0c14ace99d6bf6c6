/* Threads that read under a read-write lock, and write one time in a hundred. */
#include "work.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t shared = 1;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        if (each % 100 == 0) {
            pthread_rwlock_wrlock(&lock);
            shared = compute(shared, hold);
        } else {
            pthread_rwlock_rdlock(&lock);
            own ^= compute(shared, hold);
        }
        pthread_rwlock_unlock(&lock);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    run_threads(body);
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
