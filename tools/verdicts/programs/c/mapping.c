/* Threads that map, touch and unmap HOLD pages, which takes a lock of the kernel. */
#include <sys/mman.h>

#include "work.h"

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    const size_t page = 4096, size = page * (size_t)hold;
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            exit(1);
        for (size_t at = 0; at < size; at += page)
            memory[at] = 1;
        munmap(memory, size);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    run_threads(body);
    return 0;
}
