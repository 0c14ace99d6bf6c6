// Depends on something: reads HOW FILE. Computes for as long as the first byte of FILE says, and has some effect.
#define _GNU_SOURCE
#include <libgen.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static int open_and_read(const char *path, int flags)
{
    char bytes[16];
    int file = open(path, flags, 0600);
    return file >= 0 ? (int)read(file, bytes, sizeof bytes) : -1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    char first = 0, beside[4096];
    struct stat is;
    struct sysinfo memory;
    struct rusage used;
    struct itimerval timer = {{0, 0}, {100, 0}};
    int file = open(argc > 2 ? argv[2] : "/dev/null", O_RDONLY);
    if (file < 0 || read(file, &first, 1) < 0)
        return 9;
    for (long turn = 0; turn < 1000L * first; turn++)
        __asm__ volatile("");
    snprintf(beside, sizeof beside, "%s.beside", argc > 2 ? argv[2] : "/nowhere");
    if (!strcmp(how, "looks"))
        printf("%d\n", stat(beside, &is) == 0 ? (int)is.st_size : -1);
    else if (!strcmp(how, "opens"))
        printf("%d\n", open_and_read(beside, O_RDONLY));
    else if (!strcmp(how, "lists"))
        printf("%d\n", open(dirname(strdup(beside)), O_RDONLY | O_DIRECTORY));
    else if (!strcmp(how, "writes"))
        open_and_read(beside, O_RDWR | O_CREAT);
    else if (!strcmp(how, "drops"))
        open_and_read("/dev/null", O_RDWR | O_CREAT);
    else if (!strcmp(how, "renames"))
        rename(beside, argv[2]);
    else if (!strcmp(how, "draws"))
        open_and_read("/dev/urandom", O_RDONLY);
    else if (!strcmp(how, "draws-simulated"))
        printf("%d\n", (int)getrandom(beside, 16, 0));
    else if (!strcmp(how, "busy"))
        open_and_read("/proc/uptime", O_RDONLY);
    else if (!strcmp(how, "told"))
        printf("%d\n", open_and_read("/proc/sys/vm/overcommit_memory", O_RDONLY));
    else if (!strcmp(how, "itself"))
        printf("%d\n", open_and_read("/proc/self/maps", O_RDONLY));
    else if (!strcmp(how, "forks") && fork() == 0)
        _exit(0);
    else if (!strcmp(how, "connects"))
        socket(AF_INET, SOCK_STREAM, 0);
    else if (!strcmp(how, "counts"))
        printf("%d\n", __rdtsc() != 0);
    else if (!strcmp(how, "output"))
        printf("%ld\n", (long)read(1, beside, 1));
    else if (!strcmp(how, "usage"))
        getrusage(RUSAGE_SELF, &used);
    else if (!strcmp(how, "timer"))
        setitimer(ITIMER_VIRTUAL, &timer, NULL);
    else if (!strcmp(how, "memory") && sysinfo(&memory) == 0)
        printf("%d %d %d\n", memory.freeram == memory.totalram, memory.procs, memory.loads[0] == 0);
    else if (!strcmp(how, "pipe") && pipe((int[2]){0, 0}) == 0)
        puts("made");
    else if (!strcmp(how, "variable"))
        puts(getenv("VARIABLE") ? getenv("VARIABLE") : "none");
    else if (!strcmp(how, "fails"))
        return 3;
    return 0;
}
