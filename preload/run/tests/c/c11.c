/* The mutexes of C11, which glibc builds on its own functions without going through their names. */
#include "check.h"
#include <threads.h>

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

int main(void)
{
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
