/* Two threads take a mutex of C11 in turns, each of which waits on a condition for the other's. */
#include <threads.h>

enum { TURNS = 20000 };
static mtx_t mutex;
static cnd_t passed;
static int turn;

static int take_turns(void *own)
{
    for (int i = 0; i < TURNS; i++) {
        mtx_lock(&mutex);
        while (turn != (own != 0))
            cnd_wait(&passed, &mutex);
        turn = !turn;
        cnd_signal(&passed);
        mtx_unlock(&mutex);
    }
    return 0;
}

int main(void)
{
    thrd_t threads[2];
    if (mtx_init(&mutex, mtx_plain) != thrd_success || cnd_init(&passed) != thrd_success)
        return 1;
    for (int i = 0; i < 2; i++)
        if (thrd_create(&threads[i], take_turns, i ? &turn : 0) != thrd_success)
            return 1;
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], 0);
    cnd_destroy(&passed);
    mtx_destroy(&mutex);
    return 0;
}
