/* Threads that fight for one of the kernel's own locks: kernel_locks WHAT THREADS FOLDER BUSY PERIOD.
 *
 * WHAT is `memory`, which they map and unmap, `directory`, in which they make and remove files, or `file`,
 * to which they write. They do so for the first BUSY milliseconds of each PERIOD, all at the same time, and sleep
 * for the rest of it. The program says that it is ready, and ends at SIGTERM. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static atomic_int over;
static atomic_long done;
static long busy, period;
static int file = -1;
static const char *what;
static char text[1 << 16];

static void must(int is_so) {
    if (!is_so) {
        perror("kernel_locks");
        exit(1);
    }
}

static void use_memory(void) {
    const size_t page = 4096, size = 16 * page;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED);
    for (size_t at = 0; at < size; at += page)
        memory[at] = 1;
    must(munmap(memory, size) == 0);
}

static void use_directory(long number) {
    char name[32];
    snprintf(name, sizeof name, "own-%ld", number);
    int own = open(name, O_CREAT | O_WRONLY, 0600);
    must(own >= 0);
    close(own);
    must(unlink(name) == 0);
}

/* Sleeps until the next time in which all are busy. */
static void rest(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long at = (now.tv_sec % period * 1000 + now.tv_nsec / 1000000) % period;
    if (at >= busy)
        usleep(1000 * (period - at));
}

static void *work(void *number) {
    while (!over) {
        if (*what == 'm')
            use_memory();
        else if (*what == 'd')
            use_directory((long)number);
        else
            must(pwrite(file, text, sizeof text, 0) == sizeof text);
        done++;
        rest();
    }
    return NULL;
}

static void end(int signal) {
    (void)signal;
    over = 1;
}

int main(int count, char **words) {
    if (count != 6)
        return 2;
    what = words[1];
    long threads = atol(words[2]);
    busy = atol(words[4]);
    period = atol(words[5]);
    must(chdir(words[3]) == 0);
    file = open("one-file", O_CREAT | O_WRONLY, 0600);
    must(file >= 0);
    signal(SIGTERM, end);
    pthread_t all[64];
    for (long i = 0; i < threads && i < 64; i++)
        must(pthread_create(all + i, NULL, work, (void *)i) == 0);
    printf("ready \n");
    fflush(stdout);
    for (long i = 0; i < threads && i < 64; i++)
        pthread_join(all[i], NULL);
    printf("acquisitions %ld\n", (long)done);
    return 0;
}
