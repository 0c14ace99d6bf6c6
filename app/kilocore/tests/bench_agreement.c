/* Rates of some system interfaces, measured without Kilocore: a process on each core, each for as
 * long. Prints the sum of the rates, in operations per second that a task had its core. Usage: bench_agreement INTERFACE SECONDS CORE... */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2], file;

static void must(int done, const char *what) {
    if (!done) {
        perror(what);
        exit(1);
    }
}

static void call_getppid(void) { getppid(); }

static void call_dup(void) {
    int copy = dup(file);
    must(copy >= 0 && close(copy) == 0, "dup");
}

static void call_pipe(void) {
    char byte = 0;
    must(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1, "pipe");
}

static void call_sock(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0 && close(fd) == 0, "socket");
}

static void handle(int signal) { (void)signal; }

/* Not raise: that blocks and unblocks all signals besides. */
static void call_signal(void) {
    static pid_t self;
    if (!self) self = getpid();
    must(syscall(SYS_tgkill, self, self, SIGUSR1) == 0, "tgkill");
}

static const struct { const char *name; void (*call)(void); int turns; } interfaces[] = {
    {"getppid", call_getppid, 5000}, {"dup", call_dup, 1000}, {"pipe", call_pipe, 1000},
    {"sock", call_sock, 100},        {"signal", call_signal, 200},
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double on_core(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv) {
    must(argc > 3, "usage");
    int which = -1, tasks = argc - 3;
    for (int i = 0; i < (int)(sizeof interfaces / sizeof *interfaces); i++)
        if (!strcmp(argv[1], interfaces[i].name)) which = i;
    must(which >= 0, "no such interface");
    double seconds = atof(argv[2]);
    double *rates = mmap(0, tasks * sizeof *rates, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(rates != MAP_FAILED, "mmap");
    double start = now() + 0.05;
    for (int task = 0; task < tasks; task++) {
        if (fork()) continue;
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET(atoi(argv[3 + task]), &core);
        must(!sched_setaffinity(0, sizeof core, &core), "sched_setaffinity");
        file = memfd_create("bench", 0);
        must(file >= 0 && !pipe(ends) && signal(SIGUSR1, handle) != SIG_ERR, "setting up");
        while (now() < start + 0.05) interfaces[which].call();
        double begin = now(), had = on_core(), end;
        long count = 0;
        do {
            for (int turn = 0; turn < interfaces[which].turns; turn++) interfaces[which].call();
            count += interfaces[which].turns;
            end = now();
        } while (end < begin + seconds);
        rates[task] = count / (on_core() - had);
        /* The others are still being counted. */
        while (now() < end + 0.02) interfaces[which].call();
        _exit(0);
    }
    double sum = 0;
    int status;
    for (int task = 0; task < tasks; task++) must(wait(&status) > 0 && status == 0, "a task");
    for (int task = 0; task < tasks; task++) sum += rates[task];
    printf("%.1f\n", sum);
    return 0;
}
