// A program with parts: parts BUILD THREADS CALLS. It builds something, and solves it in threads so often, each time
// with more to do. With no threads, the first one does the work.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64
#define WORDS 4096

static volatile long words[MOST][WORDS];
static volatile long *built;
static long threads;

static void *work(void *argument)
{
    long which = (long)argument;
    volatile long *own = words[which % MOST];
    for (long round = 0; round < which / MOST; round++)
        for (int i = 0; i < WORDS; i++)
            own[i] += i;
    return NULL;
}

// Touches each page, and is long.
__attribute__((noinline)) void build(long count)
{
    for (long round = 0; round < 4; round++)
        for (long i = 0; i < count; i++)
            built[i] += i;
}

__attribute__((noinline)) void prepare(void)
{
    for (int which = 0; which < MOST; which++)
        for (int i = 0; i < WORDS; i++)
            words[which][i] = i;
}

__attribute__((noinline)) void solve(long rounds)
{
    pthread_t made[MOST];
    if (threads == 0)
        work((void *)(rounds * MOST));
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, work, (void *)(rounds * MOST + i));
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
}

__attribute__((noinline)) void finish(void)
{
    printf("%ld\n", words[0][1]);
}

__attribute__((noinline)) void never(void)
{
    finish();
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    long count = atol(argv[1]), calls = atol(argv[3]);
    threads = atol(argv[2]);
    signal(SIGUSR1, SIG_IGN);
    built = calloc(count + 1, sizeof *built);
    build(count);
    prepare();
    for (long call = 1; call <= calls; call++) {
        raise(SIGUSR1);
        solve(call * 200);
    }
    if (calls > 1000)
        never();
    finish();
    free((void *)built);
    return 0;
}
