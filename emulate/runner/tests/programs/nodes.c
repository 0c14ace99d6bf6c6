// What the system says of nodes, and where two threads are: nodes.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const char *path)
{
    // On the stack, as those that are put together are.
    char copy[128], line[256] = "none\n";
    snprintf(copy, sizeof copy, "%s", path);
    FILE *file = fopen(copy, "r");
    if (file && !fgets(line, sizeof line, file))
        return;
    printf("%s", line);
    if (file)
        fclose(file);
}

static pthread_barrier_t all;
static unsigned nodes[64], cpus[64];

static void *run(void *number)
{
    long at = (long)number;
    pthread_barrier_wait(&all);
    syscall(SYS_getcpu, &cpus[at], &nodes[at], NULL);
    pthread_barrier_wait(&all);
    return NULL;
}

int main(void)
{
    show("/sys/devices/system/node/online");
    show("/sys/devices/system/node/node1/cpulist");
    show("/sys/devices/system/node/node77/cpulist");
    show("/sys/devices/system/cpu/cpu7/topology/physical_package_id");
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[64];
    pthread_barrier_init(&all, NULL, count);
    for (long i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    run(0);
    for (long i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    unsigned seen[64] = {0};
    for (long i = 0; i < count; i++)
        seen[nodes[i]]++;
    for (int i = 0; seen[i]; i++)
        printf("%u ", seen[i]);
    return 0;
}
