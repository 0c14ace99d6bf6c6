/* Mutexes need no memory: they work when there is none left. */
#include "check.h"
#include <sys/resource.h>

enum { THREADS = 6, MUTEXES = 40, ROUNDS = 200 };

static pthread_mutex_t mutexes[THREADS][MUTEXES], shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static long value;

static void *lock_many(void *argument)
{
    pthread_mutex_t *mine = mutexes[(long)argument];
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&ready);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MUTEXES; i++)
            GIVES(0, pthread_mutex_lock(&mine[i]));
        GIVES(0, pthread_mutex_lock(&shared));
        value++;
        if (round % 4 == 0)
            usleep(100); /* so that others wait, as a rule: some locks grow then */
        GIVES(0, pthread_mutex_unlock(&shared));
        for (int i = 0; i < MUTEXES; i++)
            GIVES(0, pthread_mutex_unlock(&mine[i]));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        threads[i] = start(lock_many, (void *)i);
    pthread_barrier_wait(&ready);
    struct rlimit before, none;
    GIVES(0, getrlimit(RLIMIT_AS, &before));
    none = before;
    none.rlim_cur = 1;
    GIVES(0, setrlimit(RLIMIT_AS, &none));
    pthread_barrier_wait(&ready);
    for (int i = 0; i < THREADS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(0, setrlimit(RLIMIT_AS, &before));
    GIVES(THREADS * ROUNDS, value);
    return finish();
}
