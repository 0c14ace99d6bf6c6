// Waits for descriptors, and no longer than for a time: polls CALL WHO. WHO makes the descriptor ready after 10 ms: "nobody",
// "thread" (writes to it), "signal" (a signal in place of it), "outside" (nobody, but it is one of a kind that might come from
// outside), or there is "nothing" to wait for. Prints what the call returned,
// how many µs passed by the clock, and after how many the signal was handled.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 200, READY_US = 10000 };

static int ends[2];
static pthread_t first;
static const char *who;

static volatile long handled;

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static void note(int number)
{
    (void)number;
    handled = now_us();
}

static void *later(void *unused)
{
    usleep(READY_US);
    if (!strcmp(who, "signal"))
        pthread_kill(first, SIGUSR1);
    else if (write(ends[1], "", 1) != 1)
        exit(3);
    return unused;
}

static int waits(const char *call)
{
    int count = !!strcmp(who, "nothing");
    struct timespec time = {0, WAIT_MS * 1000000L};
    struct timeval old_time = {0, WAIT_MS * 1000L};
    struct pollfd one = {ends[0], POLLIN, 0};
    struct epoll_event event = {EPOLLIN, {0}};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    if (!strcmp(call, "poll"))
        return poll(&one, count, WAIT_MS);
    if (!strcmp(call, "ppoll"))
        return ppoll(&one, count, &time, NULL);
    if (!strcmp(call, "select"))
        return select(count ? ends[0] + 1 : 0, &set, NULL, NULL, &old_time);
    if (!strcmp(call, "pselect"))
        return pselect(count ? ends[0] + 1 : 0, &set, NULL, NULL, &time, NULL);
    int all = epoll_create1(0);
    if (count && epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &event))
        exit(4);
    return epoll_wait(all, &event, 1, WAIT_MS);
}

int main(int argc, char **argv)
{
    if (argc != 3 || pipe(ends))
        return 2;
    who = argv[2];
    if (!strcmp(who, "outside"))
        ends[0] = timerfd_create(CLOCK_MONOTONIC, 0);
    first = pthread_self();
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t other;
    int has_other = !strcmp(who, "thread") || !strcmp(who, "signal");
    long start = now_us();
    if (has_other)
        pthread_create(&other, NULL, later, NULL);
    int returned = waits(argv[1]);
    printf("%d %ld %ld\n", returned, now_us() - start, handled ? handled - start : 0);
    if (has_other)
        pthread_join(other, NULL);
    return 0;
}
