/* A condition variable may be destroyed, and its memory reused, once nobody is blocked on it,
   though those who were have not run yet. While somebody is, its destruction waits. */
#include "check.h"

enum { WAITERS = 4, ROUNDS = 300 };

struct object {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int ready, waiting, untimed, woken;
    struct timespec deadline;
};

static struct object *object;

static void *wait_for_it(void *argument)
{
    struct object *mine = object;
    long number = (long)argument;
    GIVES(0, pthread_mutex_lock(&mine->mutex));
    mine->waiting++;
    while (!mine->ready) {
        if (number < mine->untimed)
            GIVES(0, pthread_cond_wait(&mine->cond, &mine->mutex));
        else {
            /* Times out at about the time at which it is woken and the variable destroyed. */
            int result = pthread_cond_timedwait(&mine->cond, &mine->mutex, &mine->deadline);
            CHECK(result == 0 || result == ETIMEDOUT);
            if (result == ETIMEDOUT)
                break;
        }
    }
    mine->woken++;
    GIVES(0, pthread_mutex_unlock(&mine->mutex));
    return NULL;
}

static void round_of(int untimed, int shift)
{
    object = malloc(sizeof *object);
    memset(object, 0x5A, sizeof *object);
    GIVES(0, pthread_mutex_init(&object->mutex, NULL));
    GIVES(0, pthread_cond_init(&object->cond, NULL));
    object->ready = object->waiting = object->woken = 0;
    object->untimed = untimed;
    object->deadline = from_now(CLOCK_REALTIME, 1);
    pthread_t threads[WAITERS];
    for (long i = 0; i < WAITERS; i++)
        threads[i] = start(wait_for_it, (void *)i);
    for (int all = 0; !all; sched_yield()) {
        GIVES(0, pthread_mutex_lock(&object->mutex));
        all = object->waiting == WAITERS;
        GIVES(0, pthread_mutex_unlock(&object->mutex));
    }
    while (untimed < WAITERS && !passed(CLOCK_REALTIME, object->deadline))
        ;
    for (volatile int i = 0; i < shift; i++)
        ;
    GIVES(0, pthread_mutex_lock(&object->mutex));
    object->ready = 1;
    GIVES(0, pthread_cond_broadcast(&object->cond));
    GIVES(0, pthread_cond_destroy(&object->cond));
    memset(&object->cond, 0xA5, sizeof object->cond);
    GIVES(0, pthread_mutex_unlock(&object->mutex));
    for (int i = 0; i < WAITERS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    for (size_t i = 0; i < sizeof object->cond; i++)
        GIVES(0xA5, ((unsigned char *)&object->cond)[i]); /* nobody wrote there since */
    GIVES(WAITERS, object->woken);
    GIVES(0, pthread_mutex_destroy(&object->mutex));
    free(object);
}

/* A waiter that has been signalled frees the variable on its stack, as a future does. */
struct future {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int done;
};

static void *complete(void *argument)
{
    struct future *future = argument;
    GIVES(0, pthread_mutex_lock(&future->mutex));
    future->done = 1;
    GIVES(0, pthread_cond_signal(&future->cond));
    GIVES(0, pthread_mutex_unlock(&future->mutex));
    return NULL;
}

static void await_one(void)
{
    struct future future;
    GIVES(0, pthread_mutex_init(&future.mutex, NULL));
    GIVES(0, pthread_cond_init(&future.cond, NULL));
    future.done = 0;
    pthread_t thread = start(complete, &future);
    GIVES(0, pthread_mutex_lock(&future.mutex));
    while (!future.done)
        GIVES(0, pthread_cond_wait(&future.cond, &future.mutex));
    GIVES(0, pthread_mutex_unlock(&future.mutex));
    GIVES(0, pthread_cond_destroy(&future.cond));
    GIVES(0, pthread_mutex_destroy(&future.mutex));
    memset(&future, 0xA5, sizeof future);
    GIVES(0, pthread_join(thread, NULL));
}

/* Sleepers whom nobody has woken yet when the variable's destruction begins. */
struct doomed {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int waiting, all_at_once;
};

static void *wait_once(void *argument)
{
    struct doomed *doomed = argument;
    GIVES(0, pthread_mutex_lock(&doomed->mutex));
    doomed->waiting++;
    GIVES(0, pthread_cond_wait(&doomed->cond, &doomed->mutex));
    GIVES(0, pthread_mutex_unlock(&doomed->mutex));
    return NULL;
}

static void *wake_when_main_sleeps(void *argument)
{
    struct doomed *doomed = argument;
    while (!sleeps(getpid()))
        sched_yield();
    if (doomed->all_at_once)
        GIVES(0, pthread_cond_broadcast(&doomed->cond));
    else
        for (int i = 0; i < doomed->waiting; i++)
            GIVES(0, pthread_cond_signal(&doomed->cond));
    return NULL;
}

static void destroy_before_they_are_woken(int waiters, int all_at_once)
{
    struct doomed doomed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0,
                            all_at_once};
    pthread_t threads[WAITERS];
    for (int i = 0; i < waiters; i++)
        threads[i] = start(wait_once, &doomed);
    for (int all = 0; !all; sched_yield()) {
        GIVES(0, pthread_mutex_lock(&doomed.mutex));
        all = doomed.waiting == waiters;
        GIVES(0, pthread_mutex_unlock(&doomed.mutex));
    }
    pthread_t waker = start(wake_when_main_sleeps, &doomed);
    GIVES(0, pthread_cond_destroy(&doomed.cond));
    GIVES(0, pthread_join(waker, NULL));
    for (int i = 0; i < waiters; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(0, pthread_mutex_destroy(&doomed.mutex));
}

int main(void)
{
    for (int waiters = 1; waiters <= WAITERS; waiters++)
        for (int all_at_once = 0; all_at_once < 2; all_at_once++)
            destroy_before_they_are_woken(waiters, all_at_once);
    be_punctual();
    for (int i = 0; i < ROUNDS; i++)
        round_of(i % 3 * (WAITERS / 2), i * 1319 % 60000);
    for (int i = 0; i < ROUNDS; i++)
        await_one();
    return finish();
}
