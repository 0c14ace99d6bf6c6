/* A program with known parameters, each of which can be changed alone, because its arguments say them:
 *
 *   program calibrate                     prints the turns of its loop in a nanosecond
 *   program TURNS THREADS ROUNDS SECTIONS THINK HOLD BEFORE LINES LOCKS KIND SERIAL
 *
 * THINK, HOLD, BEFORE and SERIAL are nanoseconds of computing. Each thread thinks for THINK on average,
 * exponentially, computes for BEFORE, takes one of LOCKS at random, writes LINES lines of the data that
 * this lock protects, computes for HOLD, and lets it go; SECTIONS times in each of ROUNDS rounds, which
 * end in a barrier of the C library. With one round there is no barrier. KIND: m mutexes, r read-write
 * locks, of whose sections 9 in 10 only read, o one mutex with data of its own for each thread.
 *
 * At its end it prints for how long it ran, and for how long its threads together were ready without
 * having a core, both in nanoseconds. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../planted/computing.h"

enum { MOST_LINES = 8, MOST_THREADS = 1024 };

struct line {
    _Alignas(128) volatile uint64_t value;
};
struct lock {
    _Alignas(128) pthread_mutex_t mutex;
    _Alignas(128) pthread_rwlock_t read_write;
    struct line data[MOST_LINES];
};

static long threads, rounds, sections, lines, count;
static double think_ns, hold_ns, before_ns, serial_ns;
static char kind;
static struct lock *locks;
static pthread_barrier_t barrier;
static long given; /* sections that threads have taken, where there are no rounds */
static long delayed;

/* For how long this thread was ready without having a core, in nanoseconds. */
static long delay(void) {
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    long ran = 0, waited = 0;
    if (!file || fscanf(file, "%ld %ld", &ran, &waited) != 2) {
        fputs("/proc/thread-self/schedstat cannot be read\n", stderr);
        exit(1);
    }
    fclose(file);
    return waited;
}

static double uniform(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return ((*random >> 11) + 1) * 0x1p-53;
}

static void section(struct lock *lock, int reads) {
    if (kind != 'r')
        pthread_mutex_lock(&lock->mutex);
    else if (reads)
        pthread_rwlock_rdlock(&lock->read_write);
    else
        pthread_rwlock_wrlock(&lock->read_write);
    for (long line = 0; line < lines; line++) {
        if (reads)
            (void)lock->data[line].value;
        else
            lock->data[line].value++;
    }
    compute(hold_ns);
    if (kind != 'r')
        pthread_mutex_unlock(&lock->mutex);
    else
        pthread_rwlock_unlock(&lock->read_write);
}

static void *work(void *words) {
    long number = (intptr_t)words;
    uint64_t random = 88172645463325252u + (uint64_t)number * 2654435761u;
    /* What is chosen besides must not change for how long a thread thinks. */
    uint64_t choice = random ^ 0x9e3779b97f4a7c15u;
    for (long round = 0; round < rounds; round++) {
        for (long done = 0;; done++) {
            /* Without barriers threads take turns as they come, so that they end together. */
            long taken =
                rounds == 1 ? __atomic_fetch_add(&given, 1, __ATOMIC_RELAXED) / threads : done;
            if (taken >= sections) break;
            compute(think_ns * -log(uniform(&random)));
            if (before_ns > 0) compute(before_ns);
            long picked = (long)(uniform(&choice) * count) % count;
            int reads = kind == 'r' && uniform(&choice) <= 0.9;
            section(&locks[kind == 'o' ? number : picked], reads);
        }
        if (rounds > 1) pthread_barrier_wait(&barrier);
    }
    __atomic_fetch_add(&delayed, delay(), __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **words) {
    if (argc == 2 && !strcmp(words[1], "calibrate")) {
        calibrate();
        return 0;
    }
    if (argc != 12) return 2;
    double begin = now_ns(CLOCK_MONOTONIC);
    per_ns = atof(words[1]);
    threads = atol(words[2]);
    rounds = atol(words[3]);
    sections = atol(words[4]);
    think_ns = atof(words[5]);
    hold_ns = atof(words[6]);
    before_ns = atof(words[7]);
    lines = atol(words[8]);
    count = atol(words[9]);
    kind = *words[10];
    serial_ns = atof(words[11]);
    if (threads > MOST_THREADS || lines > MOST_LINES) return 2;
    long made = kind == 'o' ? threads : count;
    locks = aligned_alloc(128, made * sizeof *locks);
    if (!locks) return 1;
    memset(locks, 0, made * sizeof *locks);
    for (long lock = 0; lock < made; lock++) {
        if (kind == 'r')
            pthread_rwlock_init(&locks[lock].read_write, NULL);
        else
            pthread_mutex_init(&locks[lock].mutex, NULL);
    }
    pthread_barrier_init(&barrier, NULL, threads);
    compute(serial_ns / 2);
    pthread_t started[MOST_THREADS];
    for (long number = 0; number < threads; number++)
        pthread_create(&started[number], NULL, work, (void *)(intptr_t)number);
    for (long number = 0; number < threads; number++) pthread_join(started[number], NULL);
    compute(serial_ns / 2);
    printf("%.0f %ld\n", now_ns(CLOCK_MONOTONIC) - begin, delayed + delay());
    return 0;
}
