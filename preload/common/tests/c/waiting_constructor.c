/* A library whose constructor waits until another thread of the program has done something. The
   dynamic linker runs it with its lock taken. */
#include <semaphore.h>
#include <time.h>

/* Of the program that opens this library. */
extern sem_t in_constructor, called;
extern int came;

static void __attribute__((constructor)) wait_for_the_call(void)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 5;
    sem_post(&in_constructor);
    came = sem_timedwait(&called, &limit) == 0;
}
