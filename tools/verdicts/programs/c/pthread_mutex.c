/* Threads that share a pthread mutex. */
#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t shared = 1;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        pthread_mutex_lock(&lock);
        shared = compute(shared, hold);
        pthread_mutex_unlock(&lock);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    run_threads(body);
    printf("%llx\n", (unsigned long long)shared);
    return 0;
}
