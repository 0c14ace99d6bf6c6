// Two threads that take a lock in turns, and write four lines of data under it.
// Usage: turns ROUNDS [KIND]. KIND is mutex, or own, a spin lock of the program's own.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64

static pthread_mutex_t mutex __attribute__((aligned(LINE))) = PTHREAD_MUTEX_INITIALIZER;
static atomic_int word __attribute__((aligned(LINE)));
static atomic_long turn __attribute__((aligned(LINE)));
static volatile char data[4 * LINE] __attribute__((aligned(LINE)));
static long rounds;
static int own;

static void work(void) {
    for (int line = 0; line < 4; line++) data[line * LINE]++;
}

__attribute__((noinline)) static void deposit(void) {
    pthread_mutex_lock(&mutex);
    work();
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void withdraw(void) {
    while (atomic_exchange(&word, 1) != 0) sched_yield();
    work();
    atomic_store_explicit(&word, 0, memory_order_release);
}

static void *run(void *which) {
    long me = (long)which;
    for (long round = 0; round < rounds; round++) {
        while (atomic_load(&turn) != me) sched_yield();
        if (own) withdraw(); else deposit();
        atomic_store(&turn, 1 - me);
    }
    return NULL;
}

int main(int count, char **words) {
    pthread_t threads[2];
    if (count < 2) return 2;
    rounds = atol(words[1]);
    own = count > 2 && strcmp(words[2], "own") == 0;
    for (long id = 0; id < 2; id++) {
        if (pthread_create(&threads[id], NULL, run, (void *)id) != 0) return 1;
    }
    for (long id = 0; id < 2; id++) pthread_join(threads[id], NULL);
    return 0;
}
