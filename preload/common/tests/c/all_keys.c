/* A program that needs all keys of thread-specific data that there are. The first argument is the
   number of them that POSIX functions make; the others are made by C11's function. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t keys[PTHREAD_KEYS_MAX];
static int ended;

static void count(void *value)
{
    /* Every key's value must be what the program set for it. */
    if (value != &keys[0])
        abort();
    __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

static void *lock(void *value)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    if (value && pthread_setspecific(keys[PTHREAD_KEYS_MAX - 1], value) != 0)
        abort();
    return NULL;
}

/* Lets threads lock, and end. */
static void have_threads(void *value)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, lock, value) != 0)
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(int words, char **word)
{
    int made = 0, posix = words > 1 ? atoi(word[1]) : PTHREAD_KEYS_MAX;
    /* Whoever wants a key has one before the program takes the rest. */
    have_threads(NULL);
    while (made < PTHREAD_KEYS_MAX) {
        int failed = made < posix ? pthread_key_create(&keys[made], count)
                                  : tss_create(&keys[made], count) != thrd_success;
        if (failed)
            break;
        made++;
    }
    if (made < PTHREAD_KEYS_MAX) {
        printf("only %d keys\n", made);
        return 1;
    }
    pthread_key_t more;
    if (pthread_key_create(&more, NULL) == 0) {
        puts("one more key than there are");
        return 1;
    }
    have_threads(&keys[0]);
    if (ended != 4) {
        printf("%d threads' values were destroyed, not 4\n", ended);
        return 1;
    }
    puts("ok");
    return 0;
}
