/* The first mutex of a process, inside a sandbox that forbids every system call. */
#include "check.h"
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* May only read, write and exit. */
static void work(void)
{
    int right = 1;
    right &= prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
    for (int i = 0; i < 3; i++) {
        right &= pthread_mutex_lock(&mutex) == 0;
        right &= pthread_mutex_lock(&other) == 0;
        right &= pthread_mutex_trylock(&mutex) == EBUSY;
        right &= pthread_cond_signal(&cond) == 0;
        right &= pthread_mutex_unlock(&other) == 0;
        right &= pthread_mutex_unlock(&mutex) == 0;
    }
    syscall(SYS_exit, !right);
}

static void *work_in_a_thread(void *argument)
{
    work();
    return argument;
}

static void ends_well(pid_t child)
{
    int status;
    GIVES(child, waitpid(child, &status, 0));
    GIVES(0, status);
}

int main(void)
{
    pid_t child = fork();
    if (child == 0)
        work();
    ends_well(child);
    child = fork();
    if (child == 0) {
        pthread_t thread = start(work_in_a_thread, NULL);
        pthread_join(thread, NULL); /* the kernel says that it has ended */
        _exit(0);
    }
    ends_well(child);
    return finish();
}
