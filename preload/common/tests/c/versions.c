/* Finds the functions of condition variables by their old and their new version, as programs do that
   were made for an old C library, and waits by them with a mutex that is locked in the usual way. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turn;

typedef int of_cond(pthread_cond_t *);
typedef int of_both(pthread_cond_t *, pthread_mutex_t *);
static of_cond *signal, *destroy;
static of_both *wait;

struct pair { pthread_cond_t *condition; int own; };

/* Two threads that take turns: each waits for the other. */
static void *play(void *argument)
{
    struct pair *pair = argument;
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != pair->own)
            wait(pair->condition, &mutex);
        turn = !turn;
        signal(pair->condition);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* Whether a function has this version at all. On most architectures there is no old one. */
static int find(void *handle, const char *version)
{
    wait = (of_both *)dlvsym(handle, "pthread_cond_wait", version);
    signal = (of_cond *)dlvsym(handle, "pthread_cond_signal", version);
    destroy = (of_cond *)dlvsym(handle, "pthread_cond_destroy", version);
    return wait && signal && destroy;
}

int main(void)
{
    static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.3.2", "GLIBC_2.17"};
    void *handles[] = {RTLD_DEFAULT, RTLD_NEXT};
    int played = 0;
    for (int version = 0; version < 3; version++)
        for (int handle = 0; handle < 2; handle++) {
            if (!find(handles[handle], versions[version]))
                continue;
            /* An object that old functions and new ones understand: all zeros. */
            pthread_cond_t condition;
            memset(&condition, 0, sizeof condition);
            struct pair pairs[] = {{&condition, 0}, {&condition, 1}};
            pthread_t threads[2];
            for (int i = 0; i < 2; i++)
                pthread_create(&threads[i], NULL, play, &pairs[i]);
            struct timespec limit;
            clock_gettime(CLOCK_REALTIME, &limit);
            limit.tv_sec += 20;
            for (int i = 0; i < 2; i++)
                if (pthread_timedjoin_np(threads[i], NULL, &limit) != 0) {
                    printf("%s of handle %p hangs\n", versions[version], handles[handle]);
                    return 1;
                }
            destroy(&condition);
            played++;
        }
    /* What is asked for and is not there. */
    if (dlvsym(RTLD_DEFAULT, "pthread_cond_wait", "NONE_1.0") != NULL && played == 0)
        puts("a version that there is not");
    if (dlvsym(RTLD_DEFAULT, "getpid", "NONE_1.0") != NULL || dlerror() == NULL)
        puts("a version of getpid that there is not");
    else
        puts(played ? "ok" : "no version was found");
    return 0;
}
