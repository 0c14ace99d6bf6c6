/* Programs of which it is known how long they compute where, and who takes what: `busy SCENARIO`.
   Some print what they know. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_mutex_t own[64];
static pthread_rwlock_t own_rwlock[64];

static long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* Uses so much processor time. */
static void compute(long ns) {
    long begin = now(CLOCK_THREAD_CPUTIME_ID);
    while (now(CLOCK_THREAD_CPUTIME_ID) - begin < ns) {}
}

static void in_threads(int count, void *(*routine)(void *)) {
    pthread_t threads[64];
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, routine, (void *)i) != 0)
            abort();
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* 48 threads, alive together, with a mutex and a read-write lock each. */
static void *take_own(void *number) {
    long i = (long)number;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&barrier);
    for (int turn = 0; turn < 1000; turn++) {
        pthread_mutex_lock(&own[i]);
        pthread_mutex_unlock(&own[i]);
        pthread_rwlock_rdlock(&own_rwlock[i]);
        pthread_rwlock_unlock(&own_rwlock[i]);
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void own_48(void) {
    pthread_barrier_init(&barrier, NULL, 48);
    for (int i = 0; i < 48; i++) {
        pthread_mutex_init(&own[i], NULL);
        pthread_rwlock_init(&own_rwlock[i], NULL);
    }
    in_threads(48, take_own);
}

/* Holds of a fifth of a millisecond of computing and two of sleep. */
static void sleepers(void) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        compute(100000);
        usleep(2000);
        compute(100000);
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&rwlock);
        usleep(1000);
        pthread_rwlock_unlock(&rwlock);
    }
}

/* Many more threads than cores, each in a lock of its own nearly all of the time. A thread that
   begins sleeps in page faults while others are made, so all wait until all have begun. */
static void *hold_own(void *number) {
    for (int turn = 0; turn < 10; turn++) {
        pthread_mutex_lock(&own[(long)number]);
        compute(1000);
        pthread_mutex_unlock(&own[(long)number]);
    }
    pthread_barrier_wait(&barrier);
    for (int turn = 0; turn < 100; turn++) {
        pthread_mutex_lock(&own[(long)number]);
        compute(300000);
        pthread_mutex_unlock(&own[(long)number]);
    }
    return NULL;
}

static void crowded(void) {
    pthread_barrier_init(&barrier, NULL, 16);
    in_threads(16, hold_own);
}

/* Four threads spin for one lock. With fewer cores, who has it often loses its core. */
static void *spin_for_it(void *unused) {
    (void)unused;
    for (int i = 0; i < 10000; i++) {
        pthread_spin_lock(&spin);
        for (volatile int work = 0; work < 2000; work++) {}
        pthread_spin_unlock(&spin);
    }
    return NULL;
}

static void spinners(void) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    in_threads(4, spin_for_it);
    pthread_spin_destroy(&spin);
}

/* Most holds and thoughts are short; what takes the time are a few. */
static void rare(void) {
    long held = 0, thought = 0;
    for (int i = 0; i < 200000; i++) {
        pthread_mutex_lock(&mutex);
        if (i % 100 == 50) {
            compute(100000);
            held += 100000;
        }
        pthread_mutex_unlock(&mutex);
        if (i % 100 == 0) {
            compute(200000);
            thought += 200000;
        }
    }
    printf("%ld %ld\n", held, thought);
}

/* Most holds are short; one in a thousand sleeps for a millisecond. */
static void naps(void) {
    for (int i = 0; i < 300000; i++) {
        pthread_mutex_lock(&mutex);
        if (i % 1000 == 500)
            usleep(1000);
        pthread_mutex_unlock(&mutex);
    }
}

/* Takes one lock in three places; it is waited for in one of them. */
__attribute__((noinline)) static void often(void) {
    for (int i = 0; i < 90; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        compute(1000);
    }
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void seldom(void) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        compute(1000);
    }
    __asm__ volatile("" ::: "memory");
}

static volatile int is_held;

__attribute__((noinline)) static void in_vain(void) {
    while (!is_held)
        usleep(100);
    pthread_mutex_lock(&mutex);
    is_held = 0;
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("" ::: "memory");
}

static void *wait_20(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++)
        in_vain();
    return NULL;
}

static void places(void) {
    pthread_t waiter;
    for (int i = 0; i < 300; i++) {
        often();
        seldom();
    }
    pthread_create(&waiter, NULL, wait_20, NULL);
    for (int i = 0; i < 20; i++) {
        while (is_held)
            usleep(100);
        pthread_mutex_lock(&mutex);
        is_held = 1;
        usleep(5000);
        pthread_mutex_unlock(&mutex);
        while (is_held)
            usleep(100);
    }
    pthread_join(waiter, NULL);
}

/* 200 rounds of four; the barrier lies where others lay before. */
static void *meet(void *number) {
    for (int round = 0; round < 200; round++) {
        if ((long)number == 0)
            usleep(500);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void barriers(void) {
    for (int i = 0; i < 3; i++) {
        pthread_barrier_init(&barrier, NULL, 1);
        pthread_barrier_wait(&barrier);
        if (i < 2)
            pthread_barrier_destroy(&barrier);
    }
    pthread_barrier_init(&barrier, NULL, 4);
    in_threads(4, meet);
    pthread_barrier_destroy(&barrier);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"own_48", own_48},     {"sleepers", sleepers}, {"crowded", crowded}, {"rare", rare},
        {"spinners", spinners}, {"naps", naps},         {"places", places},   {"barriers", barriers},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            return 0;
        }
    return 2;
}
