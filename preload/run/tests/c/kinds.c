/* Mutexes that do more than exclude keep their meaning, condition variables included. */
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *try_it(void *mutex)
{
    return (void *)(long)pthread_mutex_trylock(mutex);
}

static void *unlock_it(void *mutex)
{
    return (void *)(long)pthread_mutex_unlock(mutex);
}

static void *lock_it(void *mutex)
{
    return (void *)(long)pthread_mutex_lock(mutex);
}

static long in_thread(void *(*run)(void *), void *argument)
{
    void *result;
    GIVES(0, pthread_join(start(run, argument), &result));
    return (long)result;
}

static void nests(pthread_mutex_t *mutex)
{
    GIVES(0, pthread_mutex_lock(mutex));
    GIVES(0, pthread_mutex_lock(mutex));
    GIVES(0, pthread_mutex_trylock(mutex));
    GIVES(EBUSY, in_thread(try_it, mutex));
    GIVES(EPERM, in_thread(unlock_it, mutex));
    for (int i = 0; i < 3; i++)
        GIVES(0, pthread_mutex_unlock(mutex));
    GIVES(EPERM, pthread_mutex_unlock(mutex));
}

static void checks(pthread_mutex_t *mutex)
{
    GIVES(0, pthread_mutex_lock(mutex));
    GIVES(EDEADLK, pthread_mutex_lock(mutex));
    GIVES(EPERM, in_thread(unlock_it, mutex));
    GIVES(0, pthread_mutex_unlock(mutex));
    GIVES(EPERM, pthread_mutex_unlock(mutex));

    /* A condition variable says so too, and is not left with a waiter on it. */
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    GIVES(EPERM, pthread_cond_wait(&cond, mutex));
    GIVES(0, pthread_cond_destroy(&cond));
}

struct meeting {
    pthread_mutex_t *mutex;
    pthread_cond_t cond;
    int turn;
};

static void *answer(void *argument)
{
    struct meeting *meeting = argument;
    GIVES(0, pthread_mutex_lock(meeting->mutex));
    for (int i = 0; i < 500; i++) {
        while (meeting->turn != 1)
            GIVES(0, pthread_cond_wait(&meeting->cond, meeting->mutex));
        meeting->turn = 0;
        GIVES(0, pthread_cond_signal(&meeting->cond));
    }
    GIVES(0, pthread_mutex_unlock(meeting->mutex));
    return NULL;
}

/* Two threads take turns by way of a condition variable. */
static void waits(pthread_mutex_t *mutex, const pthread_condattr_t *attr)
{
    struct meeting meeting = {.mutex = mutex};
    GIVES(0, pthread_cond_init(&meeting.cond, attr));
    pthread_t other = start(answer, &meeting);
    GIVES(0, pthread_mutex_lock(mutex));
    for (int i = 0; i < 500; i++) {
        while (meeting.turn != 0)
            GIVES(0, pthread_cond_wait(&meeting.cond, mutex));
        meeting.turn = 1;
        GIVES(0, pthread_cond_signal(&meeting.cond));
    }
    while (meeting.turn != 0)
        GIVES(0, pthread_cond_wait(&meeting.cond, mutex));
    struct timespec soon = from_now(CLOCK_REALTIME, 5);
    int result;
    while ((result = pthread_cond_timedwait(&meeting.cond, mutex, &soon)) == 0)
        ;
    GIVES(ETIMEDOUT, result);
    CHECK(passed(CLOCK_REALTIME, soon));
    GIVES(0, pthread_mutex_unlock(mutex));
    GIVES(0, pthread_join(other, NULL));
    GIVES(0, pthread_cond_destroy(&meeting.cond));
}

static pthread_cond_t robust_cond = PTHREAD_COND_INITIALIZER;

static void *take_and_die(void *mutex)
{
    GIVES(0, pthread_mutex_lock(mutex));
    GIVES(0, pthread_cond_signal(&robust_cond));
    return NULL; /* holding it */
}

static void survives_its_owner(void)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t robust;
    GIVES(0, pthread_mutexattr_init(&attr));
    GIVES(0, pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    GIVES(0, pthread_mutex_init(&robust, &attr));
    GIVES(0, in_thread(lock_it, &robust));
    GIVES(EOWNERDEAD, pthread_mutex_lock(&robust));
    GIVES(0, pthread_mutex_consistent(&robust));

    /* Its owner dies while this thread waits on a condition variable. */
    pthread_t other = start(take_and_die, &robust);
    GIVES(EOWNERDEAD, pthread_cond_wait(&robust_cond, &robust));
    GIVES(0, pthread_mutex_consistent(&robust));
    GIVES(0, pthread_mutex_unlock(&robust));
    GIVES(0, pthread_join(other, NULL));
    GIVES(0, pthread_mutex_lock(&robust));
    GIVES(0, pthread_mutex_unlock(&robust));
    GIVES(0, pthread_mutex_destroy(&robust));
}

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    long counter;
    int turn;
};

/* Parent and child count together and take turns in shared memory. */
static void crosses_processes(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pthread_mutexattr_t mutex_attr;
    pthread_condattr_t cond_attr;
    GIVES(0, pthread_mutexattr_init(&mutex_attr));
    GIVES(0, pthread_mutexattr_setpshared(&mutex_attr, PTHREAD_PROCESS_SHARED));
    GIVES(0, pthread_condattr_init(&cond_attr));
    GIVES(0, pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED));
    GIVES(0, pthread_mutex_init(&shared->mutex, &mutex_attr));
    GIVES(0, pthread_cond_init(&shared->cond, &cond_attr));

    pid_t child = fork();
    CHECK(child >= 0);
    for (int i = 0; i < 5000; i++) {
        GIVES(0, pthread_mutex_lock(&shared->mutex));
        shared->counter++;
        GIVES(0, pthread_mutex_unlock(&shared->mutex));
    }
    int me = child == 0;
    for (int i = 0; i < 300; i++) {
        GIVES(0, pthread_mutex_lock(&shared->mutex));
        while (shared->turn != me)
            GIVES(0, pthread_cond_wait(&shared->cond, &shared->mutex));
        shared->turn = !me;
        GIVES(0, pthread_cond_broadcast(&shared->cond));
        GIVES(0, pthread_mutex_unlock(&shared->mutex));
    }
    if (child == 0)
        _exit(0);
    int status;
    GIVES(child, waitpid(child, &status, 0));
    GIVES(0, status);
    GIVES(10000, shared->counter);
    GIVES(0, pthread_cond_destroy(&shared->cond));
    GIVES(0, pthread_mutex_destroy(&shared->mutex));

    /* A shared variable with a private mutex is odd, but permitted within a process. */
    for (int monotonic = 0; monotonic < 2; monotonic++) {
        pthread_mutex_t private = PTHREAD_MUTEX_INITIALIZER;
        waits(&private, &cond_attr);
        GIVES(0, pthread_condattr_setclock(&cond_attr, CLOCK_MONOTONIC));
        GIVES(0, pthread_cond_init(&shared->cond, &cond_attr));
        GIVES(0, pthread_mutex_lock(&private));
        struct timespec soon = from_now(CLOCK_MONOTONIC, 5);
        int result;
        while ((result = pthread_cond_timedwait(&shared->cond, &private, &soon)) == 0)
            ;
        GIVES(ETIMEDOUT, result);
        CHECK(passed(CLOCK_MONOTONIC, soon));
        GIVES(0, pthread_mutex_unlock(&private));
        GIVES(0, pthread_cond_destroy(&shared->cond));
        GIVES(0, pthread_condattr_setclock(&cond_attr, CLOCK_REALTIME));
    }
}

int main(void)
{
    nests(&recursive);
    checks(&checking);
    pthread_mutexattr_t attr;
    pthread_mutex_t mutex;
    GIVES(0, pthread_mutexattr_init(&attr));
    GIVES(0, pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE));
    GIVES(0, pthread_mutex_init(&mutex, &attr));
    nests(&mutex);
    waits(&mutex, NULL);
    GIVES(0, pthread_mutex_destroy(&mutex));
    GIVES(0, pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
    GIVES(0, pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
    GIVES(0, pthread_mutex_init(&mutex, &attr));
    checks(&mutex);
    waits(&mutex, NULL);
    GIVES(0, pthread_mutex_destroy(&mutex));
    waits(&recursive, NULL);
    waits(&checking, NULL);
    survives_its_owner();
    crosses_processes();
    return finish();
}
