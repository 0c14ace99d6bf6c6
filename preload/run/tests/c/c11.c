/* The mutexes of C11, which glibc builds on its own pthread functions without going through their names. */
#include "check.h"
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static mtx_t mutex;
static cnd_t cond;
static int turn;

static int answer(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        CHECK(mtx_lock(&mutex) == thrd_success);
        while (turn != 1)
            CHECK(cnd_wait(&cond, &mutex) == thrd_success);
        turn = 0;
        CHECK(cnd_signal(&cond) == thrd_success);
        CHECK(mtx_unlock(&mutex) == thrd_success);
    }
    return 7;
}

/* Whether glibc's own function has locked the mutex that this thread holds: then its owner is written there. */
static int is_glibcs(mtx_t *held)
{
    return ((pthread_mutex_t *)held)->__data.__owner == (int)syscall(SYS_gettid);
}

static mtx_t kinds[2];

static int find_them_busy(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        CHECK(mtx_trylock(&kinds[i]) == thrd_busy);
        struct timespec soon = from_now(CLOCK_REALTIME, 5);
        CHECK(mtx_timedlock(&kinds[i], &soon) == thrd_timedout);
    }
    return 0;
}

/* A plain one and a recursive one, both with deadlines. */
static void check_kinds(int is_replaced)
{
    CHECK(mtx_init(&kinds[0], mtx_plain | mtx_timed) == thrd_success);
    CHECK(mtx_init(&kinds[1], mtx_recursive | mtx_timed) == thrd_success);
    for (int i = 0; i < 2; i++)
        CHECK(mtx_lock(&kinds[i]) == thrd_success);
    CHECK(is_glibcs(&kinds[0]) == !is_replaced);
    CHECK(is_glibcs(&kinds[1]));
    CHECK(mtx_lock(&kinds[1]) == thrd_success && mtx_trylock(&kinds[1]) == thrd_success);
    thrd_t thread;
    CHECK(thrd_create(&thread, find_them_busy, NULL) == thrd_success);
    CHECK(thrd_join(thread, NULL) == thrd_success);
    CHECK(mtx_unlock(&kinds[0]) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(mtx_unlock(&kinds[1]) == thrd_success);
    for (int i = 0; i < 2; i++)
        mtx_destroy(&kinds[i]);
}

int main(void)
{
    const char *lock = getenv("KILOCORE_LOCK");
    check_kinds(lock && *lock);
    CHECK(mtx_init(&mutex, mtx_timed) == thrd_success);
    CHECK(cnd_init(&cond) == thrd_success);
    thrd_t thread;
    CHECK(thrd_create(&thread, answer, NULL) == thrd_success);
    for (int i = 0; i < 1000; i++) {
        CHECK(mtx_lock(&mutex) == thrd_success);
        while (turn != 0)
            CHECK(cnd_wait(&cond, &mutex) == thrd_success);
        turn = 1;
        CHECK(cnd_signal(&cond) == thrd_success);
        CHECK(mtx_unlock(&mutex) == thrd_success);
    }
    int result;
    CHECK(thrd_join(thread, &result) == thrd_success && result == 7);
    CHECK(mtx_trylock(&mutex) == thrd_success);
    struct timespec soon = from_now(CLOCK_REALTIME, 5);
    CHECK(cnd_timedwait(&cond, &mutex, &soon) == thrd_timedout);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    cnd_destroy(&cond);
    mtx_destroy(&mutex);
    return finish();
}
