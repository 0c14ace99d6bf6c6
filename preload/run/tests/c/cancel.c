/* Cancelling threads that wait for a condition variable. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, woken, cleaned, passes;

static void clean(void *argument)
{
    (void)argument;
    GIVES(EBUSY, pthread_mutex_trylock(&mutex)); /* this thread holds it */
    cleaned++;
    waiting--;
    GIVES(0, pthread_mutex_unlock(&mutex));
}

static void *wait_for_pass(void *deadline)
{
    GIVES(0, pthread_mutex_lock(&mutex));
    waiting++;
    pthread_cleanup_push(clean, NULL);
    while (passes == 0) {
        if (deadline)
            GIVES(0, pthread_cond_timedwait(&cond, &mutex, deadline));
        else
            GIVES(0, pthread_cond_wait(&cond, &mutex));
    }
    passes--;
    woken++;
    waiting--;
    pthread_cleanup_pop(0);
    GIVES(0, pthread_mutex_unlock(&mutex));
    return NULL;
}

static void until_waiting(int count)
{
    for (int now = -1; now != count; sched_yield()) {
        GIVES(0, pthread_mutex_lock(&mutex));
        now = waiting;
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
}

static void runs_handlers_with_the_mutex(void *deadline)
{
    cleaned = 0;
    pthread_t thread = start(wait_for_pass, deadline);
    until_waiting(1);
    GIVES(0, pthread_cancel(thread));
    void *result;
    GIVES(0, pthread_join(thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    GIVES(1, cleaned);
    GIVES(0, pthread_mutex_trylock(&mutex));
    GIVES(0, pthread_mutex_unlock(&mutex));
}

/* Two wait. One is cancelled while one signal is sent. If the cancelled one had the signal and
   took it with it, the other would sleep for ever. */
static void does_not_swallow_a_signal(void)
{
    for (int i = 0; i < 1500; i++) {
        woken = cleaned = 0;
        pthread_t first = start(wait_for_pass, NULL), second = start(wait_for_pass, NULL);
        until_waiting(2);
        if (i % 2) {
            GIVES(0, pthread_mutex_lock(&mutex));
            passes = 1;
            GIVES(0, pthread_mutex_unlock(&mutex));
            GIVES(0, pthread_cond_signal(&cond));
            GIVES(0, pthread_cancel(first));
        } else {
            GIVES(0, pthread_cancel(first));
            GIVES(0, pthread_mutex_lock(&mutex));
            passes = 1;
            GIVES(0, pthread_mutex_unlock(&mutex));
            GIVES(0, pthread_cond_signal(&cond));
        }
        void *result;
        GIVES(0, pthread_join(first, &result));
        /* Whether it passed before it was cancelled. Its result would not tell: a request that is
           on its way when the thread has returned already changes that in glibc (bug 12683). */
        if (cleaned == 0) {
            GIVES(0, pthread_mutex_lock(&mutex));
            passes += woken == 1; /* or the second overtook it: then there is none missing */
            GIVES(0, pthread_mutex_unlock(&mutex));
            GIVES(0, pthread_cond_signal(&cond));
        }
        CHECK(cleaned == 0 || result == PTHREAD_CANCELED);
        GIVES(0, pthread_join(second, NULL));
        passes = 0;
        GIVES(0, waiting);
    }
    GIVES(0, pthread_cond_destroy(&cond));
    GIVES(0, pthread_cond_init(&cond, NULL));
}

static void *wait_uncancelled(void *argument)
{
    int before;
    GIVES(0, pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
    wait_for_pass(NULL);
    int type;
    GIVES(0, pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type));
    GIVES(PTHREAD_CANCEL_DEFERRED, type); /* as it was before the wait */
    return argument;
}

static void heeds_disabled_cancellation(void)
{
    woken = cleaned = passes = 0;
    pthread_t thread = start(wait_uncancelled, &mutex);
    until_waiting(1);
    GIVES(0, pthread_cancel(thread));
    GIVES(0, pthread_mutex_lock(&mutex));
    passes = 1;
    GIVES(0, pthread_mutex_unlock(&mutex));
    GIVES(0, pthread_cond_broadcast(&cond));
    void *result;
    GIVES(0, pthread_join(thread, &result));
    CHECK(result == &mutex);
    GIVES(0, cleaned);
}

/* A request that came before the wait is acted upon in it. */
static void *cancel_self_and_wait(void *argument)
{
    (void)argument;
    GIVES(0, pthread_cancel(pthread_self()));
    return wait_for_pass(NULL);
}

int main(void)
{
    runs_handlers_with_the_mutex(NULL);
    struct timespec deadline = from_now(CLOCK_REALTIME, 600000);
    runs_handlers_with_the_mutex(&deadline);
    does_not_swallow_a_signal();
    heeds_disabled_cancellation();
    cleaned = 0;
    void *result;
    GIVES(0, pthread_join(start(cancel_self_and_wait, NULL), &result));
    CHECK(result == PTHREAD_CANCELED);
    GIVES(1, cleaned);
    return finish();
}
