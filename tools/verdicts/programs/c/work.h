/* What the programs in C and C++ share: computing by steps that a compiler cannot leave out, threads
 * that are joined, and the command line THREADS SECTIONS HOLD THINK.
 *
 * SECTIONS is the work of the whole program, so that the time of a run says how fast it was. HOLD and
 * THINK are steps of some nanoseconds each, in the section and between two of them. */
#ifndef WORK_H
#define WORK_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORK_THREADS_MOST = 256 };

static long threads, sections, hold, think;

static inline uint64_t compute(uint64_t value, long steps) {
    for (long step = 0; step < steps; step++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    return value;
}

static inline void arguments(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "usage: %s THREADS SECTIONS HOLD THINK\n", words[0]);
        exit(2);
    }
    threads = atol(words[1]);
    sections = atol(words[2]);
    hold = atol(words[3]);
    think = atol(words[4]);
    if (threads < 1 || threads > WORK_THREADS_MOST) {
        fprintf(stderr, "%s: at most %d threads\n", words[0], WORK_THREADS_MOST);
        exit(2);
    }
}

/* Runs `body` in as many threads as were asked for; each is given its number. */
static inline void run_threads(void *(*body)(void *)) {
    pthread_t all[WORK_THREADS_MOST];
    for (long each = 0; each < threads; each++)
        if (pthread_create(&all[each], NULL, body, (void *)each) != 0)
            exit(1);
    for (long each = 0; each < threads; each++)
        pthread_join(all[each], NULL);
}

#endif
