// Threads that compute and take a lock: work THREADS ROUNDS THINK HOLD KIND. KIND is none, mutex, ticket, spin or
// atomic.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int threads, rounds, think, hold;
static const char *kind;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static _Alignas(64) atomic_uint next_ticket;
static _Alignas(64) atomic_uint serving;
static _Alignas(64) unsigned long counter;
static _Alignas(64) atomic_ulong sum;

// One turn is three instructions.
static inline void compute(int turns)
{
    for (int i = 0; i < turns; i++)
        __asm__ volatile("" ::: );
}

static void *run(void *unused)
{
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        compute(think);
        if (!strcmp(kind, "mutex")) {
            pthread_mutex_lock(&mutex);
            compute(hold);
            counter++;
            pthread_mutex_unlock(&mutex);
        } else if (!strcmp(kind, "spin")) {
            pthread_spin_lock(&spin);
            compute(hold);
            counter++;
            pthread_spin_unlock(&spin);
        } else if (!strcmp(kind, "ticket")) {
            unsigned mine = atomic_fetch_add(&next_ticket, 1);
            while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
                __asm__ volatile("pause");
            compute(hold);
            counter++;
            atomic_store_explicit(&serving, mine + 1, memory_order_release);
        } else if (!strcmp(kind, "atomic")) {
            atomic_fetch_add(&sum, 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    threads = atoi(argv[1]), rounds = atoi(argv[2]), think = atoi(argv[3]), hold = atoi(argv[4]);
    kind = argv[5];
    pthread_spin_init(&spin, 0);
    pthread_t *made = calloc(threads, sizeof *made);
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    unsigned long done = !strcmp(kind, "atomic") ? sum : counter;
    if (strcmp(kind, "none") && done != (unsigned long)threads * rounds)
        return 3;
    printf("%lu\n", done);
    return 0;
}
