// Starts many threads, so many at a time, and each writes a page of its own so many times.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *pages;
static long rounds;

static void *work(void *argument) {
    char *at = pages + (long)argument * 4096;
    long left = rounds;
    __asm__ volatile("1: movb %%al, (%0); dec %1; jnz 1b" : "+r"(at), "+r"(left) : : "memory");
    return NULL;
}

int main(int count, char **words) {
    if (count < 4) return 1;
    long threads = atol(words[1]), together = atol(words[2]);
    rounds = atol(words[3]);
    pages = aligned_alloc(4096, threads * 4096);
    pthread_t *running = calloc(together, sizeof *running);
    if (pages == NULL || running == NULL) return 1;
    printf("%lu\n", (unsigned long)pages / 4096);
    fflush(stdout);
    for (long i = 0; i < threads; i += together) {
        for (long k = 0; k < together; k++)
            if (pthread_create(&running[k], NULL, work, (void *)((i + k) % threads))) return 1;
        for (long k = 0; k < together; k++) pthread_join(running[k], NULL);
    }
    return 0;
}
