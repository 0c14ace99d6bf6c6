/* Forking while other threads contend for the mutexes that the forking thread holds. */
#include "check.h"
#include <sys/wait.h>

enum { MUTEXES = 3, THREADS = 3, FORKS = 25 };

static pthread_mutex_t mutexes[MUTEXES] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t by_hand = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting;
static volatile int stop;
static volatile long values[MUTEXES];

static void *contend(void *argument)
{
    unsigned turn = (unsigned)(long)argument;
    while (!stop) {
        int i = (int)(turn++ % (MUTEXES + 1));
        pthread_mutex_t *mutex = i == MUTEXES ? &by_hand : &mutexes[i];
        GIVES(0, pthread_mutex_lock(mutex));
        if (i < MUTEXES)
            values[i]++;
        GIVES(0, pthread_mutex_unlock(mutex));
        if (turn % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void *wait_long(void *argument)
{
    (void)argument;
    GIVES(0, pthread_mutex_lock(&mutexes[0]));
    waiting++;
    while (!stop)
        GIVES(0, pthread_cond_wait(&cond, &mutexes[0]));
    GIVES(0, pthread_mutex_unlock(&mutexes[0]));
    return NULL;
}

/* What libraries do to keep their mutexes usable in a child. */
static void prepare(void)
{
    for (int i = 0; i < MUTEXES; i++)
        GIVES(0, pthread_mutex_lock(&mutexes[i]));
}

static void release(void)
{
    for (int i = MUTEXES; i-- > 0;)
        GIVES(0, pthread_mutex_unlock(&mutexes[i]));
}

static int child_turn, child_waits;

static void *answer(void *argument)
{
    (void)argument;
    GIVES(0, pthread_mutex_lock(&mutexes[0]));
    child_waits = 1;
    while (child_turn == 0)
        GIVES(0, pthread_cond_wait(&cond, &mutexes[0]));
    child_turn = 2;
    GIVES(0, pthread_cond_broadcast(&cond));
    GIVES(0, pthread_mutex_unlock(&mutexes[0]));
    return NULL;
}

/* A condition variable on which threads of the parent waited works too. Under glibc it does not:
   there the first signals go to waiters that do not exist, and destroying it never ends. */
static void wait_in_a_child(void)
{
    pthread_t thread = start(answer, NULL);
    GIVES(0, pthread_mutex_lock(&mutexes[0]));
    while (!child_waits) {
        GIVES(0, pthread_mutex_unlock(&mutexes[0]));
        sched_yield();
        GIVES(0, pthread_mutex_lock(&mutexes[0]));
    }
    child_turn = 1;
    GIVES(0, pthread_cond_signal(&cond)); /* only `answer` is there to get it */
    while (child_turn != 2)
        GIVES(0, pthread_cond_wait(&cond, &mutexes[0]));
    GIVES(0, pthread_mutex_unlock(&mutexes[0]));
    GIVES(0, pthread_join(thread, NULL));
    GIVES(0, pthread_cond_destroy(&cond));
}

/* All mutexes work in the child, whose only thread this is. */
static void be_a_child(void)
{
    GIVES(0, pthread_mutex_unlock(&by_hand));
    for (int i = 0; i < MUTEXES; i++) {
        GIVES(0, pthread_mutex_trylock(&mutexes[i]));
        GIVES(EBUSY, pthread_mutex_trylock(&mutexes[i]));
        GIVES(0, pthread_mutex_unlock(&mutexes[i]));
    }
    GIVES(0, pthread_mutex_lock(&by_hand));
    GIVES(0, pthread_mutex_unlock(&by_hand));
    if (getenv("KILOCORE_LOCK"))
        wait_in_a_child();
    /* And in a grandchild. */
    GIVES(0, pthread_mutex_lock(&by_hand));
    pid_t child = fork();
    GIVES(0, pthread_mutex_unlock(&by_hand));
    if (child == 0) {
        GIVES(0, pthread_mutex_lock(&by_hand));
        _exit(0);
    }
    int status;
    GIVES(child, waitpid(child, &status, 0));
    _exit(status != 0);
}

int main(void)
{
    GIVES(0, pthread_atfork(prepare, release, release));
    pthread_t threads[THREADS + 1];
    for (long i = 0; i < THREADS; i++)
        threads[i] = start(contend, (void *)i);
    threads[THREADS] = start(wait_long, NULL);
    for (int ready = 0; !ready; sched_yield()) {
        GIVES(0, pthread_mutex_lock(&mutexes[0]));
        ready = waiting;
        GIVES(0, pthread_mutex_unlock(&mutexes[0]));
    }
    for (int i = 0; i < FORKS; i++) {
        GIVES(0, pthread_mutex_lock(&by_hand));
        for (int j = 0; j < 20; j++)
            sched_yield(); /* let waiters queue */
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            be_a_child();
        GIVES(0, pthread_mutex_unlock(&by_hand));
        int status;
        GIVES(child, waitpid(child, &status, 0));
        GIVES(0, status);
    }
    GIVES(0, pthread_mutex_lock(&mutexes[0]));
    stop = 1;
    GIVES(0, pthread_cond_broadcast(&cond));
    GIVES(0, pthread_mutex_unlock(&mutexes[0]));
    for (int i = 0; i <= THREADS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    return finish();
}
