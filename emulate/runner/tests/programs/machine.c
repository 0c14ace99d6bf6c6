// What a program sees of its machine, and of time.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void *where(void *core)
{
    *(int *)core = sched_getcpu();
    return NULL;
}

int main(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    int first = sched_getcpu(), second;
    pthread_t thread;
    pthread_create(&thread, NULL, where, &second);
    pthread_join(thread, NULL);
    double before = now(CLOCK_MONOTONIC);
    sleep(3);
    double slept = now(CLOCK_MONOTONIC) - before;
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 5;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int timed_out = pthread_cond_timedwait(&cond, &mutex, &soon);
    double waited = now(CLOCK_MONOTONIC) - before - slept;
    long turns = 0;
    for (double start = now(CLOCK_MONOTONIC); now(CLOCK_MONOTONIC) < start + 1e-3;)
        turns++;
    unsigned core;
    unsigned long long ticks = __rdtscp(&core);
    double begun = now(CLOCK_MONOTONIC);
    sleep(1);
    double ghz = (__rdtsc() - ticks) * 1e-9 / (now(CLOCK_MONOTONIC) - begun);
    printf("%ld %ld %d %d %d %.3f %d %.3f %d %.2f %llu\n", sysconf(_SC_NPROCESSORS_ONLN),
           sysconf(_SC_NPROCESSORS_CONF), CPU_COUNT(&set), first, second, slept, timed_out != 0, waited,
           turns > 100, ghz, ticks);
    return 0;
}
