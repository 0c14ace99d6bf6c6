/* What the test programs share. A program prints "ok" at its end and nothing else. */
#ifndef CHECK_H
#define CHECK_H

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);   \
            _exit(1);                                                                   \
        }                                                                               \
    } while (0)

/* Checks that an expression gives a number, and shows the number if not. */
#define GIVES(expected, expression)                                                     \
    do {                                                                                \
        long got_ = (long)(expression), expected_ = (long)(expected);                   \
        if (got_ != expected_) {                                                        \
            fprintf(stderr, "%s:%d: %s gives %ld, not %ld\n", __FILE__, __LINE__,       \
                    #expression, got_, expected_);                                      \
            _exit(1);                                                                   \
        }                                                                               \
    } while (0)

static inline struct timespec from_now(clockid_t clock, long milliseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    long nanos = time.tv_nsec + milliseconds % 1000 * 1000000;
    time.tv_sec += milliseconds / 1000;
    if (nanos < 0) {
        nanos += 1000000000;
        time.tv_sec--;
    }
    time.tv_sec += nanos / 1000000000;
    time.tv_nsec = nanos % 1000000000;
    return time;
}

static inline int passed(clockid_t clock, struct timespec deadline)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > deadline.tv_sec
           || (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec);
}

/* How much of a long test to do: a lock that spins is slow with more threads than cores, so loops
   end by the clock, and check whatever they have done by then. */
static inline struct timespec until(long milliseconds)
{
    return from_now(CLOCK_MONOTONIC, milliseconds);
}

static inline int over(struct timespec end)
{
    return passed(CLOCK_MONOTONIC, end);
}

/* Lets time-outs strike at their time, not up to 50 us later, so that races with them happen. For
   threads started afterwards. */
static inline void be_punctual(void)
{
    GIVES(0, prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL));
}

static inline pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    GIVES(0, pthread_create(&thread, NULL, run, argument));
    return thread;
}

/* Whether a thread of this process sleeps. */
static inline int sleeps(int thread)
{
    char name[64], text[512];
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(name, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *end_of_name = strrchr(text, ')');
    CHECK(end_of_name != NULL);
    return end_of_name[2] == 'S';
}

static inline int finish(void)
{
    puts("ok");
    return 0;
}

#endif
