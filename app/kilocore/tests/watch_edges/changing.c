/* Threads take turns at a mutex. After so many acquisitions, the program does what it was asked to:
   it ends, is killed, executes another program, or nothing.

   THREADS IDLE ACQUISITIONS WHAT [PROGRAM WORD…] */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t MUTEX = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t idle_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static long acquisitions, enough;
static atomic_int over;

static void busy(double us) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    double end = t.tv_sec * 1e6 + t.tv_nsec / 1e3 + us;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec * 1e6 + t.tv_nsec / 1e3 < end);
}
/* Returns whether there were enough. */
__attribute__((noinline)) static int planted_section(void) {
    pthread_mutex_lock(&MUTEX);
    busy(50);
    int last = ++acquisitions == enough;
    pthread_mutex_unlock(&MUTEX);
    return last;
}
static char **arguments;
static void do_it(void) {
    const char *what = arguments[4];
    if (!strcmp(what, "exit")) _exit(3);
    if (!strcmp(what, "kill")) raise(SIGKILL);
    execv(arguments[5], arguments + 5);
    _exit(9);
}
static void *work(void *unused) {
    while (!over) {
        if (planted_section()) {
            if (strcmp(arguments[4], "execute-main")) do_it();
            kill(getpid(), SIGUSR1);
        }
        busy(100);
    }
    return unused;
}
/* Threads that live for a few acquisitions each. */
static void *task(void *unused) {
    for (int i = 0; i < 10; i++) {
        planted_section();
        busy(50);
    }
    return unused;
}
static void *keep(void *unused) {
    while (!over) {
        pthread_t one;
        pthread_create(&one, NULL, task, NULL);
        pthread_join(one, NULL);
    }
    return unused;
}
static void *idle(void *unused) {
    pthread_mutex_lock(&idle_mutex);
    for (;;) pthread_cond_wait(&never, &idle_mutex);
    return unused;
}
static void end(int signal) { (void)signal; over = 1; }

int main(int count, char **words) {
    (void)count;
    arguments = words;
    sigset_t ask;
    sigemptyset(&ask);
    sigaddset(&ask, SIGUSR1);
    sigaddset(&ask, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ask, NULL);
    (void)end;
    int threads = atoi(words[1]), idlers = atoi(words[2]);
    enough = atol(words[3]);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 32768);
    pthread_t all[16], other;
    while (idlers-- > 0 && !pthread_create(&other, &small, idle, NULL)) {}
    int churns = !strcmp(words[4], "tasks");
    for (int i = 0; i < threads; i++) pthread_create(all + i, NULL, churns ? keep : work, NULL);
    printf("ready %d\n", getpid());
    fflush(stdout);
    int signal;
    sigwait(&ask, &signal);
    if (signal == SIGUSR1) do_it();
    over = 1;
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    printf("acquisitions %ld\n", acquisitions);
    fflush(stdout);
    _exit(0);
}
