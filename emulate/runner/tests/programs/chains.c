// Programs whose chain of waits is known: chains KIND, which is serial, pipeline, lock, barrier, spin or sleep.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 60, SLOTS = 4 };

// One turn is some three instructions. Their text keeps the compiler from making one function of several.
#define COMPUTES(name)                                                                                                \
    static __attribute__((noinline, noclone)) void name(int turns)                                                    \
    {                                                                                                                 \
        for (int i = 0; i < turns; i++)                                                                               \
            __asm__ volatile("nop # " #name ::: "memory");                                                                     \
    }

COMPUTES(first)
COMPUTES(second)
COMPUTES(third)
COMPUTES(under_the_lock)
COMPUTES(think)
COMPUTES(quick)
COMPUTES(slow)

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int filled;
};

static struct queue queues[2] = {
    {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0},
    {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0},
};

static __attribute__((noinline, noclone)) void put(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->filled == SLOTS)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    queue->filled++;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

static __attribute__((noinline, noclone)) void take(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->filled == 0)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    queue->filled--;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

static void *stage_one(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        first(10000);
        put(&queues[0]);
    }
    return unused;
}

static void *stage_two(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        take(&queues[0]);
        second(40000);
        put(&queues[1]);
    }
    return unused;
}

static void *stage_three(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        take(&queues[1]);
        third(10000);
    }
    return unused;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        think(10000);
        pthread_mutex_lock(&mutex);
        under_the_lock(20000);
        pthread_mutex_unlock(&mutex);
        // What comes now keeps the call above from being the last.
        __asm__ volatile("" ::: "memory");
    }
    return unused;
}

static pthread_barrier_t barrier;

static void *meets(void *index)
{
    for (int i = 0; i < ROUNDS; i++) {
        if ((long)index == 2)
            slow(40000);
        else
            quick(4000);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static _Alignas(64) atomic_int turn;

static void *spins(void *index)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) % 2 != (long)index)
            __asm__ volatile("pause");
        if (index)
            slow(40000);
        else
            quick(4000);
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

static void *sleeps(void *unused)
{
    usleep(3000);
    return unused;
}

static void run(int many, void *(*body)(void *), pthread_t *made)
{
    for (long i = 0; i < many; i++)
        pthread_create(&made[i], NULL, body, (void *)i);
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *kind = argv[1];
    pthread_t made[THREADS];
    int many = THREADS;
    if (!strcmp(kind, "serial")) {
        for (int i = 0; i < ROUNDS; i++) {
            first(20000);
            second(10000);
        }
        return 0;
    }
    if (!strcmp(kind, "pipeline")) {
        many = 3;
        pthread_create(&made[0], NULL, stage_one, NULL);
        pthread_create(&made[1], NULL, stage_two, NULL);
        pthread_create(&made[2], NULL, stage_three, NULL);
    } else if (!strcmp(kind, "lock")) {
        run(many, locks, made);
    } else if (!strcmp(kind, "barrier")) {
        pthread_barrier_init(&barrier, NULL, many);
        run(many, meets, made);
    } else if (!strcmp(kind, "spin")) {
        run(many = 2, spins, made);
    } else if (!strcmp(kind, "sleep")) {
        run(many = 1, sleeps, made);
    } else {
        return 2;
    }
    for (int i = 0; i < many; i++)
        pthread_join(made[i], NULL);
    return 0;
}
