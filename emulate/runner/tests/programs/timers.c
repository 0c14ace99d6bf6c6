// What the timer of a process does: timers KIND THREADS. Prints how many signals came, whether the first thread handled them all,
// how many µs passed by the clock, and what was left of the timer, in µs.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals, elsewhere;
static pthread_t first;
static volatile int sink;

static void note(int number)
{
    (void)number;
    signals++;
    if (!pthread_equal(pthread_self(), first))
        elsewhere++;
}

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static long set(long us, long every_us)
{
    struct itimerval new = {{every_us / 1000000, every_us % 1000000}, {us / 1000000, us % 1000000}}, old;
    if (setitimer(ITIMER_REAL, &new, &old) || new.it_value.tv_usec != us % 1000000)
        exit(3);
    return old.it_value.tv_sec * 1000000 + old.it_value.tv_usec;
}

static void *until_signal(void *unused)
{
    while (!signals)
        sink++;
    return unused;
}

static void *until_five(void *unused)
{
    while (signals < 5)
        sink++;
    return unused;
}

// A place to begin at.
__attribute__((noinline)) static void part(void)
{
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *kind = argv[1];
    int threads = atoi(argv[2]);
    pthread_t made[64];
    long left = 0;
    first = pthread_self();
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    long start = now_us();
    if (!strcmp(kind, "stop") || !strcmp(kind, "every") || !strcmp(kind, "blocked")) {
        set(2000, !strcmp(kind, "every") ? 1000 : 0);
        for (int i = 0; i < threads; i++)
            pthread_create(&made[i], NULL, !strcmp(kind, "every") ? until_five : until_signal, NULL);
        if (!strcmp(kind, "blocked")) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGALRM);
            pthread_sigmask(SIG_BLOCK, &set, NULL);
        }
        for (int i = 0; i < threads; i++)
            pthread_join(made[i], NULL);
        set(0, 0);
    } else if (!strcmp(kind, "alone")) {
        set(2000, 0);
        until_signal(NULL);
        part();
    } else if (!strcmp(kind, "nap")) {
        set(3000, 0);
        usleep(900000);
    } else if (!strcmp(kind, "pause")) {
        alarm(1);
        pause();
    } else if (!strcmp(kind, "left")) {
        struct itimerval is;
        set(10000, 0);
        usleep(4000);
        getitimer(ITIMER_REAL, &is);
        left = is.it_value.tv_usec;
        if (labs(set(0, 0) - left) > 50)
            return 4;
        usleep(20000);
    } else if (!strcmp(kind, "pipe")) {
        // Nobody writes to it.
        int ends[2];
        char byte;
        action.sa_flags = 0;
        sigaction(SIGALRM, &action, NULL);
        if (pipe(ends))
            return 4;
        set(2000, 0);
        if (read(ends[0], &byte, 1) != -1)
            return 5;
    } else if (!strcmp(kind, "outside")) {
        // It waits for what never comes, until it is interrupted; then, once more, for what has come.
        uint64_t times;
        action.sa_flags = 0;
        sigaction(SIGALRM, &action, NULL);
        int never = timerfd_create(CLOCK_MONOTONIC, 0);
        if (never < 0)
            return 4;
        alarm(1);
        if (read(never, &times, sizeof times) != -1)
            return 5;
        struct itimerspec soon = {{0, 0}, {0, 1}};
        timerfd_settime(never, 0, &soon, NULL);
        set(500000, 500000);
        if (read(never, &times, sizeof times) != sizeof times)
            return 6;
        set(0, 0);
    } else {
        return 2;
    }
    printf("%d %s %ld %ld\n", (int)signals, elsewhere ? "elsewhere" : "first", now_us() - start, left);
    return 0;
}
