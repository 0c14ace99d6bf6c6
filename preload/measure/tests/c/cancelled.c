/* Threads that let themselves be cancelled at any instruction, while they wait for a lock, while they
   take and release one all the time, and while they take their first one. POSIX leaves the latter undefined; glibc ends the thread. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_mutex_t taken[100];
static volatile int is_ready;

static void *begin(void *number) {
    struct timespec late = {4000000000, 0};
    long i = (long)number;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    is_ready = 1;
    switch (i) {
    case 0: pthread_mutex_lock(&mutex); break;
    case 1: pthread_rwlock_rdlock(&rwlock); break;
    case 2: pthread_rwlock_wrlock(&rwlock); break;
    case 3: pthread_barrier_wait(&barrier); break;
    case 4: pthread_spin_lock(&spin); break;
    case 5: pthread_mutex_lock(&robust); break;
    case 6: pthread_mutex_timedlock(&mutex, &late); break;
    case 7: pthread_mutex_timedlock(&robust, &late); break;
    case 8: syscall(SYS_futex, &is_ready, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0); break;
    default:
        for (;;) {
            pthread_mutex_lock(&taken[i]);
            pthread_mutex_unlock(&taken[i]);
        }
    }
    return NULL;
}

/* Takes a lock that nobody has seen, and then waits for what never comes. */
static void *first(void *number) {
    static pthread_mutex_t fresh[2000];
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    is_ready = 1;
    pthread_mutex_lock(&fresh[(long)number]);
    for (;;)
        pause();
}

int main(void) {
    int cancelled = 0;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&robust);
    pthread_rwlock_wrlock(&rwlock);
    pthread_spin_lock(&spin);
    /* What hangs is a failure. */
    alarm(300);
    for (long i = 0; i < 100; i++) {
        pthread_t thread;
        void *result;
        is_ready = 0;
        if (pthread_create(&thread, NULL, begin, (void *)i) != 0)
            return 1;
        while (!is_ready)
            sched_yield();
        /* Into what it is about to do, a little further each time. */
        usleep(i < 9 ? 10000 : 500 + i);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    for (long i = 0; i < 2000; i++) {
        pthread_t thread;
        void *result;
        is_ready = 0;
        if (pthread_create(&thread, NULL, first, (void *)i) != 0)
            return 1;
        while (!is_ready)
            sched_yield();
        /* Soon, so that it is met at its first lock. */
        for (volatile long spent = 0; spent < i * 20; spent++)
            ;
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%d\n", cancelled);
    return 0;
}
