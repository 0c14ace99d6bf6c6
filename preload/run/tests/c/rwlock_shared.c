/* A read-write lock that two processes share keeps them apart, beside private ones. */
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { TURNS = 3000 };

struct both {
    pthread_rwlock_t lock;
    volatile long first, second;
};

static pthread_rwlock_t private = PTHREAD_RWLOCK_INITIALIZER;

static void work(struct both *both)
{
    struct timespec far = from_now(CLOCK_MONOTONIC, 90000);
    for (int i = 0; i < TURNS; i++) {
        GIVES(0, pthread_rwlock_rdlock(&private));
        switch (i % 6) {
        case 0:
            GIVES(0, pthread_rwlock_wrlock(&both->lock));
            GIVES(EDEADLK, pthread_rwlock_rdlock(&both->lock));
            both->first++;
            sched_yield();
            both->second++;
            break;
        case 1:
            GIVES(0, pthread_rwlock_clockwrlock(&both->lock, CLOCK_MONOTONIC, &far));
            GIVES(EBUSY, pthread_rwlock_tryrdlock(&both->lock));
            both->first++;
            both->second++;
            break;
        case 2:
            GIVES(0, pthread_rwlock_clockrdlock(&both->lock, CLOCK_MONOTONIC, &far));
            GIVES(both->first, both->second);
            break;
        default:
            GIVES(0, pthread_rwlock_rdlock(&both->lock));
            GIVES(EBUSY, pthread_rwlock_trywrlock(&both->lock));
            GIVES(both->first, both->second);
        }
        GIVES(0, pthread_rwlock_unlock(&both->lock));
        GIVES(0, pthread_rwlock_unlock(&private));
    }
}

int main(void)
{
    struct both *both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(both != MAP_FAILED);
    pthread_rwlockattr_t attr;
    GIVES(0, pthread_rwlockattr_init(&attr));
    GIVES(0, pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    GIVES(0, pthread_rwlock_init(&both->lock, &attr));
    pid_t child = fork();
    CHECK(child >= 0);
    work(both);
    if (child == 0)
        _exit(0);
    int status;
    GIVES(child, waitpid(child, &status, 0));
    GIVES(0, status);
    GIVES(2 * TURNS / 3, both->first);
    GIVES(0, pthread_rwlock_destroy(&both->lock));
    return finish();
}
