/* A program with known parameters, each of which can be changed alone, because its arguments say them:
 *
 *   program calibrate                     prints the turns of its loop in a nanosecond
 *   program TURNS THREADS ROUNDS SECTIONS THINK HOLD BEFORE LINES LOCKS KIND SERIAL HOT HOTS INNER INNERS INNER_KIND
 *
 * THINK, HOLD, BEFORE and SERIAL are nanoseconds of computing. Each thread thinks for THINK on average,
 * exponentially, computes for BEFORE, takes one of LOCKS at random, writes LINES lines of the data that
 * this lock protects, computes for HOLD, and lets it go; SECTIONS times in each of ROUNDS rounds, which
 * end in a barrier of the C library. With one round there is no barrier. KIND: m mutexes, r read-write
 * locks, of whose sections 9 in 10 only read, o one mutex with data of its own for each thread. If HOT is not 0,
 * the first HOTS of the locks get this share of all uses. If INNER is not 0, one of INNERS locks of INNER_KIND is
 * taken inside, after HOLD, and held for INNER.
 *
 * At its end it prints for how long it ran, and for how long its threads together were ready without
 * having a core, both in nanoseconds. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../planted/computing.h"
#include "../planted/random.h"

enum { MOST_LINES = 8, MOST_THREADS = 1024 };

struct line {
    _Alignas(128) volatile uint64_t value;
};
struct lock {
    _Alignas(128) pthread_mutex_t mutex;
    _Alignas(128) pthread_rwlock_t read_write;
    struct line data[MOST_LINES];
};

static long threads, rounds, sections, lines, count, hots, inner_count;
static double think_ns, hold_ns, before_ns, serial_ns, hot, inner_ns;
static char kind, inner_kind;
static struct lock *locks, *inner_locks;
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

static void take(struct lock *lock, char of_kind, int reads) {
    if (of_kind != 'r')
        pthread_mutex_lock(&lock->mutex);
    else if (reads)
        pthread_rwlock_rdlock(&lock->read_write);
    else
        pthread_rwlock_wrlock(&lock->read_write);
}

static void let_go(struct lock *lock, char of_kind) {
    if (of_kind != 'r')
        pthread_mutex_unlock(&lock->mutex);
    else
        pthread_rwlock_unlock(&lock->read_write);
}

/* A number below `below`. */
static long any(long below, uint64_t *random) { return (long)(uniform(random) * below) % below; }

static int only_reads(char of_kind, uint64_t *choice) {
    return of_kind == 'r' && uniform(choice) <= 0.9;
}

static long pick(uint64_t *choice) {
    if (hot <= 0) return any(count, choice);
    return uniform(choice) <= hot ? any(hots, choice) : hots + any(count - hots, choice);
}

static void section(struct lock *lock, int reads, long number, uint64_t *choice) {
    take(lock, kind, reads);
    for (long line = 0; line < lines; line++) {
        if (reads)
            (void)lock->data[line].value;
        else
            lock->data[line].value++;
    }
    compute(hold_ns);
    if (inner_ns > 0) {
        struct lock *inner = &inner_locks[inner_kind == 'o' ? number : any(inner_count, choice)];
        take(inner, inner_kind, only_reads(inner_kind, choice));
        compute(inner_ns);
        let_go(inner, inner_kind);
    }
    let_go(lock, kind);
}

static void *work(void *words) {
    long number = (intptr_t)words;
    uint64_t random = random_of(number);
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
            long picked = pick(&choice);
            int reads = only_reads(kind, &choice);
            section(&locks[kind == 'o' ? number : picked], reads, number, &choice);
        }
        if (rounds > 1) pthread_barrier_wait(&barrier);
    }
    __atomic_fetch_add(&delayed, delay(), __ATOMIC_RELAXED);
    return NULL;
}

static struct lock *made(long number, char of_kind) {
    struct lock *all = aligned_alloc(128, number * sizeof *all);
    if (!all) exit(1);
    memset(all, 0, number * sizeof *all);
    for (long lock = 0; lock < number; lock++) {
        if (of_kind == 'r')
            pthread_rwlock_init(&all[lock].read_write, NULL);
        else
            pthread_mutex_init(&all[lock].mutex, NULL);
    }
    return all;
}

int main(int argc, char **words) {
    if (argc == 2 && !strcmp(words[1], "calibrate")) {
        calibrate();
        return 0;
    }
    if (argc != 17) return 2;
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
    hot = atof(words[12]);
    hots = atol(words[13]);
    inner_ns = atof(words[14]);
    inner_count = atol(words[15]);
    inner_kind = *words[16];
    if (threads > MOST_THREADS || lines > MOST_LINES) return 2;
    locks = made(kind == 'o' ? threads : count, kind);
    /* Another call, so that these are made at another place. */
    if (inner_ns > 0) inner_locks = made(inner_kind == 'o' ? threads : inner_count, inner_kind);
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
