/* A thread that reads may wait for another one to read, although a writer waits. glibc's default kind
   allows it. */
#include "check.h"

enum { ROUNDS = 5 };

static pthread_rwlock_t fixed = PTHREAD_RWLOCK_INITIALIZER;
static volatile int writer;

static void *write_once(void *argument)
{
    writer = gettid();
    GIVES(0, pthread_rwlock_wrlock(argument));
    GIVES(0, pthread_rwlock_unlock(argument));
    return NULL;
}

static void *read_once(void *argument)
{
    GIVES(0, pthread_rwlock_rdlock(argument));
    GIVES(0, pthread_rwlock_unlock(argument));
    return NULL;
}

static void read_beside_a_waiting_writer(pthread_rwlock_t *lock)
{
    GIVES(0, pthread_rwlock_rdlock(lock));
    writer = 0;
    pthread_t waits = start(write_once, lock);
    while (!writer || !sleeps(writer))
        sched_yield();
    GIVES(0, pthread_join(start(read_once, lock), NULL)); /* waits for ever if it may not enter */
    GIVES(0, pthread_rwlock_tryrdlock(lock));
    GIVES(0, pthread_rwlock_unlock(lock));
    GIVES(EBUSY, pthread_rwlock_trywrlock(lock));
    GIVES(0, pthread_rwlock_unlock(lock));
    GIVES(0, pthread_join(waits, NULL));
}

int main(void)
{
    pthread_rwlock_t made;
    for (int i = 0; i < ROUNDS; i++) {
        read_beside_a_waiting_writer(&fixed);
        GIVES(0, pthread_rwlock_init(&made, NULL));
        read_beside_a_waiting_writer(&made);
        GIVES(0, pthread_rwlock_destroy(&made));
    }
    return finish();
}
