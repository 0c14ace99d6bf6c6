// Programs with threads that a signal ends, or does not: crashes HOW OTHERS [FILE]. What threads say that should not have
// gone on is in the file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OTHERS = 3, PAGE = 4096, BEFORE = 200000 };

static const char *how, *others, *file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int number, ready, is_over;
static volatile long counts[OTHERS][64];
static sigjmp_buf back;
static char *page;
static volatile int *volatile nothing = (int *)8;
static volatile int is_deep;

static void goes_on(void)
{
    int to = open(file, O_CREAT | O_WRONLY, 0600);
    if (to < 0 || write(to, "goes on\n", 8) != 8)
        _exit(3);
}

static void compute(volatile long *count)
{
    while (!is_over)
        ++*count;
}

static void *other(void *which)
{
    long me = (long)which;
    number = (int)syscall(SYS_gettid);
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    int is_mixed = !strcmp(others, "mixed");
    if (!strcmp(others, "compute") || (is_mixed && me == 0)) {
        compute(counts[me]);
        return NULL;
    }
    if (!strcmp(others, "poll"))
        poll(NULL, 0, 1000000000);
    else if (!strcmp(others, "nap") || (is_mixed && me == 1))
        sleep(1000000);
    else
        pthread_mutex_lock(&mutex);
    goes_on();
    return NULL;
}

static int recurse(int depth)
{
    volatile char much[PAGE];
    much[0] = (char)depth;
    return is_deep ? 0 : recurse(depth + 1) + much[0];
}

static int write_to_nothing(void *unused)
{
    (void)unused;
    *nothing = 1;
    return 0;
}

static void is_born_and_crashes(void)
{
    char *stack = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    clone(write_to_nothing, stack + 16 * PAGE, flags, NULL);
    compute(counts[0]);
}

static void write_behind_a_file(void)
{
    int to = memfd_create("cut", 0);
    if (ftruncate(to, 2 * PAGE))
        _exit(3);
    volatile char *mapped = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
    mapped[PAGE] = 1;
    if (ftruncate(to, PAGE))
        _exit(3);
    mapped[PAGE] = 2;
}

static void permit(int unused)
{
    (void)unused;
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void jump(int unused)
{
    (void)unused;
    siglongjmp(back, 1);
}

static void handle(void)
{
    for (int i = 0; i < 20; i++) {
        signal(SIGSEGV, permit);
        page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        page[i] = 1;
        signal(SIGSEGV, jump);
        if (!sigsetjmp(back, 1))
            write_to_nothing(NULL);
    }
}

static void send(void)
{
    kill(getpid(), SIGTERM);
    syscall(SYS_tgkill, getpid(), number, SIGTERM);
}

static void crash(void)
{
    volatile int zero = 0;
    if (!strcmp(how, "segv"))
        write_to_nothing(NULL);
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "fpe"))
        zero = 7 / zero;
    else if (!strcmp(how, "ill"))
        __asm__ volatile("ud2");
    else if (!strcmp(how, "bus"))
        write_behind_a_file();
    else if (!strcmp(how, "stack"))
        recurse(0);
    else if (!strcmp(how, "born"))
        is_born_and_crashes();
    else if (!strcmp(how, "kill"))
        kill(getpid(), SIGTERM);
    else if (!strcmp(how, "tgkill"))
        syscall(SYS_tgkill, getpid(), number, SIGTERM);
    else if (!strcmp(how, "handled"))
        handle();
    else
        send();
}

static void *crashes(void *unused)
{
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < OTHERS)
        ;
    for (volatile int i = 0; i < BEFORE; i++)
        ;
    crash();
    is_over = 1;
    if (!strcmp(how, "kill") || !strcmp(how, "tgkill"))
        // Who gets the signal is not to be woken by this.
        pthread_mutex_lock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[OTHERS + 1];
    sigset_t set;
    if (argc < 3)
        return 2;
    how = argv[1];
    others = argv[2];
    file = argc > 3 ? argv[3] : "/dev/null";
    if (!strcmp(how, "ignored"))
        signal(SIGTERM, SIG_IGN);
    if (!strcmp(how, "blocked")) {
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
    }
    pthread_mutex_lock(&mutex);
    for (long i = 0; i < OTHERS; i++)
        pthread_create(&threads[i], NULL, other, (void *)i);
    pthread_create(&threads[OTHERS], NULL, crashes, NULL);
    for (int i = 0; i <= OTHERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
