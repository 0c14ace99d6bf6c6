/* More threads than cores on one mutex where a sandbox refuses membarrier(2). */
#include "check.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

enum { THREADS = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t done;
static long value;

static void refuse_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    GIVES(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    GIVES(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    GIVES(-1, syscall(SYS_membarrier, 0, 0, 0));
}

static void *count(void *argument)
{
    long mine = 0;
    for (struct timespec end = until(150); !over(end);) {
        GIVES(0, pthread_mutex_lock(&mutex));
        value++;
        if (mine++ % 16 == 0)
            sched_yield();
        GIVES(0, pthread_mutex_unlock(&mutex));
    }
    pthread_barrier_wait(&done);
    (void)argument;
    return (void *)mine;
}

int main(void)
{
    refuse_membarrier();
    pthread_barrier_init(&done, NULL, THREADS);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(count, NULL);
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        void *mine;
        GIVES(0, pthread_join(threads[i], &mine));
        sum += (long)mine;
    }
    GIVES(sum, value);
    GIVES(0, pthread_mutex_destroy(&mutex));
    return finish();
}
