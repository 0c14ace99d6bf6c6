/* A library whose constructor and destructor use mutexes and condition variables, and leave a
   mutex locked in between. Put before and after ours in LD_PRELOAD, and opened with dlopen. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void *answer(void *argument)
{
    GIVES(0, pthread_mutex_lock(&mutex));
    turn = 1;
    GIVES(0, pthread_cond_signal(&cond));
    GIVES(0, pthread_mutex_unlock(&mutex));
    return argument;
}

static void meet(void)
{
    turn = 0;
    GIVES(0, pthread_mutex_lock(&mutex));
    pthread_t thread = start(answer, NULL);
    while (turn == 0)
        GIVES(0, pthread_cond_wait(&cond, &mutex));
    GIVES(0, pthread_mutex_unlock(&mutex));
    GIVES(0, pthread_join(thread, NULL));
}

__attribute__((constructor)) static void begin(void)
{
    GIVES(0, pthread_mutex_lock(&held));
    meet();
}

__attribute__((destructor)) static void end(void)
{
    GIVES(EBUSY, pthread_mutex_trylock(&held));
    GIVES(0, pthread_mutex_unlock(&held));
    GIVES(0, pthread_mutex_destroy(&held));
    meet();
}

int early_library_answer(void);
int early_library_answer(void)
{
    meet();
    return 42;
}
