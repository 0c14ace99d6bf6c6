// Threads that wait for a condition variable: conditions KIND THREADS ROUNDS. KIND is
//   barrier      each round ends when all have come, and the last one wakes the others
//   twice        the same, and the last one wakes them a second time
//   queue        the first thread puts numbers into a queue one by one, wakes all others each time, and all take
//   timed        barrier, whose waiters look at the clock
//   recursive, checked, lent, shared   barrier with a mutex of another kind
// At the end, everything is destroyed.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static int threads, rounds, came, queued, taken, ended;
static unsigned round_now;
static const char *kind;

static int is(const char *what)
{
    return !strcmp(kind, what);
}

static void need(int good)
{
    if (!good)
        exit(3);
}

static void wait_for_it(void)
{
    if (is("timed")) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 100;
        need(pthread_cond_timedwait(&condition, &mutex, &until) == 0);
    } else {
        need(pthread_cond_wait(&condition, &mutex) == 0);
    }
}

static void meet(void)
{
    need(pthread_mutex_lock(&mutex) == 0);
    unsigned mine = round_now;
    if (++came == threads) {
        came = 0;
        round_now++;
        need(pthread_cond_broadcast(&condition) == 0);
        if (is("twice"))
            need(pthread_cond_broadcast(&condition) == 0);
    } else {
        while (mine == round_now)
            wait_for_it();
    }
    need(pthread_mutex_unlock(&mutex) == 0);
}

static void put(void)
{
    for (int i = 0; i < rounds; i++) {
        need(pthread_mutex_lock(&mutex) == 0);
        queued++;
        need(pthread_cond_broadcast(&condition) == 0);
        need(pthread_mutex_unlock(&mutex) == 0);
    }
    need(pthread_mutex_lock(&mutex) == 0);
    ended = 1;
    need(pthread_cond_broadcast(&condition) == 0);
    need(pthread_mutex_unlock(&mutex) == 0);
}

static void take(void)
{
    need(pthread_mutex_lock(&mutex) == 0);
    for (;;) {
        while (!queued && !ended)
            wait_for_it();
        if (!queued)
            break;
        queued--, taken++;
    }
    need(pthread_mutex_unlock(&mutex) == 0);
}

static void *run(void *number)
{
    if (is("queue")) {
        if (number)
            take();
        else
            put();
        return NULL;
    }
    for (int i = 0; i < rounds; i++)
        meet();
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    kind = argv[1], threads = atoi(argv[2]), rounds = atoi(argv[3]);
    pthread_t made[64];
    if (threads < 2 || threads > 64)
        return 2;
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    pthread_mutexattr_init(&of_mutex);
    pthread_condattr_init(&of_condition);
    if (is("recursive"))
        pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_RECURSIVE);
    if (is("checked"))
        pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_ERRORCHECK);
    if (is("lent"))
        pthread_mutexattr_setprotocol(&of_mutex, PTHREAD_PRIO_INHERIT);
    if (is("shared")) {
        pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
        pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    }
    need(pthread_mutex_init(&mutex, &of_mutex) == 0);
    need(pthread_cond_init(&condition, &of_condition) == 0);
    for (long i = 1; i < threads; i++)
        need(pthread_create(&made[i], NULL, run, (void *)i) == 0);
    run(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(made[i], NULL);
    need(pthread_cond_destroy(&condition) == 0);
    need(pthread_mutex_destroy(&mutex) == 0);
    printf("%u %d\n", round_now, taken);
    return 0;
}
