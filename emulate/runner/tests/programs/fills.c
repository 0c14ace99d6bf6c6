// fills THREADS: as many threads that read a part each of an array of 32 MiB which the first one has written, all at a time.
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 1 << 22 };
static volatile long words[WORDS];
static long threads;
static pthread_barrier_t made_all;

static void *run(void *index)
{
    pthread_barrier_wait(&made_all);
    for (long i = (long)index * WORDS / threads; i < ((long)index + 1) * WORDS / threads; i += 8)
        (void)words[i];
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    threads = atol(argv[1]);
    for (long i = 0; i < WORDS; i += 8)
        words[i] = i;
    pthread_barrier_init(&made_all, NULL, threads);
    pthread_t made[64];
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, (void *)i);
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
