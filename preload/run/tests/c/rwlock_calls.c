/* What each function of read-write locks returns, and reading more than once. */
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int replaced;

/* Runs `body` on another thread, to its end. */
static void elsewhere(void *(*body)(void *))
{
    GIVES(0, pthread_join(start(body, NULL), NULL));
}

static int read_before(clockid_t clock, const struct timespec *time, int by_clock)
{
    return by_clock ? pthread_rwlock_clockrdlock(&lock, clock, time)
                    : pthread_rwlock_timedrdlock(&lock, time);
}

static int write_before(clockid_t clock, const struct timespec *time, int by_clock)
{
    return by_clock ? pthread_rwlock_clockwrlock(&lock, clock, time)
                    : pthread_rwlock_timedwrlock(&lock, time);
}

static void invalid_times(clockid_t clock, int by_clock)
{
    struct timespec wrong = {.tv_sec = 1, .tv_nsec = 1000000000}, negative = {1, -1};
    GIVES(EINVAL, read_before(clock, &wrong, by_clock));
    GIVES(EINVAL, read_before(clock, &negative, by_clock));
    GIVES(EINVAL, write_before(clock, &wrong, by_clock));
    GIVES(EINVAL, write_before(clock, &negative, by_clock));
}

/* A writer is inside, who is somebody else if `mine` is not set. */
static void beside_a_writer(clockid_t clock, int by_clock, int mine)
{
    struct timespec past = {.tv_sec = 1}, before_all = {.tv_sec = -5};
    struct timespec soon = from_now(clock, 20);
    int late = mine ? EDEADLK : ETIMEDOUT;
    invalid_times(clock, by_clock);
    GIVES(late, read_before(clock, &soon, by_clock));
    CHECK(mine || passed(clock, soon));
    GIVES(late, read_before(clock, &past, by_clock));
    GIVES(late, read_before(clock, &before_all, by_clock));
    soon = from_now(clock, 20);
    GIVES(late, write_before(clock, &soon, by_clock));
    CHECK(mine || passed(clock, soon));
    GIVES(late, write_before(clock, &past, by_clock));
    GIVES(EBUSY, pthread_rwlock_tryrdlock(&lock));
    GIVES(EBUSY, pthread_rwlock_trywrlock(&lock));
}

static void *another_beside_a_writer(void *argument)
{
    errno = 77;
    beside_a_writer(CLOCK_REALTIME, 0, 0);
    beside_a_writer(CLOCK_REALTIME, 1, 0);
    beside_a_writer(CLOCK_MONOTONIC, 1, 0);
    GIVES(77, errno);
    return argument;
}

static void *another_beside_a_reader(void *argument)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 20);
    GIVES(ETIMEDOUT, pthread_rwlock_timedwrlock(&lock, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    soon = from_now(CLOCK_MONOTONIC, 20);
    GIVES(ETIMEDOUT, pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon));
    CHECK(passed(CLOCK_MONOTONIC, soon));
    GIVES(EBUSY, pthread_rwlock_trywrlock(&lock));
    /* The writer that gave up keeps no reader out. */
    GIVES(0, pthread_rwlock_tryrdlock(&lock));
    GIVES(0, pthread_rwlock_unlock(&lock));
    GIVES(0, pthread_rwlock_timedrdlock(&lock, &soon));
    GIVES(0, pthread_rwlock_unlock(&lock));
    return argument;
}

static void errors(void)
{
    struct timespec past = {.tv_sec = 1};
    errno = 77;
    for (int round = 0; round < 3; round++) {
        clockid_t clock = round == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
        invalid_times(clock, round > 0);
        /* A free lock is acquired whatever the time. */
        GIVES(0, read_before(clock, &past, round > 0));
        GIVES(0, pthread_rwlock_unlock(&lock));
        GIVES(0, write_before(clock, &past, round > 0));
        GIVES(EDEADLK, pthread_rwlock_rdlock(&lock));
        GIVES(EDEADLK, pthread_rwlock_wrlock(&lock));
        beside_a_writer(clock, round > 0, 1);
        if (round == 0)
            elsewhere(another_beside_a_writer);
        /* glibc does not look. */
        if (replaced)
            GIVES(EBUSY, pthread_rwlock_destroy(&lock));
        GIVES(0, pthread_rwlock_unlock(&lock));
        struct timespec far = from_now(CLOCK_MONOTONIC, 90000);
        GIVES(EINVAL, pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &far));
        GIVES(EINVAL, pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &far));
    }
    GIVES(0, pthread_rwlock_rdlock(&lock));
    elsewhere(another_beside_a_reader);
    GIVES(EBUSY, pthread_rwlock_trywrlock(&lock));
    GIVES(ETIMEDOUT, pthread_rwlock_timedwrlock(&lock, &past));
    GIVES(0, pthread_rwlock_unlock(&lock));
    GIVES(77, errno);
}

static volatile int writer_thread, written;

static void *write_once(void *argument)
{
    writer_thread = gettid();
    GIVES(0, pthread_rwlock_wrlock(argument));
    written = 1;
    GIVES(0, pthread_rwlock_unlock(argument));
    return NULL;
}

/* Reads once more, in each way, while a writer waits for this thread. */
static void read_again(pthread_rwlock_t *chosen)
{
    struct timespec far = from_now(CLOCK_REALTIME, 90000);
    struct timespec further = from_now(CLOCK_MONOTONIC, 90000);
    writer_thread = written = 0;
    GIVES(0, pthread_rwlock_rdlock(chosen));
    pthread_t writer = start(write_once, chosen);
    while (!writer_thread || !sleeps(writer_thread))
        sched_yield();
    for (int i = 0; i < 1000; i++)
        GIVES(0, pthread_rwlock_rdlock(chosen));
    GIVES(0, pthread_rwlock_tryrdlock(chosen));
    GIVES(0, pthread_rwlock_timedrdlock(chosen, &far));
    GIVES(0, pthread_rwlock_clockrdlock(chosen, CLOCK_MONOTONIC, &further));
    for (int i = 0; i < 1003; i++) {
        GIVES(0, pthread_rwlock_unlock(chosen));
        GIVES(0, written);
    }
    GIVES(EBUSY, pthread_rwlock_trywrlock(chosen));
    GIVES(0, pthread_rwlock_unlock(chosen));
    GIVES(0, pthread_join(writer, NULL));
    GIVES(1, written);
    GIVES(0, pthread_rwlock_trywrlock(chosen));
    GIVES(0, pthread_rwlock_unlock(chosen));
}

enum { MANY = 30 };

/* Reads under many locks at once, some of them twice, and leaves them in several orders. */
static void read_many(void)
{
    static pthread_rwlock_t many[MANY];
    static const int steps[] = {1, MANY - 1, 7, 11};
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < MANY; i++)
            GIVES(0, pthread_rwlock_rdlock(&many[i]));
        for (int i = 0; i < MANY; i += 3)
            GIVES(0, pthread_rwlock_rdlock(&many[i]));
        for (int i = 0; i < MANY; i++)
            GIVES(0, pthread_rwlock_unlock(&many[i * steps[round] % MANY]));
        for (int i = 0; i < MANY; i++)
            GIVES(i % 3 == 0 ? EBUSY : 0, pthread_rwlock_trywrlock(&many[i]));
        for (int i = 0; i < MANY; i++)
            GIVES(0, pthread_rwlock_unlock(&many[i]));
        for (int i = 0; i < MANY; i++) {
            GIVES(0, pthread_rwlock_trywrlock(&many[i]));
            GIVES(0, pthread_rwlock_unlock(&many[i]));
        }
    }
}

static pthread_barrier_t turn;

/* Unlocks for `lend`, writes, and lets it see. With an argument, it also makes the lock anew. */
static void *borrower(void *argument)
{
    pthread_barrier_wait(&turn);
    GIVES(0, pthread_rwlock_unlock(&lock));
    if (argument) {
        GIVES(0, pthread_rwlock_destroy(&lock));
        GIVES(0, pthread_rwlock_init(&lock, NULL));
    }
    GIVES(0, pthread_rwlock_wrlock(&lock));
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    GIVES(0, pthread_rwlock_unlock(&lock));
    return argument;
}

/* Another thread unlocks for this one. POSIX leaves that undefined, and under glibc it works. Who
   reads next must not believe that it still reads. */
static void lend(void *anew)
{
    GIVES(0, pthread_barrier_init(&turn, NULL, 2));
    GIVES(0, pthread_rwlock_rdlock(&lock));
    pthread_t thread = start(borrower, anew);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    GIVES(EBUSY, pthread_rwlock_tryrdlock(&lock));
    pthread_barrier_wait(&turn);
    GIVES(0, pthread_join(thread, NULL));
    GIVES(0, pthread_rwlock_rdlock(&lock));
    GIVES(EBUSY, pthread_rwlock_trywrlock(&lock));
    GIVES(0, pthread_rwlock_unlock(&lock));
    GIVES(0, pthread_rwlock_trywrlock(&lock));
    GIVES(0, pthread_rwlock_unlock(&lock));
    GIVES(0, pthread_barrier_destroy(&turn));
}

/* With an argument, the program expects that its locks are glibc's. */
int main(int arguments, char **names)
{
    (void)names;
    replaced = arguments == 1 && getenv("KILOCORE_RWLOCK");
    errors();
    read_again(&lock);
    read_many();
    lend(&lock);
    lend(&lock);
    lend(NULL);
    read_again(&lock);
    GIVES(0, pthread_rwlock_destroy(&lock));
    GIVES(0, pthread_rwlock_init(&lock, NULL));
    read_again(&lock);
    return finish();
}
