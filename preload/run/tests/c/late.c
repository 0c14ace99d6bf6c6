/* Mutexes at the end of a thread and of the program: in destructors of thread-specific data, in
   all of their rounds, in atexit handlers, and after main has left by pthread_exit. */
#include "check.h"

enum { KEYS = 40, ROUNDS = 4, THREADS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t keys[KEYS];
static long destroyed, left_early;

static void use_both(long *count)
{
    GIVES(0, pthread_mutex_lock(&mutex));
    GIVES(0, pthread_mutex_lock(&second));
    (*count)++;
    GIVES(0, pthread_mutex_unlock(&mutex));
    GIVES(0, pthread_mutex_unlock(&second));
}

static void destroy(void *value)
{
    long packed = (long)value, key = packed / 8, round = packed % 8;
    use_both(&destroyed);
    if (round < ROUNDS) /* again in the next round */
        GIVES(0, pthread_setspecific(keys[key], (void *)(packed + 1)));
}

static void *fill(void *argument)
{
    if (argument)
        use_both(&left_early); /* others take their first mutex in a destructor */
    for (long i = 0; i < KEYS; i++)
        GIVES(0, pthread_setspecific(keys[i], (void *)(i * 8 + 1)));
    pthread_exit(NULL);
}

static pthread_t main_thread;

static void at_exit(void)
{
    long unused = 0;
    use_both(&unused);
    GIVES((long)THREADS * KEYS * ROUNDS, destroyed);
    puts("ok");
}

static void *outlive_main(void *argument)
{
    GIVES(0, pthread_join(main_thread, NULL));
    use_both(&left_early);
    exit(argument != NULL);
}

int main(void)
{
    for (int i = 0; i < KEYS; i++)
        GIVES(0, pthread_key_create(&keys[i], destroy));
    for (int i = 0; i < THREADS; i += 2) {
        pthread_t a = start(fill, NULL), b = start(fill, &mutex);
        GIVES(0, pthread_join(a, NULL));
        GIVES(0, pthread_join(b, NULL));
    }
    GIVES(0, atexit(at_exit));
    main_thread = pthread_self();
    start(outlive_main, NULL);
    use_both(&left_early);
    pthread_exit(NULL);
}
