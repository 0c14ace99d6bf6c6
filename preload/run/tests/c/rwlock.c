/* Read-write locks exclude whom they must, through every function, and nobody else. */
#include "check.h"
#include <stdatomic.h>
#include <stdint.h>

enum { LOCKS = 4, THREADS = 4 };

static pthread_rwlock_t locks[LOCKS] = {
    PTHREAD_RWLOCK_INITIALIZER,
    PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
    /* The third is initialized by `main`, and the fourth is all zeros. */
};
static atomic_int readers[LOCKS], writers[LOCKS];
static atomic_long reads, writes;
static volatile long first[LOCKS], second[LOCKS];
static struct timespec end;

static int lock_for_reading(pthread_rwlock_t *lock, unsigned how)
{
    struct timespec far;
    switch (how % 5) {
    case 0:
        return pthread_rwlock_tryrdlock(lock);
    case 1:
        far = from_now(CLOCK_REALTIME, 90000);
        return pthread_rwlock_timedrdlock(lock, &far);
    case 2:
        far = from_now(CLOCK_MONOTONIC, 90000);
        return pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &far);
    default:
        return pthread_rwlock_rdlock(lock);
    }
}

static int lock_for_writing(pthread_rwlock_t *lock, unsigned how)
{
    struct timespec far;
    switch (how % 5) {
    case 0:
        return pthread_rwlock_trywrlock(lock);
    case 1:
        far = from_now(CLOCK_REALTIME, 90000);
        return pthread_rwlock_timedwrlock(lock, &far);
    case 2:
        far = from_now(CLOCK_MONOTONIC, 90000);
        return pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &far);
    default:
        return pthread_rwlock_wrlock(lock);
    }
}

static void read_one(int i, unsigned how)
{
    int result = lock_for_reading(&locks[i], how);
    if (result == EBUSY)
        return;
    GIVES(0, result);
    readers[i]++;
    GIVES(0, writers[i]);
    GIVES(first[i], second[i]);
    if (how % 16 == 3)
        sched_yield();
    GIVES(first[i], second[i]);
    GIVES(0, writers[i]);
    readers[i]--;
    reads++;
    GIVES(0, pthread_rwlock_unlock(&locks[i]));
}

static void write_one(int i, unsigned how)
{
    int result = lock_for_writing(&locks[i], how);
    if (result == EBUSY)
        return;
    GIVES(0, result);
    GIVES(0, writers[i]++);
    GIVES(0, readers[i]);
    first[i]++;
    if (how % 8 == 3)
        sched_yield();
    second[i]++;
    GIVES(0, readers[i]);
    GIVES(1, writers[i]--);
    writes++;
    GIVES(0, pthread_rwlock_unlock(&locks[i]));
}

static void *contend(void *argument)
{
    unsigned random = (unsigned)(uintptr_t)argument * 2654435761u + 1;
    errno = 77;
    while (!over(end)) {
        random = random * 1664525u + 1013904223u;
        unsigned how = random >> 10;
        int i = (int)(how % 7 % LOCKS);
        /* A thread without a lock sleeps now and then, so that no side is always there. */
        if (random >> 28 == 0)
            usleep(50);
        if (how % 4 == 0)
            write_one(i, how / 28);
        else
            read_one(i, how / 28);
    }
    GIVES(77, errno);
    return NULL;
}

static pthread_barrier_t barrier;

static void *read_together(void *lock)
{
    GIVES(0, pthread_rwlock_rdlock(lock));
    pthread_barrier_wait(&barrier); /* all are inside */
    GIVES(EBUSY, pthread_rwlock_trywrlock(lock));
    pthread_barrier_wait(&barrier); /* none has left */
    GIVES(0, pthread_rwlock_unlock(lock));
    return NULL;
}

static void readers_share(pthread_rwlock_t *lock)
{
    pthread_t threads[THREADS];
    GIVES(0, pthread_barrier_init(&barrier, NULL, THREADS));
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(read_together, lock);
    for (int i = 0; i < THREADS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(0, pthread_barrier_destroy(&barrier));
    GIVES(0, pthread_rwlock_trywrlock(lock));
    GIVES(0, pthread_rwlock_unlock(lock));
}

int main(void)
{
    pthread_rwlockattr_t attr;
    GIVES(0, pthread_rwlockattr_init(&attr));
    GIVES(0, pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    memset(&locks[2], 0x5A, sizeof locks[2]);
    GIVES(0, pthread_rwlock_init(&locks[2], &attr));
    end = until(500);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        threads[i] = start(contend, (void *)i);
    for (int i = 0; i < THREADS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    CHECK(reads > 100 && writes > 100);
    long sum = 0;
    for (int i = 0; i < LOCKS; i++) {
        sum += first[i];
        readers_share(&locks[i]);
        GIVES(0, pthread_rwlock_destroy(&locks[i]));
    }
    GIVES(writes, sum);
    return finish();
}
