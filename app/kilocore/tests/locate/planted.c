/* A server of a sort that does not scale, for one planted reason at a time.
 *
 *   planted KIND THREADS UNITS
 *
 * does UNITS units of work on THREADS threads and prints how many. The work is the same for every
 * KIND: some arithmetic and some sorting. On top of it the planted function, planted_KIND, takes
 * longer the more threads there are:
 *
 *   lock       they all take one spin lock, and the section grows with what they share
 *   counter    each counts in a word of its own, and all words are in one cache line
 *   scan       a list of all sessions is walked once for each session, and each thread has some
 *   copy       a message is copied whole, and each thread makes it longer
 *   syscall    the kernel is asked once for each thread
 *   none       nothing
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLANT __attribute__((noinline, noclone))

static int threads;
static long units_each;
static void (*plant)(int self);

static __thread volatile uint64_t sink;

PLANT static uint64_t compute(uint64_t seed) {
    for (int i = 0; i < 4000; i++) seed = seed * 6364136223846793005u + (seed >> 33);
    return seed;
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

PLANT static uint64_t sort_some(uint64_t seed) {
    uint32_t values[128];
    for (int i = 0; i < 128; i++) values[i] = (uint32_t)(seed = seed * 2862933555777941757u + 3037u);
    qsort(values, 128, sizeof *values, by_value);
    return values[64];
}

static pthread_spinlock_t lock;
static volatile uint64_t shared[64];

PLANT static void planted_lock(int self) {
    (void)self;
    pthread_spin_lock(&lock);
    for (int t = 0; t < threads * threads; t++)
        for (int i = 0; i < 2048; i++) shared[i % 64] += 1;
    pthread_spin_unlock(&lock);
}

static struct { _Alignas(64) volatile uint64_t of_thread[8]; } counters;

PLANT static void planted_counter(int self) {
    for (int i = 0; i < 1500; i++)
        __atomic_fetch_add(&counters.of_thread[self % 8], 1, __ATOMIC_SEQ_CST);
}

static volatile uint32_t sessions[4096];

PLANT static void planted_scan(int self) {
    int count = 48 * threads;
    uint64_t found = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) found += sessions[(i + j) % 4096] == (uint32_t)self;
    sink += found;
}

#define MESSAGE (192 * 1024)
static char *message;
static __thread char *copied;

PLANT static void planted_copy(int self) {
    size_t length = (size_t)MESSAGE * threads * threads;
    if (!copied) copied = malloc(length);
    memcpy(copied, message, length);
    sink += (unsigned char)copied[self];
}

PLANT static void planted_syscall(int self) {
    struct stat found;
    for (int t = 0; t < threads * threads * 8; t++) sink += stat("/proc/self/status", &found) + self;
}

PLANT static void planted_none(int self) { sink += self; }

static void *work(void *argument) {
    int self = (int)(intptr_t)argument;
    for (long unit = 0; unit < units_each; unit++) {
        sink += compute(unit) + sort_some(unit);
        plant(self);
    }
    return NULL;
}

int main(int argc, char **argv) {
    static const struct { const char *kind; void (*plant)(int); } plants[] = {
        {"lock", planted_lock}, {"counter", planted_counter}, {"scan", planted_scan},
        {"copy", planted_copy}, {"syscall", planted_syscall}, {"none", planted_none},
    };
    if (argc != 4) return 2;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        if (!strcmp(argv[1], plants[i].kind)) plant = plants[i].plant;
    threads = atoi(argv[2]);
    if (!plant || threads < 1 || threads > 64) return 2;
    units_each = atol(argv[3]) / threads;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    message = calloc((size_t)threads * threads, MESSAGE);
    pthread_t ids[64];
    for (int t = 0; t < threads; t++) pthread_create(&ids[t], NULL, work, (void *)(intptr_t)t);
    for (int t = 0; t < threads; t++) pthread_join(ids[t], NULL);
    printf("units done: %ld\n", units_each * threads);
    return 0;
}
