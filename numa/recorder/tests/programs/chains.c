// Two threads that take a lock in turns and write lines of data under it, which they reach in some way.
// Usage: chains KIND LINES ROUNDS. Prints the lock's address. The threads do nothing else under the lock, and
// all that they need to know before lies in lines that nobody writes.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define MOST 64

struct Node {
    struct Node *next;
    long value;
} __attribute__((aligned(LINE)));

static atomic_int word __attribute__((aligned(LINE)));
static atomic_long turn __attribute__((aligned(LINE)));
static struct Node nodes[MOST] __attribute__((aligned(LINE)));
// In one line, and written as well.
static struct {
    unsigned char index[LINE - sizeof(long)];
    long value;
} order __attribute__((aligned(LINE)));
static atomic_long apart __attribute__((aligned(LINE)));
static struct {
    long rounds, lines;
} told __attribute__((aligned(LINE)));

// The address of each line is known.
static void adjacent(void) {
    for (long at = 0; at < told.lines; at++) nodes[at].value++;
}

// The same, and nothing is read.
static void written(void) {
    for (long at = 0; at < told.lines; at++) *(volatile long *)&nodes[at].value = at;
}

// The address of each line is in the line before.
static void chained(void) {
    for (struct Node *node = nodes; node != NULL; node = node->next) node->value++;
}

// The address of each line is in the line before, and passes through memory on the way.
static void spilled(void) {
    struct Node *volatile node = nodes;
    while (node != NULL) {
        node->value++;
        node = node->next;
    }
}

// All addresses are in one line.
static void indexed(void) {
    order.value++;
    for (long at = 0; at < told.lines; at++) nodes[order.index[at]].value++;
}

// Which line is next depends on a comparison of what is in this one.
static void chosen(void) {
    struct Node *node = nodes;
    while (node != NULL) {
        node->value++;
        struct Node *first = node->next, *second = nodes;
        __asm__ volatile("testq %1, %1; cmovs %2, %0"
                         : "+r"(first)
                         : "r"(node->value), "r"(second)
                         : "cc");
        node = first;
    }
}

// Each address is a constant: what was loaded is multiplied away by what does not depend on it.
static void forgotten(void) {
    for (long at = 0; at < told.lines; at++) {
        long known = nodes[at].value;
        __asm__ volatile("xorq %0, %0" : "+r"(known));
        nodes[at].value = known + 1;
        nodes[known + at].value++;
    }
}

// Three hundred instructions lie between two lines.
static void distant(void) {
    for (long at = 0; at < told.lines; at++) {
        nodes[at].value++;
        long left = 150;
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(left) : : "cc");
    }
}

// An update in one step lies between two lines.
static void fenced(void) {
    for (long at = 0; at < told.lines; at++) {
        nodes[at].value++;
        if (at + 1 < told.lines) atomic_fetch_add(&apart, 1);
    }
}

typedef void (*Kind)(void);

static struct {
    const char *name;
    Kind kind;
} kinds[] = {
    {"adjacent", adjacent}, {"written", written},     {"chained", chained},
    {"spilled", spilled},   {"indexed", indexed},     {"chosen", chosen},
    {"forgotten", forgotten}, {"distant", distant},   {"fenced", fenced},
};

static Kind work;

static void *run(void *which) {
    long me = (long)which;
    Kind kind = work;
    for (long round = 0; round < told.rounds; round++) {
        while (atomic_load(&turn) != me) sched_yield();
        while (atomic_exchange(&word, 1) != 0) sched_yield();
        kind();
        atomic_store_explicit(&word, 0, memory_order_release);
        atomic_store(&turn, 1 - me);
    }
    return NULL;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    for (unsigned at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        if (strcmp(words[1], kinds[at].name) == 0) work = kinds[at].kind;
    }
    long lines = told.lines = atol(words[2]);
    told.rounds = atol(words[3]);
    if (work == NULL || lines < 1 || lines > 48) return 2;
    // In an order that is not that of the addresses.
    long step = lines % 7 == 0 ? 5 : 7, at = 0;
    for (long number = 0; number < lines; number++) {
        long next = (at + step) % lines;
        order.index[number] = (unsigned char)at;
        nodes[at].next = number + 1 < lines ? &nodes[next] : NULL;
        at = next;
    }
    pthread_t threads[2];
    for (long id = 0; id < 2; id++) {
        if (pthread_create(&threads[id], NULL, run, (void *)id) != 0) return 1;
    }
    for (long id = 0; id < 2; id++) pthread_join(threads[id], NULL);
    printf("%lu\n", (unsigned long)&word);
    return 0;
}
