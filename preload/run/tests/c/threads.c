/* Threads that come and go leave nothing behind. Argument: how many. */
#include "check.h"

enum { WARM_UP = 2000, AT_ONCE = 4, ALLOWED_KIB = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *visit(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        GIVES(0, pthread_mutex_lock(&mutex));
        GIVES(0, pthread_mutex_lock(&other));
        counter++;
        GIVES(0, pthread_mutex_unlock(&mutex));
        GIVES(0, pthread_mutex_unlock(&other));
    }
    return NULL;
}

static void run(long count)
{
    for (long i = 0; i < count; i += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (int j = 0; j < AT_ONCE; j++)
            threads[j] = start(visit, NULL);
        for (int j = 0; j < AT_ONCE; j++)
            GIVES(0, pthread_join(threads[j], NULL));
    }
}

static long resident_kib(void)
{
    long total, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &total, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **arguments)
{
    CHECK(count == 2);
    long threads = atol(arguments[1]);
    run(WARM_UP);
    long before = resident_kib();
    run(threads);
    long grown = resident_kib() - before;
    GIVES(3 * (WARM_UP + threads), counter);
    if (grown > ALLOWED_KIB) {
        fprintf(stderr, "%ld KiB more after %ld threads\n", grown, threads);
        return 1;
    }
    return finish();
}
