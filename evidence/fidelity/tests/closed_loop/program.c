/* A program whose think, hold, serial and barrier times are known, because its arguments say them:
 *
 *   program calibrate                     prints the turns of its loop in a nanosecond
 *   program TURNS THREADS ROUNDS SECTIONS THINK HOW HOLD SERIAL BARRIER
 *
 * THINK, HOLD and SERIAL are nanoseconds of computing. Each thread thinks and holds the mutex
 * SECTIONS times in each of ROUNDS rounds. HOW is how thinking varies: e exponentially, h so that
 * a hundredth of the times has 99 hundredths of the work. BARRIER ends each round: n none, p one of
 * the C library's, c one made of a mutex and a condition variable. With n there is one round. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../planted/computing.h"
#include "../planted/random.h"

static long threads, rounds, sections;
static double think_ns, hold_ns, serial_ns;
static char varies, barrier_kind;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static long inside, generation;
static long given; /* sections that threads have taken, where nothing ends a round */

static void wait_for_all(void) {
    if (barrier_kind == 'p') pthread_barrier_wait(&barrier);
    if (barrier_kind != 'c') return;
    pthread_mutex_lock(&gate);
    long mine = generation;
    if (++inside == threads) {
        inside = 0;
        generation++;
        pthread_cond_broadcast(&opened);
    } else {
        while (mine == generation) pthread_cond_wait(&opened, &gate);
    }
    pthread_mutex_unlock(&gate);
}

static void *work(void *number) {
    uint64_t random = random_of((intptr_t)number);
    for (long round = 0; round < rounds; round++) {
        for (long section = 0;; section++) {
            /* Without barriers threads take turns as they come, so that they end together. */
            long taken = barrier_kind == 'n'
                             ? __atomic_fetch_add(&given, 1, __ATOMIC_RELAXED) / threads
                             : section;
            if (taken >= sections) break;
            double drawn = uniform(&random);
            double think = think_ns;
            if (varies == 'e') think *= -log(drawn);
            if (varies == 'h') think *= drawn < 0.01 ? 99.0 : 1.0 / 99.0;
            compute(think);
            pthread_mutex_lock(&mutex);
            compute(hold_ns);
            pthread_mutex_unlock(&mutex);
        }
        wait_for_all();
    }
    return NULL;
}

int main(int count, char **words) {
    if (count == 2 && !strcmp(words[1], "calibrate")) {
        calibrate();
        return 0;
    }
    if (count != 10) return 2;
    per_ns = atof(words[1]);
    threads = atol(words[2]);
    rounds = atol(words[3]);
    sections = atol(words[4]);
    think_ns = atof(words[5]);
    varies = *words[6];
    hold_ns = atof(words[7]);
    serial_ns = atof(words[8]);
    barrier_kind = *words[9];
    pthread_barrier_init(&barrier, NULL, threads);
    compute(serial_ns / 2);
    pthread_t started[1024];
    for (long number = 0; number < threads; number++)
        pthread_create(&started[number], NULL, work, (void *)number);
    for (long number = 0; number < threads; number++) pthread_join(started[number], NULL);
    compute(serial_ns / 2);
    return 0;
}
