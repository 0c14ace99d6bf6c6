/* A timed lock beside two threads that take the mutex again and again. */
#include "check.h"

enum { TIMES = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static long value;

static void *contend(void *argument)
{
    while (!stop) {
        GIVES(0, pthread_mutex_lock(&mutex));
        for (int i = 0; i < 50; i++)
            ++*(volatile long *)&value;
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    return argument;
}

int main(void)
{
    pthread_t first = start(contend, NULL), second = start(contend, NULL);
    for (int i = 0; i < TIMES; i++) {
        struct timespec deadline = from_now(CLOCK_REALTIME, 20000);
        GIVES(0, pthread_mutex_timedlock(&mutex, &deadline));
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    stop = 1;
    GIVES(0, pthread_join(first, NULL));
    GIVES(0, pthread_join(second, NULL));
    return finish();
}
