/* Destroying a mutex with which a thread waits for a condition. */
#include "check.h"

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, go;

static void *wait_for_it(void *argument)
{
    GIVES(0, pthread_mutex_lock(&mutex));
    waiting = 1;
    while (!go) {
        struct timespec soon = from_now(CLOCK_REALTIME, 1);
        int result = argument ? pthread_cond_timedwait(&cond, &mutex, &soon)
                              : pthread_cond_wait(&cond, &mutex);
        CHECK(result == 0 || (argument && result == ETIMEDOUT));
    }
    GIVES(0, pthread_mutex_unlock(&mutex));
    return NULL;
}

static void refuses(int type, int cancelled)
{
    pthread_mutexattr_t attributes;
    GIVES(0, pthread_mutexattr_init(&attributes));
    GIVES(0, pthread_mutexattr_settype(&attributes, type));
    GIVES(0, pthread_mutex_init(&mutex, &attributes));
    waiting = go = 0;
    pthread_t thread = start(wait_for_it, NULL);
    for (int ready = 0; !ready; sched_yield()) {
        GIVES(0, pthread_mutex_lock(&mutex));
        ready = waiting;
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    GIVES(EBUSY, pthread_mutex_destroy(&mutex));
    GIVES(0, pthread_mutex_lock(&mutex));
    GIVES(EBUSY, pthread_mutex_destroy(&mutex));
    go = !cancelled;
    GIVES(0, pthread_cond_signal(&cond));
    GIVES(0, pthread_mutex_unlock(&mutex));
    if (cancelled)
        GIVES(0, pthread_cancel(thread));
    GIVES(0, pthread_join(thread, NULL));
    if (cancelled) /* it went away with the mutex */
        GIVES(type == PTHREAD_MUTEX_NORMAL ? 0 : EPERM, pthread_mutex_unlock(&mutex));
    else
        GIVES(0, pthread_mutex_destroy(&mutex));
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        refuses(PTHREAD_MUTEX_RECURSIVE, 0);
        refuses(PTHREAD_MUTEX_ERRORCHECK, 0);
        refuses(PTHREAD_MUTEX_NORMAL, 0);
    }
    refuses(PTHREAD_MUTEX_RECURSIVE, 1);
    refuses(PTHREAD_MUTEX_ERRORCHECK, 1);
    refuses(PTHREAD_MUTEX_NORMAL, 1);
    return finish();
}
