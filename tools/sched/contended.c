/* Threads that take one lock, or each its own, and change a few cache lines under it.
 *
 * contended THREADS SECONDS LINES THINK one|own [mutex]: prints how often a lock was taken, a second. Locks
 * are spin locks if not mutexes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, LINE = 8 };

static struct {
    union {
        pthread_spinlock_t spin;
        pthread_mutex_t mutex;
    } lock;
    volatile long lines[64 * LINE];
} __attribute__((aligned(128))) data[MOST];
static struct {
    long count;
} __attribute__((aligned(128))) taken[MOST];
static volatile int stop;
static long lines, think;
static int own, mutex;

static void *work(void *number) {
    long thread = (long)number, count = 0;
    long at = own ? thread : 0;
    volatile long thought = 0;
    for (; !stop; count++) {
        if (mutex) pthread_mutex_lock(&data[at].lock.mutex);
        else pthread_spin_lock(&data[at].lock.spin);
        for (long line = 0; line < lines; line++) data[at].lines[line * LINE]++;
        if (mutex) pthread_mutex_unlock(&data[at].lock.mutex);
        else pthread_spin_unlock(&data[at].lock.spin);
        for (long step = 0; step < think; step++) thought += step;
    }
    taken[thread].count = count;
    return NULL;
}

int main(int count, char **words) {
    if (count < 6 || count > 7) return 2;
    mutex = count == 7 && !strcmp(words[6], "mutex");
    long threads = atol(words[1]), seconds = atol(words[2]), sum = 0;
    lines = atol(words[3]), think = atol(words[4]), own = !strcmp(words[5], "own");
    if (threads < 1 || threads > MOST || seconds < 1 || lines > 64) return 2;
    pthread_t handles[MOST];
    for (long i = 0; i < MOST; i++)
        if (mutex) pthread_mutex_init(&data[i].lock.mutex, NULL);
        else pthread_spin_init(&data[i].lock.spin, PTHREAD_PROCESS_PRIVATE);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&handles[i], NULL, work, (void *)i)) return 3;
    sleep((unsigned)seconds);
    stop = 1;
    for (long i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        sum += taken[i].count;
    }
    printf("%ld\n", sum / seconds);
    return 0;
}
