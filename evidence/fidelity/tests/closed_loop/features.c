/* A program with what profiles may lose of programs. Its parameters are known, because its arguments say them:
 *
 *   program calibrate                     prints the turns of its loop in a nanosecond
 *   program TURNS THREADS SECTIONS THINK HOLD LOCKS HOT INNER POLL HELPERS ROOM
 *
 * THINK, HOLD, INNER and POLL are nanoseconds of computing. Threads think for THINK on average, exponentially,
 * take one of LOCKS mutexes, compute for HOLD, and let it go, SECTIONS times together. The first of the mutexes
 * gets the share HOT of all uses, and the others are used equally. With INNER, one more mutex is taken inside and
 * held for so long. With POLL, threads wait by pthread_mutex_trylock, and compute for POLL between two tries.
 * HELPERS threads besides sleep for a millisecond, take the first mutex for HOLD, and so on. With ROOM, half of the
 * threads put things into a queue that has room for so many, and the others take them out, under the first mutex.
 *
 * At its end it prints for how long its threads ran, in nanoseconds. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../planted/computing.h"
#include "../planted/random.h"

enum { MOST_THREADS = 1024, MOST_LOCKS = 256 };

struct lock {
    _Alignas(128) pthread_mutex_t mutex;
};

static long threads, sections, count, helpers, room;
static double think_ns, hold_ns, hot, inner_ns, poll_ns;
static struct lock locks[MOST_LOCKS];
static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER;
static pthread_cond_t has_things = PTHREAD_COND_INITIALIZER;
static long things;
static long given[2]; /* sections that threads have taken, of those that take out apart */
static int over;

static void take(pthread_mutex_t *mutex) {
    if (poll_ns <= 0)
        pthread_mutex_lock(mutex);
    else
        while (pthread_mutex_trylock(mutex)) compute(poll_ns);
}

static void section(pthread_mutex_t *mutex) {
    take(mutex);
    compute(hold_ns);
    if (inner_ns > 0) {
        pthread_mutex_lock(&inside);
        compute(inner_ns);
        pthread_mutex_unlock(&inside);
    }
    pthread_mutex_unlock(mutex);
}

static void put(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    while (things == room) pthread_cond_wait(&has_room, mutex);
    compute(hold_ns);
    things++;
    pthread_cond_signal(&has_things);
    pthread_mutex_unlock(mutex);
}

static void get(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    while (things == 0) pthread_cond_wait(&has_things, mutex);
    compute(hold_ns);
    things--;
    pthread_cond_signal(&has_room);
    pthread_mutex_unlock(mutex);
}

static void *work(void *words) {
    long number = (intptr_t)words;
    uint64_t random = random_of(number);
    uint64_t choice = random ^ 0x9e3779b97f4a7c15u;
    int gets = room > 0 && number % 2;
    long mine = room > 0 ? sections / 2 : sections;
    while (__atomic_fetch_add(&given[gets], 1, __ATOMIC_RELAXED) < mine) {
        compute(think_ns * -log(uniform(&random)));
        long picked = 0;
        if (count > 1 && uniform(&choice) > hot)
            picked = 1 + (long)(uniform(&choice) * (count - 1)) % (count - 1);
        if (room == 0)
            section(&locks[picked].mutex);
        else if (gets)
            get(&locks[picked].mutex);
        else
            put(&locks[picked].mutex);
    }
    return NULL;
}

static void *help(void *unused) {
    (void)unused;
    struct timespec a_while = {.tv_nsec = 1000000};
    struct sched_param param;
    int policy;
    /* Among real-time threads, one that wakes would wait until another sleeps. */
    if (!pthread_getschedparam(pthread_self(), &policy, &param) && policy != SCHED_OTHER) {
        param.sched_priority++;
        pthread_setschedparam(pthread_self(), policy, &param);
    }
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        nanosleep(&a_while, NULL);
        section(&locks[0].mutex);
    }
    return NULL;
}

int main(int argc, char **words) {
    if (argc == 2 && !strcmp(words[1], "calibrate")) {
        calibrate();
        return 0;
    }
    if (argc != 12) return 2;
    per_ns = atof(words[1]);
    threads = atol(words[2]);
    sections = atol(words[3]);
    think_ns = atof(words[4]);
    hold_ns = atof(words[5]);
    count = atol(words[6]);
    hot = atof(words[7]);
    inner_ns = atof(words[8]);
    poll_ns = atof(words[9]);
    helpers = atol(words[10]);
    room = atol(words[11]);
    if (threads + helpers > MOST_THREADS || count > MOST_LOCKS) return 2;
    for (long lock = 0; lock < count; lock++) pthread_mutex_init(&locks[lock].mutex, NULL);
    pthread_t started[MOST_THREADS];
    double begin = now_ns(CLOCK_MONOTONIC);
    for (long number = 0; number < threads + helpers; number++)
        pthread_create(&started[number], NULL, number < threads ? work : help, (void *)(intptr_t)number);
    for (long number = 0; number < threads; number++) pthread_join(started[number], NULL);
    double ran = now_ns(CLOCK_MONOTONIC) - begin;
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (long number = threads; number < threads + helpers; number++)
        pthread_join(started[number], NULL);
    printf("%.0f\n", ran);
    return 0;
}
