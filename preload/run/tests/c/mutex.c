/* Ordinary mutexes: initialized statically and not, tried, unlocked by others, destroyed. */
#include "check.h"

enum { THREADS = 4, MILLISECONDS = 80 };

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t zeroed;
static long counter;
static struct timespec end;

static void *count(void *mutex)
{
    long i;
    for (i = 0; i < 10 || !over(end); i++) {
        if (i % 16 != 0 || pthread_mutex_trylock(mutex) != 0)
            GIVES(0, pthread_mutex_lock(mutex));
        counter++;
        GIVES(0, pthread_mutex_unlock(mutex));
    }
    return (void *)i;
}

static void excludes(pthread_mutex_t *mutex)
{
    pthread_t threads[THREADS];
    long sum = 0;
    counter = 0;
    end = until(MILLISECONDS);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(count, mutex);
    for (int i = 0; i < THREADS; i++) {
        void *turns;
        GIVES(0, pthread_join(threads[i], &turns));
        sum += (long)turns;
    }
    GIVES(sum, counter);
}

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

static void keeps_its_word(pthread_mutex_t *mutex)
{
    errno = 77;
    GIVES(0, pthread_mutex_trylock(mutex));
    GIVES(EBUSY, in_thread(try_it, mutex));
    GIVES(EBUSY, pthread_mutex_destroy(mutex));
    GIVES(0, in_thread(unlock_it, mutex));
    GIVES(0, in_thread(try_it, mutex));
    GIVES(0, pthread_mutex_unlock(mutex));
    /* Its locker is gone when it is unlocked. */
    GIVES(0, in_thread(lock_it, mutex));
    GIVES(EBUSY, pthread_mutex_trylock(mutex));
    GIVES(0, pthread_mutex_unlock(mutex));
    GIVES(77, errno);
}

/* What a program does that locks two mutexes and unlocks the first first, many times over. */
static void overlaps(void)
{
    enum { MANY = 40 };
    pthread_mutex_t many[MANY];
    for (int i = 0; i < MANY; i++)
        GIVES(0, pthread_mutex_init(&many[i], NULL));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            GIVES(0, pthread_mutex_lock(&many[i]));
        for (int i = 0; i < MANY; i++)
            GIVES(EBUSY, pthread_mutex_trylock(&many[i]));
        for (int i = 0; i < MANY; i++)
            GIVES(0, pthread_mutex_unlock(&many[(i * 7 + round) % MANY]));
    }
    for (int i = 0; i < MANY; i++)
        GIVES(0, pthread_mutex_destroy(&many[i]));
}

/* A count of references under a mutex: whoever drops the last one frees it at once. */
struct counted {
    pthread_mutex_t mutex;
    int references;
};

static void *drop(void *argument)
{
    struct counted *object = argument;
    GIVES(0, pthread_mutex_lock(&object->mutex));
    int left = --object->references;
    GIVES(0, pthread_mutex_unlock(&object->mutex));
    if (left == 0) {
        GIVES(0, pthread_mutex_destroy(&object->mutex));
        memset(object, 0xA5, sizeof *object);
        free(object);
    }
    return NULL;
}

static void may_be_freed_by_the_last_holder(void)
{
    for (int i = 0; i < 500; i++) {
        struct counted *object = malloc(sizeof *object);
        GIVES(0, pthread_mutex_init(&object->mutex, NULL));
        object->references = 2;
        pthread_t other = start(drop, object);
        drop(object);
        GIVES(0, pthread_join(other, NULL));
    }
}

int main(void)
{
    pthread_mutexattr_t attr;
    GIVES(0, pthread_mutexattr_init(&attr));
    GIVES(0, pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL));
    pthread_mutex_t normal, initialized;
    GIVES(0, pthread_mutex_init(&normal, &attr));
    GIVES(0, pthread_mutex_init(&initialized, NULL));

    pthread_mutex_t *all[] = {&plain, &adaptive, &zeroed, &normal, &initialized};
    for (int i = 0; i < 5; i++) {
        excludes(all[i]);
        keeps_its_word(all[i]);
    }
    for (int i = 0; i < 3; i++) {
        GIVES(0, pthread_mutex_destroy(&normal));
        GIVES(EINVAL, pthread_mutex_lock(&normal));
        GIVES(0, pthread_mutex_init(&normal, NULL));
        keeps_its_word(&normal);
    }
    /* Undefined, but programs do it, and glibc forgives it. */
    GIVES(0, pthread_mutex_unlock(&plain));
    excludes(&plain);
    overlaps();
    may_be_freed_by_the_last_holder();
    return finish();
}
