/* Asynchronous cancellation of threads that wait for a mutex. POSIX leaves it undefined; under
   glibc the thread goes away and the mutex works on. */
#include "check.h"

enum { ROUNDS = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int waiting;
static volatile long cleaned;

static void clean(void *argument)
{
    (void)argument;
    cleaned++;
}

static void be_cancellable(void)
{
    GIVES(0, pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
    GIVES(0, pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
}

static void *wait_for_ever(void *argument)
{
    pthread_cleanup_push(clean, NULL);
    be_cancellable();
    waiting = 1;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_pop(0);
    return argument;
}

static void *wait_with_a_deadline(void *argument)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, 90000);
    pthread_cleanup_push(clean, NULL);
    be_cancellable();
    waiting = 1;
    pthread_mutex_timedlock(&mutex, &deadline);
    pthread_cleanup_pop(0);
    return argument;
}

/* A thread that waits for what it holds itself never gets it. */
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

static void *lock_twice(void *argument)
{
    GIVES(0, pthread_mutex_lock(&own));
    pthread_cleanup_push(clean, NULL);
    be_cancellable();
    waiting = 1;
    pthread_mutex_lock(&own);
    pthread_cleanup_pop(0);
    return argument;
}

static void cancel_one(void *(*run)(void *), int pause)
{
    waiting = 0;
    cleaned = 0;
    pthread_t thread = start(run, &mutex);
    while (!waiting)
        sched_yield();
    if (pause)
        usleep(pause);
    GIVES(0, pthread_cancel(thread));
    void *result;
    GIVES(0, pthread_join(thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    GIVES(1, cleaned);
}

/* Whether a thread that is not cancelled keeps its type of cancellation. */
static void *lock_and_unlock(void *argument)
{
    be_cancellable();
    waiting = 1;
    GIVES(0, pthread_mutex_lock(&mutex));
    GIVES(0, pthread_mutex_unlock(&mutex));
    int type;
    GIVES(0, pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type));
    GIVES(PTHREAD_CANCEL_ASYNCHRONOUS, type);
    return argument;
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        GIVES(0, pthread_mutex_lock(&mutex));
        cancel_one(i % 4 ? wait_for_ever : wait_with_a_deadline, i % 3 * 1000);
        GIVES(0, pthread_mutex_unlock(&mutex));
        GIVES(0, pthread_mutex_trylock(&mutex));
        waiting = 0;
        pthread_t other = start(lock_and_unlock, &mutex);
        while (!waiting)
            sched_yield();
        GIVES(0, pthread_mutex_unlock(&mutex));
        void *result;
        GIVES(0, pthread_join(other, &result));
        CHECK(result == &mutex);
    }
    for (int i = 0; i < 4; i++) {
        GIVES(0, pthread_mutex_init(&own, NULL));
        cancel_one(lock_twice, i * 1000);
    }
    return finish();
}
