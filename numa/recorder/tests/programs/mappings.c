// Threads that map memory, let each other use it, and give it back, over and over: the same addresses are
// used for one mapping after the other.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 4
#define TIMES 300
#define BYTES (8 * 4096)

static char *slots[THREADS];
static pthread_barrier_t barrier;

static void wait_a_little(long *turns) {
    if (++*turns % 1000 == 0) sched_yield();
}

static void *work(void *argument) {
    long number = (long)argument;
    for (int time = 0; time < TIMES; time++) {
        char *own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (own == MAP_FAILED) exit(1);
        memset(own, (int)number, BYTES);
        // The other thread spins, and learns of it without the system's help, unless it takes long.
        long turns = 0;
        while (__atomic_load_n(&slots[number], __ATOMIC_ACQUIRE) != NULL) wait_a_little(&turns);
        __atomic_store_n(&slots[number], own, __ATOMIC_RELEASE);
        long next = (number + 1) % THREADS;
        char *other;
        while ((other = __atomic_exchange_n(&slots[next], NULL, __ATOMIC_ACQ_REL)) == NULL)
            wait_a_little(&turns);
        for (int i = 0; i < BYTES; i += 64) other[i]++;
        if (time % 3 == 0) madvise(other, BYTES, MADV_DONTNEED);
        if (time % 3 == 1) {
            other = mremap(other, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
            if (other == MAP_FAILED) exit(1);
            other[2 * BYTES - 1] = 1;
            munmap(other + BYTES, BYTES);
        }
        munmap(other, BYTES);
        if (time % 50 == 0) pthread_barrier_wait(&barrier);
        free(malloc(200000));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
