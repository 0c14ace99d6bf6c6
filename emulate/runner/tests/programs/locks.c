// So many threads take turns by a kind of lock: none (an atomic operation), plain, recursive, c11 or read-write.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum { TIMES = 1000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static const char *kind;
static long sum;

static void *run(void *unused) {
    for (int i = 0; i < TIMES; i++) {
        if (!strcmp(kind, "none")) {
            __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
        } else if (!strcmp(kind, "plain")) {
            pthread_mutex_lock(&mutex);
            sum++;
            pthread_mutex_unlock(&mutex);
        } else if (!strcmp(kind, "recursive")) {
            pthread_mutex_lock(&recursive);
            sum++;
            pthread_mutex_unlock(&recursive);
        } else if (!strcmp(kind, "c11")) {
            mtx_lock(&c11);
            sum++;
            mtx_unlock(&c11);
        } else {
            pthread_rwlock_wrlock(&rwlock);
            sum++;
            pthread_rwlock_unlock(&rwlock);
        }
    }
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long threads = atol(argv[1]);
    kind = argv[2];
    if (mtx_init(&c11, mtx_plain) != thrd_success) return 2;
    pthread_t made[64];
    for (long i = 0; i < threads; i++) pthread_create(&made[i], NULL, run, NULL);
    for (long i = 0; i < threads; i++) pthread_join(made[i], NULL);
    return sum != threads * TIMES;
}
