// Threads that add to one of two variables on a line, the one behind: heads THREADS ROUNDS.
#include <pthread.h>
#include <stdlib.h>

// The compiler would choose the order of its own variables.
__asm__(".bss\n.balign 64\n"
        ".type quiet,@object\n.size quiet,8\nquiet: .zero 8\n"
        ".type busy,@object\n.size busy,16\nbusy: .zero 16\n"
        ".zero 40\n.text\n");
extern long quiet __attribute__((visibility("hidden")));
extern long busy[2] __attribute__((visibility("hidden")));
static long rounds;

static void *run(void *unused)
{
    __atomic_fetch_add(&quiet, 1, __ATOMIC_RELAXED);
    for (long i = 0; i < rounds; i++)
        __atomic_fetch_add(&busy[i % 2], 1, __ATOMIC_RELAXED);
    return unused;
}

int main(int argc, char **argv)
{
    (void)argc;
    long threads = atol(argv[1]);
    rounds = atol(argv[2]);
    pthread_t made[64];
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, NULL);
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
