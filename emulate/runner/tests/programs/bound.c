// Two threads that compute, bound to the processors FIRST and SECOND: where they are, and how long they take in ms.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int seen[2], allowed[2];

static cpu_set_t only(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return set;
}

static void *run(void *index)
{
    for (long i = 0; i < 3000000; i++)
        __asm__ volatile("");
    cpu_set_t set;
    pthread_getaffinity_np(pthread_self(), sizeof set, &set);
    seen[(long)index] = sched_getcpu(), allowed[(long)index] = CPU_COUNT(&set);
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    // The first one from outside, and the second one inherits it.
    pthread_t threads[2];
    cpu_set_t set = only(atoi(argv[1]));
    pthread_create(&threads[0], NULL, run, (void *)0);
    pthread_setaffinity_np(threads[0], sizeof set, &set);
    set = only(atoi(argv[2]));
    sched_setaffinity(0, sizeof set, &set);
    int here = sched_getcpu();
    pthread_create(&threads[1], NULL, run, (void *)1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    set = only(1000);
    int refused = sched_setaffinity(0, sizeof set, &set) ? errno : 0;
    printf("%d %d %d %d %d %s %.1f\n", seen[0], seen[1], here, allowed[0], allowed[1], strerror(refused),
           (after.tv_sec - before.tv_sec) * 1e3 + (after.tv_nsec - before.tv_nsec) * 1e-6);
    return 0;
}
