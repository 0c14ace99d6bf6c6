/* Takes locks for the first time inside a sandbox that kills for any system call but a few:
   `confined strict|filter|filter-by-number`. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rt_sigreturn, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static pthread_mutex_t mutexes[300];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static volatile long counter;

/* More locks than a recording has room for that cannot grow: a site has room for some 2,000. */
static pthread_mutex_t many[8][2000];

#define SITE(number)                                      \
    for (int i = 0; i < 2000; i++) {                      \
        pthread_mutex_lock(&many[number][i]);             \
        counter++;                                        \
        pthread_mutex_unlock(&many[number][i]);           \
    }

int main(int argc, char **argv) {
    const char *sandbox = argc > 1 ? argv[1] : "";
    struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};
    int failed;
    if (strcmp(sandbox, "strict") == 0) {
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    } else {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
            return 2;
        failed = strcmp(sandbox, "filter") == 0
                     ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                     : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    }
    if (failed)
        return 3;
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < 300; i++) {
            pthread_mutex_lock(&mutexes[i]);
            /* Now and then for long. */
            for (int turn = 0; i == round && turn < 100000; turn++)
                counter++;
            pthread_mutex_unlock(&mutexes[i]);
        }
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 10000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
    SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)
    static const char done[] = "done\n";
    syscall(SYS_write, 1, done, sizeof done - 1);
    syscall(SYS_exit, 0);
}
