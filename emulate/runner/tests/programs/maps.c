// Threads that have nothing in common but their address space: maps THREADS TURNS PAGES. Each maps so many pages, writes
// to all, and unmaps them, so often.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static int turns, pages;

static void *map(void *unused)
{
    for (int turn = 0; turn < turns; turn++) {
        int how = MAP_PRIVATE | MAP_ANONYMOUS;
        char *memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, how, -1, 0);
        if (memory == MAP_FAILED)
            exit(1);
        for (int page = 0; page < pages; page++)
            memory[(size_t)page * PAGE] = 1;
        munmap(memory, (size_t)pages * PAGE);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t made[64];
    if (argc != 4)
        return 2;
    int threads = atoi(argv[1]);
    turns = atoi(argv[2]), pages = atoi(argv[3]);
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, map, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
