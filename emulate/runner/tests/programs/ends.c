// Programs that end in odd ways: ends HOW.
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_it(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *leave(void *unused)
{
    (void)unused;
    exit(5);
}

static void *nothing(void *unused)
{
    return unused;
}

static void say_that_it_goes_on(void)
{
    if (write(STDOUT_FILENO, "goes on\n", 8) != 8)
        _exit(3);
}

static void *wait_for_ever(void *unused)
{
    int word = 0;
    while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    say_that_it_goes_on();
    return unused;
}

static void *sleep_for_long(void *unused)
{
    sleep(1000000);
    say_that_it_goes_on();
    return unused;
}

static int number;

static void *say_the_number(void *unused)
{
    __atomic_store_n(&number, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    for (volatile int i = 0; i < 2000; i++)
        ;
    // Without blocking all signals first, as the C library does.
    syscall(SYS_exit, 0);
    return unused;
}

static void handle(int unused)
{
    (void)unused;
}

// Sends a thread signals until it is gone.
static void signal_to_its_end(void)
{
    pthread_t thread;
    int to;
    __atomic_store_n(&number, 0, __ATOMIC_SEQ_CST);
    pthread_create(&thread, NULL, say_the_number, NULL);
    while ((to = __atomic_load_n(&number, __ATOMIC_SEQ_CST)) == 0)
        ;
    for (int i = 0; i < 200 && syscall(SYS_tgkill, getpid(), to, SIGUSR1) == 0; i++)
        ;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (!strcmp(how, "deadlock")) {
        pthread_mutex_lock(&mutex);
        pthread_create(&thread, NULL, wait_for_it, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(how, "owns")) {
        // A file that no other run may have meanwhile.
        if (open(argv[2], O_CREAT | O_EXCL | O_WRONLY, 0600) < 0)
            return 3;
        for (volatile long i = 0; i < 30000000; i++)
            ;
        return unlink(argv[2]);
    } else if (!strcmp(how, "middle")) {
        pthread_create(&thread, NULL, leave, NULL);
        for (;;)
            ;
    } else if (!strcmp(how, "waiting")) {
        for (int i = 0; i < 8; i++)
            pthread_create(&thread, NULL, i % 2 ? sleep_for_long : wait_for_ever, NULL);
        usleep(1000);
        return 6;
    } else if (!strcmp(how, "signalled")) {
        signal(SIGUSR1, handle);
        for (int i = 0; i < 20; i++)
            signal_to_its_end();
    } else if (!strcmp(how, "killed")) {
        pthread_create(&thread, NULL, nothing, NULL);
        raise(SIGKILL);
    } else if (!strcmp(how, "aborts")) {
        abort();
    } else if (!strcmp(how, "forks")) {
        pid_t child = fork();
        if (child == 0) {
            pthread_create(&thread, NULL, nothing, NULL);
            pthread_join(thread, NULL);
            _exit(7);
        }
        int status;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    } else if (!strcmp(how, "pipe")) {
        int ends[2];
        char byte = 0;
        if (pipe(ends))
            return 1;
        if (fork() == 0) {
            usleep(10000);
            return write(ends[1], "x", 1) != 1;
        }
        return read(ends[0], &byte, 1) != 1 || byte != 'x';
    } else if (!strcmp(how, "replaced")) {
        execl("/nowhere", "nowhere", NULL);
        execl("/bin/true", "true", NULL);
    } else if (!strcmp(how, "no-such")) {
        execl("/nowhere", "nowhere", NULL);
    } else if (!strcmp(how, "many")) {
        for (int i = 0; i < 200; i++) {
            pthread_t many[4];
            for (int j = 0; j < 4; j++)
                pthread_create(&many[j], NULL, nothing, NULL);
            for (int j = 0; j < 4; j++)
                pthread_join(many[j], NULL);
        }
        pthread_t all[200];
        for (int i = 0; i < 200; i++)
            pthread_create(&all[i], NULL, nothing, NULL);
        for (int i = 0; i < 200; i++)
            pthread_join(all[i], NULL);
    }
    return 0;
}
