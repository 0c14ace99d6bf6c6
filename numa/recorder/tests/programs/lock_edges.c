// What may go wrong while locks are traced: atomic updates of unaligned words, for which QEMU may stop all
// threads; locks at the beginning of pages that are unmapped right after they were given back; and a process
// that is forked meanwhile.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char words[256] __attribute__((aligned(64)));

static void add(char *word) {
    __asm__ volatile("lock incl %0" : "+m"(*(int *)word) : : "memory");
}

static void *run(void *unused) {
    for (int round = 0; round < 200; round++) {
        add(words + 61);
        add(words + 128);
        add(words + 193);
    }
    for (int round = 0; round < 300; round++) {
        int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) abort();
        if (__sync_lock_test_and_set(page, 1) != 0) abort();
        page[1]++;
        __sync_lock_release(page);
        munmap(page, 4096);
    }
    return unused;
}

int main(void) {
    pthread_t threads[8];
    for (int id = 0; id < 8; id++) {
        if (pthread_create(&threads[id], NULL, run, NULL) != 0) return 1;
    }
    if (fork() == 0) {
        add(words + 128);
        _exit(0);
    }
    for (int id = 0; id < 8; id++) pthread_join(threads[id], NULL);
    wait(NULL);
    int places[] = {61, 128, 193};
    for (int which = 0; which < 3; which++) {
        int value;
        __builtin_memcpy(&value, words + places[which], sizeof value);
        if (value != 8 * 200) return 2;
    }
    return 0;
}
