/* Threads that take one spin lock, or each its own, and change a few cache lines under it.
 *
 * contended THREADS SECONDS LINES THINK one|own: prints how often a lock was taken, a second. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, LINE = 8 };

static struct {
    pthread_spinlock_t lock;
    volatile long lines[64 * LINE];
} __attribute__((aligned(128))) data[MOST];
static struct {
    long count;
} __attribute__((aligned(128))) taken[MOST];
static volatile int stop;
static long lines, think;
static int own;

static void *work(void *number) {
    long thread = (long)number, count = 0;
    long at = own ? thread : 0;
    volatile long thought = 0;
    for (; !stop; count++) {
        pthread_spin_lock(&data[at].lock);
        for (long line = 0; line < lines; line++) data[at].lines[line * LINE]++;
        pthread_spin_unlock(&data[at].lock);
        for (long step = 0; step < think; step++) thought += step;
    }
    taken[thread].count = count;
    return NULL;
}

int main(int count, char **words) {
    if (count != 6) return 2;
    long threads = atol(words[1]), seconds = atol(words[2]), sum = 0;
    lines = atol(words[3]), think = atol(words[4]), own = !strcmp(words[5], "own");
    if (threads < 1 || threads > MOST || seconds < 1 || lines > 64) return 2;
    pthread_t handles[MOST];
    for (long i = 0; i < MOST; i++) pthread_spin_init(&data[i].lock, PTHREAD_PROCESS_PRIVATE);
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
