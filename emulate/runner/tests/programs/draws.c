// Threads that compute for as long as they draw: draws THREADS MOST. Each draws a number up to MOST, at least 1, and computes
// so many times 100,000 turns.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static int most;

static void *run(void *unused)
{
    unsigned drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        exit(1);
    for (long turns = 100000L * (1 + drawn % most); turns > 0; turns--)
        __asm__ volatile("" ::: );
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int threads = atoi(argv[1]);
    most = atoi(argv[2]);
    pthread_t made[64];
    if (threads < 1 || threads > 64 || most < 1)
        return 2;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&made[i], NULL, run, NULL))
            return 1;
    run(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
