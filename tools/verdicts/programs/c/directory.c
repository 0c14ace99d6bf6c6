/* Threads that make and remove files of their own in one directory, which takes its lock in the
 * kernel. */
#include <fcntl.h>
#include <unistd.h>

#include "work.h"

static void *body(void *number) {
    uint64_t own = (uint64_t)(long)number + 1;
    char name[32];
    snprintf(name, sizeof name, "own-%ld", (long)number);
    for (long each = 0; each < sections / threads; each++) {
        own = compute(own, think);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        if (file < 0)
            exit(1);
        close(file);
        unlink(name);
    }
    return (void *)(own & 1);
}

int main(int count, char **words) {
    arguments(count, words);
    run_threads(body);
    return 0;
}
