// Two threads, each on a core of its own if there are two, that take a lock in turns and write lines of data
// under it.
// Usage: turns ROUNDS [KIND [LINES]]. KIND says how they find the lines: adjacent, chained (each has the address
// of the next one) or indexed (the numbers of all are in one line). With own, lines are adjacent and the lock
// is a spin lock of the program's own; otherwise it is a mutex.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define MOST 63

struct Node {
    struct Node *next;
    long value;
} __attribute__((aligned(LINE)));

static pthread_mutex_t mutex __attribute__((aligned(LINE))) = PTHREAD_MUTEX_INITIALIZER;
static atomic_int word __attribute__((aligned(LINE)));
static atomic_long turn __attribute__((aligned(LINE)));
static struct Node nodes[MOST] __attribute__((aligned(LINE)));
// Nobody writes these two lines.
static unsigned char order[LINE] __attribute__((aligned(LINE)));
static struct {
    long rounds, lines;
    void (*work)(void);
    int own;
} told __attribute__((aligned(LINE)));

static void adjacent(void) {
    for (long at = 0; at < told.lines; at++) nodes[at].value++;
}

static void chained(void) {
    for (struct Node *node = nodes; node != NULL; node = node->next) node->value++;
}

static void indexed(void) {
    for (long at = 0; at < told.lines; at++) nodes[order[at]].value++;
}

__attribute__((noinline)) static void deposit(void) {
    pthread_mutex_lock(&mutex);
    told.work();
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void withdraw(void) {
    while (atomic_exchange(&word, 1) != 0) sched_yield();
    told.work();
    atomic_store_explicit(&word, 0, memory_order_release);
}

// Gives a thread a core of its own, if the program has two.
static void pin(long me) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    int core = 0;
    for (long passed = -1; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &allowed) && ++passed == me) break;
    }
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *run(void *which) {
    long me = (long)which;
    pin(me);
    for (long round = 0; round < told.rounds; round++) {
        while (atomic_load(&turn) != me) sched_yield();
        if (told.own) withdraw(); else deposit();
        atomic_store(&turn, 1 - me);
    }
    return NULL;
}

// Chains the nodes in an order that is not that of their addresses.
static void put_in_order(void) {
    long lines = told.lines, step = lines % 7 == 0 ? 5 : 7, at = 0;
    for (long number = 0; number < lines; number++) {
        long next = (at + step) % lines;
        order[number] = (unsigned char)at;
        nodes[at].next = number + 1 < lines ? &nodes[next] : NULL;
        at = next;
    }
}

int main(int count, char **words) {
    pthread_t threads[2];
    if (count < 2) return 2;
    const char *kind = count > 2 ? words[2] : "adjacent";
    told.rounds = atol(words[1]);
    told.lines = count > 3 ? atol(words[3]) : 4;
    if (told.lines < 1 || told.lines > MOST) return 2;
    told.own = strcmp(kind, "own") == 0;
    told.work = strcmp(kind, "chained") == 0 ? chained
        : strcmp(kind, "indexed") == 0 ? indexed : adjacent;
    put_in_order();
    for (long id = 0; id < 2; id++) {
        if (pthread_create(&threads[id], NULL, run, (void *)id) != 0) return 1;
    }
    for (long id = 0; id < 2; id++) pthread_join(threads[id], NULL);
    return 0;
}
