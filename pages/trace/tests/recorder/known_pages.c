// Maps, touches and unmaps a known number of pages: one thread touches them, another gives them
// back. A child does the same alone. Prints the counts and ends with status 7.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARENT 20000L
#define CHILD 5000L

static char *map(long pages) {
    long size = pages * sysconf(_SC_PAGESIZE);
    char *all =
        mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || madvise(all, (size_t)size, MADV_NOHUGEPAGE) != 0) exit(1);
    for (long at = 0; at < size; at += sysconf(_SC_PAGESIZE)) all[at] = 1;
    return all;
}

static void unmap(char *all, long pages) {
    if (munmap(all, (size_t)(pages * sysconf(_SC_PAGESIZE))) != 0) exit(1);
}

static void *give_back(void *all) {
    unmap(all, PARENT);
    return NULL;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, give_back, map(PARENT)) != 0) return 1;
    if (pthread_join(other, NULL) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
        unmap(map(CHILD), CHILD);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
    return 7;
}
