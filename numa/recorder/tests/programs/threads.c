// Two threads, of which each reads pages of its own, and both write one page with atomic updates. Prints
// the number of the first page.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGES 64
#define WORDS 512
#define TIMES 200

static long *pages;

static void *work(void *argument) {
    long number = (long)argument;
    long *own = pages + number * PAGES * WORDS, *common = pages + 2 * PAGES * WORDS;
    for (int time = 0; time < TIMES; time++) {
        long *at = own, words = PAGES * WORDS;
        __asm__ volatile("1: movq (%0), %%rax; add $8, %0; dec %1; jnz 1b"
                         : "+r"(at), "+r"(words)
                         :
                         : "rax", "memory");
        __atomic_add_fetch(common, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void) {
    pages = aligned_alloc(4096, (2 * PAGES + 1) * WORDS * sizeof(long));
    if (pages == NULL) return 1;
    printf("%lu\n", (unsigned long)pages / 4096);
    fflush(stdout);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return pages[2 * PAGES * WORDS] == 2 * TIMES ? 0 : 1;
}
