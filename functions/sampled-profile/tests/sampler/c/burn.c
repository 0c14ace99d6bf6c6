/* Burns processor time in known functions, as the arguments say. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;

__attribute__((noinline)) void burn_planted(uint64_t rounds) {
    for (uint64_t i = 0; i < rounds; i++)
        sink += i * i;
}

__attribute__((noinline)) void calls_burn(uint64_t rounds) {
    burn_planted(rounds);
    sink++;
}

static void *thread(void *argument) {
    calls_burn(*(uint64_t *)argument);
    return NULL;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    uint64_t rounds = count > 2 ? strtoull(words[2], NULL, 10) : 0;
    if (!strcmp(what, "threads")) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, thread, &rounds);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        printf("burnt 1,000.5 units\nburnt 2e3 units\n");
    } else if (!strcmp(what, "forks")) {
        uint64_t children = strtoull(words[3], NULL, 10);
        for (uint64_t i = 0; i < children; i++) {
            pid_t child = fork();
            if (child == 0) {
                calls_burn(rounds);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
    } else if (!strcmp(what, "exec")) {
        execl(words[0], words[0], "threads", words[2], NULL);
        return 1;
    } else if (!strcmp(what, "killed")) {
        calls_burn(rounds);
        abort();
    } else if (!strcmp(what, "kernel")) {
        char byte;
        int zero[2];
        if (pipe(zero))
            return 1;
        for (uint64_t i = 0; i < rounds; i++)
            if (write(zero[1], "x", 1) != 1 || read(zero[0], &byte, 1) != 1)
                return 1;
    }
    return 0;
}
