// Threads that each store to a word of their own: sharing THREADS ROUNDS BYTES, which the words are apart.
#include <pthread.h>
#include <stdlib.h>

static _Alignas(4096) char words[1 << 16];
static long rounds, apart;

static void *run(void *index)
{
    volatile long *word = (volatile long *)(words + (long)index * apart);
    for (long i = 0; i < rounds; i++) {
        *word = i;
        for (int think = 0; think < 50; think++)
            __asm__ volatile("");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    long threads = atol(argv[1]);
    rounds = atol(argv[2]), apart = atol(argv[3]);
    pthread_t made[64];
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, (void *)i);
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
