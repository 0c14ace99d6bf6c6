// Threads that take one lock so many times each, and write so many lines of data under it.
// Usage: locks KIND THREADS ROUNDS LINES. KIND is mutex, xchg or cmpxchg; or reader, a mutex under which all
// threads but one only read; or counter, which is no lock. Prints where
// the functions begin in which it is taken, and the word's address.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64

static struct {
    pthread_mutex_t mutex;
    int word;
} lock __attribute__((aligned(LINE))) = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static char data[1024 * LINE] __attribute__((aligned(LINE)));
static long rounds, lines;
static pthread_barrier_t all;

// Adds to the first word of each line. Four instructions for each, in a loop that nothing else is in.
static void work(void) {
    char *at = data;
    long left = lines;
    if (left == 0) return;
    __asm__ volatile("1: incq (%0); add $64, %0; dec %1; jnz 1b"
                     : "+r"(at), "+r"(left)
                     :
                     : "memory");
}

// The same with a load, which leaves the data as it is.
static void look(void) {
    char *at = data;
    long left = lines;
    if (left == 0) return;
    __asm__ volatile("1: movq (%0), %%rax; add $64, %0; dec %1; jnz 1b"
                     : "+r"(at), "+r"(left)
                     :
                     : "rax", "memory");
}

__attribute__((noinline)) static void mutex(void) {
    pthread_mutex_lock(&lock.mutex);
    work();
    pthread_mutex_unlock(&lock.mutex);
}

static void xchg(void) {
    int value = 1;
    for (;;) {
        __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(lock.word) : : "memory");
        if (value == 0) break;
        sched_yield();
    }
    work();
    __asm__ volatile("movl $0, %0" : "=m"(lock.word) : : "memory");
}

static void cmpxchg(void) {
    for (;;) {
        int value = 0;
        __asm__ volatile("lock cmpxchgl %2, %1"
                         : "+a"(value), "+m"(lock.word)
                         : "r"(1)
                         : "memory");
        if (value == 0) break;
        sched_yield();
    }
    work();
    __asm__ volatile("lock decl %0" : "+m"(lock.word) : : "memory");
}

static void reader(void) {
    pthread_mutex_lock(&lock.mutex);
    look();
    pthread_mutex_unlock(&lock.mutex);
}

static void counter(void) {
    __asm__ volatile("lock incl %0" : "+m"(lock.word) : : "memory");
    work();
}

typedef void (*Kind)(void);

static void *run(void *one) {
    pthread_barrier_wait(&all);
    for (long round = 0; round < rounds; round++) {
        ((Kind)one)();
        sched_yield();
    }
    return NULL;
}

static Kind kind(const char *name) {
    if (strcmp(name, "mutex") == 0) return mutex;
    if (strcmp(name, "xchg") == 0) return xchg;
    if (strcmp(name, "cmpxchg") == 0) return cmpxchg;
    if (strcmp(name, "reader") == 0) return reader;
    return counter;
}

int main(int count, char **words) {
    if (count != 5) return 2;
    Kind one = kind(words[1]);
    long threads = atol(words[2]);
    rounds = atol(words[3]);
    lines = atol(words[4]);
    pthread_t ids[64];
    if (threads > 64 || lines > 1024) return 2;
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (long id = 0; id < threads; id++) {
        Kind its = one == reader && id == 0 ? mutex : one;
        if (pthread_create(&ids[id], NULL, run, (void *)its) != 0) return 1;
    }
    for (long id = 0; id < threads; id++) pthread_join(ids[id], NULL);
    int is_mutex = one == mutex || one == reader;
    printf("%lu %lu\n", (unsigned long)run, (unsigned long)mutex);
    printf("%lu\n", is_mutex ? (unsigned long)&lock.mutex : (unsigned long)&lock.word);
    return 0;
}
