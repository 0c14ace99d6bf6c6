// Threads that talk to each other by descriptors: pipes HOW. Prints what it has found, and how many µs passed by the clock.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 100, WORK = 30000, WORKERS = 4, TASKS = 40, LARGE = 1 << 20, BLOCK = 30000, LATER_US = 10000 };

// A pipe in each direction, or twice the same counters.
static int there[2], back[2];
static pthread_t first;
static const char *how;
static volatile int handled;
static int done[WORKERS];

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

// Two instructions a turn.
__attribute__((noinline)) static void compute(long turns)
{
    __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns));
}

static void fail(const char *what)
{
    printf("%s failed: %d\n", what, errno);
    exit(3);
}

__attribute__((noinline)) static void give(int to)
{
    uint64_t one = 1;
    if (write(to, &one, sizeof one) != sizeof one)
        fail("write");
}

__attribute__((noinline)) static void take(int from)
{
    uint64_t one = 0;
    if (read(from, &one, sizeof one) != sizeof one || one != 1)
        fail("read");
}

static void *answers(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        take(there[0]);
        compute(WORK);
        give(back[1]);
    }
    return unused;
}

// The turns of two threads one after the other.
static void ping_pong(void)
{
    pthread_t other;
    pthread_create(&other, NULL, answers, NULL);
    long start = now_us();
    for (int i = 0; i < TURNS; i++) {
        compute(WORK);
        give(there[1]);
        take(back[0]);
    }
    printf("%d %ld\n", TURNS, now_us() - start);
    pthread_join(other, NULL);
}

static void *works(void *number)
{
    char task;
    while (read(there[0], &task, 1) == 1) {
        compute(WORK);
        done[(long)number]++;
        if (write(back[1], &task, 1) != 1)
            fail("write");
    }
    return NULL;
}

static void pool(void)
{
    pthread_t workers[WORKERS];
    char task;
    int most = 0, all = 0;
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, works, (void *)i);
    long start = now_us();
    for (int i = 0; i < TASKS; i++)
        if (write(there[1], "t", 1) != 1)
            fail("write");
    for (int i = 0; i < TASKS; i++)
        if (read(back[0], &task, 1) != 1)
            fail("read");
    long passed = now_us() - start;
    // They all find its end.
    close(there[1]);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
        all += done[i];
        most = done[i] > most ? done[i] : most;
    }
    printf("%d %ld\n", all == TASKS ? most : -1, passed);
}

static void *writes_later(void *unused)
{
    usleep(LATER_US);
    give(there[1]);
    return unused;
}

static void waits_for_one(void)
{
    pthread_t other;
    struct pollfd one = {there[0], POLLIN, 0};
    struct epoll_event event = {EPOLLIN, {0}};
    int all = epoll_create1(0), found;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(there[0], &set);
    if (!strncmp(how, "epoll", 5) && epoll_ctl(all, EPOLL_CTL_ADD, there[0], &event))
        fail("epoll_ctl");
    pthread_create(&other, NULL, writes_later, NULL);
    long start = now_us();
    if (!strncmp(how, "poll", 4))
        found = poll(&one, 1, -1);
    else if (!strncmp(how, "select", 6))
        found = select(there[0] + 1, &set, NULL, NULL, NULL);
    else
        found = epoll_wait(all, &event, 1, -1);
    printf("%d %ld\n", found, now_us() - start);
    take(there[0]);
    pthread_join(other, NULL);
}

static void *writes_much(void *size)
{
    char *all = calloc(1, (long)size);
    if (write(there[1], all, (long)size) != (long)size)
        fail("write");
    close(there[1]);
    free(all);
    return NULL;
}

static void *writes_blocks(void *unused)
{
    static char block[BLOCK];
    for (int i = 0; i < 20; i++)
        if (write(there[1], block, BLOCK) != BLOCK)
            fail("write");
    close(there[1]);
    return unused;
}

static void reads_all(void *(*writes)(void *), long size)
{
    static char some[3000];
    pthread_t other;
    long all = 0, got;
    pthread_create(&other, NULL, writes, (void *)size);
    long start = now_us();
    while ((got = read(there[0], some, sizeof some)) > 0) {
        all += got;
        compute(WORK / 10);
    }
    printf("%ld %ld\n", all, now_us() - start);
    pthread_join(other, NULL);
}

static void note(int number)
{
    (void)number;
    handled++;
}

static void *signals_and_writes(void *unused)
{
    usleep(LATER_US);
    pthread_kill(first, SIGUSR1);
    usleep(LATER_US);
    if (!handled)
        fail("handling");
    give(there[1]);
    return unused;
}

// A read that a signal interrupts, and that goes on or not.
static void signalled(int flags)
{
    pthread_t other;
    uint64_t one;
    struct sigaction action = {.sa_handler = note, .sa_flags = flags};
    struct pollfd asked = {there[0], POLLIN, 0};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&other, NULL, signals_and_writes, NULL);
    long start = now_us();
    long got = strcmp(how, "interrupted-poll") ? read(there[0], &one, sizeof one) : poll(&asked, 1, -1);
    printf("%ld %ld\n", got < 0 ? -errno : got, now_us() - start);
    pthread_join(other, NULL);
}

static void *waits_for_ever(void *unused)
{
    take(there[0]);
    return unused;
}

static void stands(void)
{
    pthread_t other;
    pthread_create(&other, NULL, waits_for_ever, NULL);
    take(back[0]);
}

static void tell(int number)
{
    (void)number;
    give(back[1]);
}

// Waits for a signal that somebody else sends, whose handler says so by a pipe.
static void served(void)
{
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
    pthread_t other;
    sigaction(SIGUSR1, &action, NULL);
    printf("%d\n", getpid());
    fflush(stdout);
    pthread_create(&other, NULL, waits_for_ever, NULL);
    take(back[0]);
    printf("1 0\n");
}

static void child(void)
{
    pthread_t other;
    long start = now_us();
    pthread_create(&other, NULL, answers, NULL);
    // The thread reads from the child, and the child from the thread.
    if (fork() == 0) {
        for (int i = 0; i < TURNS; i++) {
            give(there[1]);
            take(back[0]);
        }
        _exit(0);
    }
    pthread_join(other, NULL);
    wait(NULL);
    printf("%d %ld\n", TURNS, now_us() - start);
}

// Much output in pieces into what does not wait, and may be slow. Says how many calls that took.
static void says(void)
{
    static char much[50000];
    memset(much, 'x', sizeof much);
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    long calls = 0, start = now_us();
    for (int i = 0; i < 10; i++)
        for (size_t said = 0; said < sizeof much; calls++) {
            ssize_t taken = write(STDOUT_FILENO, much + said, sizeof much - said);
            struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
            if (taken < 0 && errno != EAGAIN)
                fail("write");
            said += taken < 0 ? 0 : taken;
            if (poll(&out, 1, i % 2 ? -1 : 1000) != 1)
                fail("poll");
        }
    fprintf(stderr, "%ld %ld\n", calls, now_us() - start);
}

static void *writes_many(void *unused)
{
    for (int i = 0; i < 10 * TASKS; i++)
        give(there[1]);
    return unused;
}

static void *reads_many(void *unused)
{
    uint64_t one;
    while (read(there[0], &one, sizeof one) == sizeof one)
        __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    return unused;
}

// Threads begin to write while others read already.
static void many(void)
{
    pthread_t readers[WORKERS], writers[WORKERS];
    long start = now_us();
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&readers[i], NULL, reads_many, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&writers[i], NULL, writes_many, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(writers[i], NULL);
    close(there[1]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(readers[i], NULL);
    printf("%d %ld\n", handled, now_us() - start);
}

static void *moves(void *unused)
{
    if (splice(there[0], NULL, back[1], NULL, BLOCK, 0) != sizeof(uint64_t))
        fail("splice");
    return unused;
}

// What one hands over, another moves on to where the first one reads.
static void moved(void)
{
    pthread_t other;
    long start = now_us();
    pthread_create(&other, NULL, moves, NULL);
    usleep(LATER_US);
    give(there[1]);
    take(back[0]);
    pthread_join(other, NULL);
    printf("1 %ld\n", now_us() - start);
}

// A socket that gives up.
static void gives_up(void)
{
    struct timeval later = {0, LATER_US};
    uint64_t one;
    setsockopt(there[0], SOL_SOCKET, SO_RCVTIMEO, &later, sizeof later);
    long start = now_us();
    long got = read(there[0], &one, sizeof one);
    printf("%ld %ld\n", got < 0 ? -errno : got, now_us() - start);
}

// How long it takes to hand itself so many bytes, and to read them with room for more.
static long copies(long bytes)
{
    static char some[2 * BLOCK];
    long start = now_us();
    for (int turn = 0; turn < TURNS; turn++)
        if (write(there[1], some, bytes) != bytes || read(there[0], some, sizeof some) != bytes)
            fail("handing");
    return now_us() - start;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    how = argv[1];
    first = pthread_self();
    int made;
    if (!strncmp(how, "pair", 4)) {
        int a[2], b[2];
        made = socketpair(AF_UNIX, SOCK_STREAM, 0, a) || socketpair(AF_UNIX, SOCK_STREAM, 0, b);
        there[0] = a[0], there[1] = a[1], back[0] = b[0], back[1] = b[1];
    } else if (!strncmp(how, "event", 5) || !strcmp(how, "epoll-event")) {
        there[0] = there[1] = eventfd(0, 0);
        back[0] = back[1] = eventfd(0, 0);
        made = there[0] < 0 || back[0] < 0;
    } else {
        made = pipe(there) || pipe(back);
    }
    if (made)
        fail("making");
    if (!strcmp(how, "pipe") || !strcmp(how, "pair") || !strcmp(how, "event"))
        ping_pong();
    else if (!strcmp(how, "many"))
        many();
    else if (!strcmp(how, "moved"))
        moved();
    else if (!strcmp(how, "pair-gives-up"))
        gives_up();
    else if (!strcmp(how, "copies"))
        printf("%ld %ld\n", copies(1), copies(BLOCK));
    else if (!strcmp(how, "pool"))
        pool();
    else if (!strncmp(how, "poll", 4) || !strncmp(how, "epoll", 5) || !strncmp(how, "select", 6))
        waits_for_one();
    else if (!strcmp(how, "large"))
        reads_all(writes_much, LARGE);
    else if (!strcmp(how, "blocks") || !strcmp(how, "pair-blocks"))
        reads_all(writes_blocks, 0);
    else if (!strcmp(how, "signalled"))
        signalled(SA_RESTART);
    else if (!strncmp(how, "interrupted", 11))
        signalled(0);
    else if (!strcmp(how, "stands"))
        stands();
    else if (!strcmp(how, "served"))
        served();
    else if (!strcmp(how, "child"))
        child();
    else if (!strcmp(how, "says"))
        says();
    else
        return 2;
    return 0;
}
