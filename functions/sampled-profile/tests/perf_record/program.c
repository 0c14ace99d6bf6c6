// What is recorded: functions that take time, in every place where code may lie.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define HOT __attribute__((noinline, noclone))

HOT void turn(long times) {
    WORK(times)
}

// Tail calls would hide the callers.
#define HOT_FUNCTION(name, times) \
    HOT void name(void) {         \
        turn(times);              \
        __asm__ volatile("");     \
    }

HOT_FUNCTION(hot_main, 50000000)
HOT_FUNCTION(hot_thread, 50000000)
HOT_FUNCTION(hot_forked, 50000000)
HOT_FUNCTION(hot_executed, 50000000)

HOT void hot_leaf(void) {
    WORK(50000000)
}

HOT void hot_kernel(void) {
    static char buffer[1 << 20];
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 5000; i++) {
        if (read(zero, buffer, sizeof buffer) < 0) {
            perror("/dev/zero");
        }
    }
    close(zero);
}

static void *thread(void *ignored) {
    hot_thread();
    return ignored;
}

// Code without a file, as compilers at run time make it.
HOT void hot_generated(void) {
#ifdef __x86_64__
    static const unsigned char code[] = {
        0x48, 0xc7, 0xc1, 0x00, 0x00, 0x00, 0x08,  // mov $0x8000000, %rcx
        0x48, 0xff, 0xc9,                          // dec %rcx
        0x75, 0xfb,                                // jnz the line above
        0xc3,                                      // ret
    };
    void *memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, code, sizeof code);
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx %zx generated_loop\n", (unsigned long)memory, sizeof code);
    fclose(map);
    ((void (*)(void))memory)();
    // The test removes it. On other processors there is only the empty line.
    printf("%s", path);
#endif
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "executed")) {
        hot_executed();
        return 0;
    }
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    hot_main();
    hot_leaf();
    hot_kernel();
    pthread_join(other, 0);
    if (fork() == 0) {
        hot_forked();
        execl(argv[0], argv[0], "executed", (char *)0);
        _exit(1);
    }
    wait(0);
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    if (library) {
        ((void (*)(void))dlsym(library, "hot_library"))();
        hot_generated();
    }
    return 0;
}
