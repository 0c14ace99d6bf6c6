/* A child with threads of its own, which want what its first thread holds since before the fork. */
#include "check.h"
#include <sys/wait.h>

enum { ROUNDS = 12, PARENTS = 2, CHILDREN = 3, TURNS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile long value;
static volatile int inside;

static void enter_and_leave(void)
{
    GIVES(0, inside);
    inside = 1;
    value++;
    sched_yield();
    GIVES(1, inside);
    inside = 0;
}

static void *contend(void *argument)
{
    while (!stop) {
        GIVES(0, pthread_mutex_lock(&mutex));
        enter_and_leave();
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    return argument;
}

static void *take_turns(void *argument)
{
    for (int i = 0; i < TURNS; i++) {
        GIVES(0, pthread_mutex_lock(&mutex));
        enter_and_leave();
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    return argument;
}

static void *take_timed_turns(void *argument)
{
    for (int i = 0; i < TURNS; i++) {
        struct timespec deadline = from_now(CLOCK_REALTIME, 90000);
        GIVES(0, pthread_mutex_timedlock(&mutex, &deadline));
        enter_and_leave();
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    return argument;
}

static void be_a_child(int round)
{
    pthread_t threads[CHILDREN];
    long before = value;
    for (int i = 0; i < CHILDREN; i++)
        threads[i] = start(i == round % 4 ? take_timed_turns : take_turns, NULL);
    if (round % 2)
        usleep(20000); /* so that they wait, as a rule; whether they do, the rest is the same */
    GIVES(EBUSY, pthread_mutex_trylock(&mutex));
    GIVES(before, value); /* nobody got past this thread */
    enter_and_leave();
    GIVES(0, pthread_mutex_unlock(&mutex));
    take_turns(NULL);
    for (int i = 0; i < CHILDREN; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(before + 1 + (CHILDREN + 1) * TURNS, value);
    GIVES(0, pthread_mutex_destroy(&mutex));
    _exit(0);
}

int main(void)
{
    pthread_t threads[PARENTS];
    for (int i = 0; i < PARENTS; i++)
        threads[i] = start(contend, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        GIVES(0, pthread_mutex_lock(&mutex));
        for (int i = 0; i < 20; i++)
            sched_yield(); /* let waiters queue */
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            be_a_child(round);
        GIVES(0, pthread_mutex_unlock(&mutex));
        int status;
        GIVES(child, waitpid(child, &status, 0));
        GIVES(0, status);
    }
    stop = 1;
    for (int i = 0; i < PARENTS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    return finish();
}
