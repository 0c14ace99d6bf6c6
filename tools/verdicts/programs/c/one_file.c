/* Threads that write HOLD bytes each into one file, which takes its lock in the kernel. */
#include <fcntl.h>
#include <unistd.h>

#include "work.h"

static int file;

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    char *text = calloc(1, (size_t)hold);
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        if (pwrite(file, text, (size_t)hold, (long)number * hold) != hold)
            exit(1);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    file = open("one-file", O_CREAT | O_WRONLY, 0600);
    if (file < 0)
        return 1;
    run_threads(body);
    unlink("one-file");
    return 0;
}
