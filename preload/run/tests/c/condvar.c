/* Condition variables: nothing that was signalled is lost, time-outs are kept. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;

enum { CAPACITY = 4, PRODUCERS = 3, CONSUMERS = 3, MILLISECONDS = 300 };
static int buffer[CAPACITY], length;
static long sum, produced, consumed;
static struct timespec end;
static int impatient;

/* Waits; if impatient, sometimes for so short a time that it passes. */
static void wait_for(pthread_cond_t *cond, unsigned *random)
{
    *random = *random * 1103515245 + 12345;
    if (!impatient || *random >> 16 & 1) {
        GIVES(0, pthread_cond_wait(cond, &mutex));
        return;
    }
    struct timespec deadline = from_now(CLOCK_REALTIME, 0);
    deadline.tv_nsec += (*random >> 17) % 50000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_nsec -= 1000000000;
        deadline.tv_sec++;
    }
    int result = pthread_cond_timedwait(cond, &mutex, &deadline);
    CHECK(result == 0 || result == ETIMEDOUT);
}

/* Adds an item and signals once. Were the signal lost, or taken by a waiter that had timed out,
   the program would stand still. */
static void put(int item, unsigned *random)
{
    GIVES(0, pthread_mutex_lock(&mutex));
    while (length == CAPACITY)
        wait_for(&not_full, random);
    buffer[length++] = item;
    sum += item;
    produced++;
    GIVES(0, pthread_cond_signal(&not_empty));
    GIVES(0, pthread_mutex_unlock(&mutex));
}

static int take(unsigned *random)
{
    GIVES(0, pthread_mutex_lock(&mutex));
    while (length == 0)
        wait_for(&not_empty, random);
    int item = buffer[--length];
    sum -= item;
    consumed++;
    GIVES(0, pthread_mutex_unlock(&mutex));
    GIVES(0, pthread_cond_signal(&not_full)); /* without the mutex, as one may */
    return item;
}

static void *produce(void *seed)
{
    unsigned random = (unsigned)(long)seed;
    for (int i = 1; i < 10 || !over(end); i++)
        put(i, &random);
    put(0, &random); /* ends one consumer */
    return NULL;
}

static void *consume(void *seed)
{
    unsigned random = (unsigned)(long)seed;
    while (take(&random) != 0)
        ;
    return NULL;
}

static void loses_nothing(void)
{
    pthread_t threads[PRODUCERS + CONSUMERS];
    sum = produced = consumed = 0;
    end = until(MILLISECONDS);
    for (int i = 0; i < PRODUCERS; i++)
        threads[i] = start(produce, (void *)(long)(i + 1));
    for (int i = 0; i < CONSUMERS; i++)
        threads[PRODUCERS + i] = start(consume, (void *)(long)(i + 100));
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    /* The items that end a consumer may have overtaken others. */
    unsigned random = 1;
    while (length > 0)
        take(&random);
    GIVES(produced, consumed);
    GIVES(0, sum);
}

enum { CROWD = 8 };
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static int arrived, round_number, last_round;

static void *march(void *argument)
{
    (void)argument;
    for (int again = 1; again;) {
        GIVES(0, pthread_mutex_lock(&mutex));
        int mine = round_number;
        if (++arrived == CROWD) {
            arrived = 0;
            round_number++;
            last_round = over(end);
            GIVES(0, pthread_cond_broadcast(&gate));
        } else {
            while (round_number == mine)
                GIVES(0, pthread_cond_wait(&gate, &mutex));
        }
        GIVES(mine + 1, round_number); /* the next round needs this thread */
        again = !last_round;
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void wakes_everybody(void)
{
    pthread_t threads[CROWD];
    end = until(MILLISECONDS);
    for (int i = 0; i < CROWD; i++)
        threads[i] = start(march, NULL);
    for (int i = 0; i < CROWD; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(0, arrived);
    CHECK(round_number > 0);
}

/* The order in which waiters came, and in which they were woken one by one. */
static int tickets, called[CROWD], calls;

static void *queue_up(void *argument)
{
    (void)argument;
    GIVES(0, pthread_mutex_lock(&mutex));
    int mine = tickets++;
    GIVES(0, pthread_cond_wait(&gate, &mutex));
    called[calls++] = mine;
    GIVES(0, pthread_mutex_unlock(&mutex));
    return NULL;
}

static void wakes_one_at_a_time(void)
{
    pthread_t threads[CROWD];
    for (int i = 0; i < CROWD; i++)
        threads[i] = start(queue_up, NULL);
    int waiting = 0;
    while (waiting < CROWD) { /* under the mutex, all who have a ticket wait */
        GIVES(0, pthread_mutex_lock(&mutex));
        waiting = tickets;
        GIVES(0, pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    for (int i = 0; i < CROWD; i++) {
        GIVES(0, pthread_cond_signal(&gate));
        int done = 0;
        while (done <= i) {
            GIVES(0, pthread_mutex_lock(&mutex));
            done = calls;
            GIVES(0, pthread_mutex_unlock(&mutex));
            sched_yield();
        }
        GIVES(i + 1, done);
    }
    for (int i = 0; i < CROWD; i++)
        GIVES(0, pthread_join(threads[i], NULL));
}

/* The first of two waiters times out at about the time at which one signal is sent. If it does
   time out, the signal is the other's. */
static struct timespec deadline;
static int first_waits, second_waits;

static void *wait_until_deadline(void *argument)
{
    (void)argument;
    GIVES(0, pthread_mutex_lock(&mutex));
    first_waits = 1;
    int result = pthread_cond_timedwait(&gate, &mutex, &deadline);
    GIVES(0, pthread_mutex_unlock(&mutex));
    return (void *)(long)result;
}

static void *wait_behind(void *argument)
{
    (void)argument;
    GIVES(0, pthread_mutex_lock(&mutex));
    second_waits = 1;
    GIVES(0, pthread_cond_wait(&gate, &mutex));
    GIVES(0, pthread_mutex_unlock(&mutex));
    return NULL;
}

static void await_flag(int *flag)
{
    for (int now = 0; !now; sched_yield()) {
        GIVES(0, pthread_mutex_lock(&mutex));
        now = *flag;
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
}

static void takes_no_signal_when_it_times_out(void)
{
    end = until(2 * MILLISECONDS);
    for (int i = 0; i < 3 || !over(end); i++) {
        deadline = from_now(CLOCK_REALTIME, 0);
        deadline.tv_nsec += 150000 + i * 7919 % 100000;
        if (deadline.tv_nsec >= 1000000000) {
            deadline.tv_nsec -= 1000000000;
            deadline.tv_sec++;
        }
        first_waits = second_waits = 0;
        pthread_t first = start(wait_until_deadline, NULL);
        await_flag(&first_waits);
        pthread_t second = start(wait_behind, NULL);
        await_flag(&second_waits);
        while (!passed(CLOCK_REALTIME, deadline))
            ;
        for (volatile int j = 0; j < i * 1319 % 60000; j++)
            ;
        GIVES(0, pthread_cond_signal(&gate));
        void *result;
        GIVES(0, pthread_join(first, &result));
        if ((long)result == 0) /* it had the signal */
            GIVES(0, pthread_cond_signal(&gate));
        else
            GIVES(ETIMEDOUT, (long)result);
        GIVES(0, pthread_join(second, NULL));
    }
}

static void heeds_its_clock(clockid_t clock, int by_attribute)
{
    pthread_condattr_t attr;
    pthread_cond_t cond;
    GIVES(0, pthread_condattr_init(&attr));
    if (by_attribute)
        GIVES(0, pthread_condattr_setclock(&attr, clock));
    GIVES(0, pthread_cond_init(&cond, &attr));
    GIVES(0, pthread_mutex_lock(&mutex));
    long times[] = {-1000, 0, 1, 15};
    for (int i = 0; i < 4; i++) {
        struct timespec deadline = from_now(clock, times[i]);
        errno = 77;
        int result;
        do
            result = by_attribute
                         ? pthread_cond_timedwait(&cond, &mutex, &deadline)
                         : pthread_cond_clockwait(&cond, &mutex, clock, &deadline);
        while (result == 0);
        GIVES(77, errno);
        GIVES(ETIMEDOUT, result);
        CHECK(passed(clock, deadline));
        GIVES(EBUSY, pthread_mutex_trylock(&mutex));
    }
    struct timespec before_all = {.tv_sec = -5}, wrong = {1, 1000000000};
    GIVES(ETIMEDOUT, pthread_cond_clockwait(&cond, &mutex, clock, &before_all));
    GIVES(EINVAL, pthread_cond_timedwait(&cond, &mutex, &wrong));
    GIVES(EINVAL, pthread_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &before_all));
    GIVES(0, pthread_mutex_unlock(&mutex));
    GIVES(0, pthread_cond_destroy(&cond));
    GIVES(0, pthread_cond_init(&cond, NULL));
    GIVES(0, pthread_cond_destroy(&cond));
}

int main(void)
{
    be_punctual();
    loses_nothing();
    impatient = 1;
    loses_nothing();
    wakes_everybody();
    wakes_one_at_a_time();
    takes_no_signal_when_it_times_out();
    heeds_its_clock(CLOCK_REALTIME, 1);
    heeds_its_clock(CLOCK_MONOTONIC, 1);
    heeds_its_clock(CLOCK_REALTIME, 0);
    heeds_its_clock(CLOCK_MONOTONIC, 0);
    return finish();
}
