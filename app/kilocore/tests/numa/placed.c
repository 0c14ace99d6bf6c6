// A program whose memory is known to lie badly. The first thread fills all of it. Then four threads
// * read a table of 4 MiB,
// * update an array of 1 MiB each, which no other thread uses,
// * write all of a shared array of 2 MiB,
// * and use an array on their stacks.
// Threads are dealt to nodes in turn. The first one is thread 0, so two of the four, the threads 1 and 3,
// are on the other node of two.
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 4, TABLE = 4 << 20, OWN = 1 << 20, SHARED = 2 << 20, STACK = 128 << 10 };

static uint64_t *table, *own[THREADS];
static volatile uint64_t *shared;
static uint64_t sums[THREADS * 512];
static pthread_barrier_t barrier;
static sem_t begun;

static void *fresh(size_t bytes) {
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    return memory;
}

static void make_table(void) {
    table = fresh(TABLE);
    for (size_t i = 0; i < TABLE / 8; i++) table[i] = i;
}

static void make_own(size_t thread) {
    own[thread] = fresh(OWN + thread * 65536); // of a size of its own
    for (size_t i = 0; i < OWN / 8; i++) own[thread][i] = i;
}

static void make_shared(void) {
    shared = fresh(SHARED);
    for (size_t i = 0; i < SHARED / 8; i++) shared[i] = i;
}

static void *work(void *argument) {
    size_t thread = (size_t)argument;
    uint64_t sum = 0, at = thread;
    sem_post(&begun);
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < 600000; round++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += ((volatile uint64_t *)table)[(at >> 33) % (TABLE / 8)];
    }
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < OWN / 8; i++) ((volatile uint64_t *)own[thread])[i] += sum + i;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < SHARED / 8; i += 8) shared[i + thread] = sum + i;
    volatile uint64_t mine[STACK / 8];
    for (int round = 0; round < 10; round++)
        for (size_t i = 0; i < STACK / 8; i++) mine[i] = sum + i;
    sums[thread * 512] = sum + mine[at % (STACK / 8)];
    return NULL;
}

int main(void) {
    make_table();
    for (size_t thread = 0; thread < THREADS; thread++) make_own(thread);
    make_shared();
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    sem_init(&begun, 0, 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
        sem_wait(&begun); // so that threads are numbered in this order
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)(sums[0] + sums[512] + sums[1024] + sums[1536]));
    return 7;
}
