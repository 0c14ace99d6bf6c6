// Threads that update an unaligned word in one step: QEMU has to stop all others for that.
#include <pthread.h>

static _Alignas(64) char bytes[128];

static void *run(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        __asm__ volatile("lock addq $1, %0" : "+m"(*(long *)(bytes + 60)));
        for (int think = 0; think < 1000; think++)
            __asm__ volatile("");
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    int count = argc > 1 ? argv[1][0] - 48 : 4;
    if (count == 0)
        run(0);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
