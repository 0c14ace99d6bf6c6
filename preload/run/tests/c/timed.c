/* Locking with a deadline. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int lock_before(clockid_t clock, const struct timespec *deadline, int by_clock)
{
    return by_clock ? pthread_mutex_clocklock(&mutex, clock, deadline)
                    : pthread_mutex_timedlock(&mutex, deadline);
}

struct attempt {
    clockid_t clock;
    int by_clock;
    long milliseconds;
};

static void *attempt(void *argument)
{
    struct attempt *attempt = argument;
    struct timespec deadline = from_now(attempt->clock, attempt->milliseconds);
    errno = 77;
    int result = lock_before(attempt->clock, &deadline, attempt->by_clock);
    GIVES(77, errno);
    if (result == 0)
        GIVES(0, pthread_mutex_unlock(&mutex));
    else
        CHECK(passed(attempt->clock, deadline));
    return (void *)(long)result;
}

static void heeds_its_clock(clockid_t clock, int by_clock)
{
    struct timespec past = {.tv_sec = 1}, before_all = {.tv_sec = -5};
    struct timespec wrong = {.tv_sec = 1, .tv_nsec = 1000000000}, negative = {1, -1};
    GIVES(0, lock_before(clock, &past, by_clock));
    GIVES(ETIMEDOUT, lock_before(clock, &past, by_clock));
    GIVES(ETIMEDOUT, lock_before(clock, &before_all, by_clock));
    GIVES(EINVAL, lock_before(clock, &wrong, by_clock));
    GIVES(EINVAL, lock_before(clock, &negative, by_clock));

    void *result;
    struct attempt briefly = {clock, by_clock, 20}, patiently = {clock, by_clock, 60000};
    GIVES(0, pthread_join(start(attempt, &briefly), &result));
    GIVES(ETIMEDOUT, (long)result);
    pthread_t other = start(attempt, &patiently);
    usleep(10000);
    GIVES(0, pthread_mutex_unlock(&mutex));
    GIVES(0, pthread_join(other, &result));
    GIVES(0, (long)result);
}

static long counter;

static void *count(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2000; i++) {
        struct timespec deadline = from_now(CLOCK_REALTIME, 60000);
        GIVES(0, pthread_mutex_timedlock(&mutex, &deadline));
        counter++;
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void)
{
    heeds_its_clock(CLOCK_REALTIME, 0);
    heeds_its_clock(CLOCK_REALTIME, 1);
    heeds_its_clock(CLOCK_MONOTONIC, 1);
    struct timespec later = from_now(CLOCK_REALTIME, 1000);
    GIVES(EINVAL, pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &later));
    pthread_t first = start(count, NULL), second = start(count, NULL);
    GIVES(0, pthread_join(first, NULL));
    GIVES(0, pthread_join(second, NULL));
    GIVES(4000, counter);
    return finish();
}
