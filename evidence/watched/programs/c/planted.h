/* What the planted programs in C and C++ share: the command line, threads that start together,
 * computing by the thread's own clock, and the truth that is printed at the end.
 *
 * A program computes, and does nothing else: HOLD_US in its section, and between half and one and a
 * half times THINK_US outside. It counts and measures that itself, in memory that child processes
 * share. No thread waits for another but by the lock that the program is about: threads start when a
 * pipe is closed, so that there is no futex for the start. */
#ifndef PLANTED_H
#define PLANTED_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PLANTED_SECOND_NS = 1000000000, PLANTED_THREADS_MOST = 1024, PLANTED_SECONDS_MOST = 3600 };

/* Sections of one kind: how often, and for how long in all. */
struct planted_count {
    uint64_t acquisitions;
    uint64_t hold_ns;      /* time that the holders ran */
    uint64_t hold_wall_ns; /* time that passed */
    uint64_t per_second[PLANTED_SECONDS_MOST];
};

struct planted_thread {
    int number;
    uint64_t random; /* state of the generator; never zero */
    struct planted_count exclusive;
    struct planted_count shared; /* readers of a read-write lock */
    uint64_t thinks, think_ns;
    uint64_t items, rounds, condition_waits; /* printed where a program counts them */
};

/* What all threads share, those of child processes too. */
struct planted_state {
    uint64_t hold_ns, think_ns, run_ns;
    uint64_t start_ns, deadline_ns;
    int idle_start;
    int stop;
    int threads; /* how many there are; a program may start fewer or more than it was asked for */
    struct planted_thread thread[];
};

static struct planted_state *planted;
static int planted_gate[2];
static void (*planted_body)(struct planted_thread *);

static inline void planted_fail(const char *what) {
    fprintf(stderr, "planted: %s: %s\n", what, strerror(errno));
    exit(1);
}

static inline uint64_t planted_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * PLANTED_SECOND_NS + (uint64_t)time.tv_nsec;
}

static inline uint64_t planted_now(void) { return planted_clock(CLOCK_MONOTONIC); }

/* For how long the calling thread has run. */
static inline uint64_t planted_ran(void) { return planted_clock(CLOCK_THREAD_CPUTIME_ID); }

/* Computes until the calling thread has run for `wanted` nanoseconds more. Returns for how long it
 * ran. Some 0.4 us pass between two looks at the clock, which is a system call. */
static inline uint64_t planted_compute(uint64_t wanted) {
    if (wanted == 0)
        return 0;
    uint64_t start = planted_ran(), ran, work = start | 1;
    do {
        for (int i = 0; i < 200; i++) {
            work ^= work << 13;
            work ^= work >> 7;
            work ^= work << 17;
            __asm__ volatile("" : "+r"(work));
        }
        ran = planted_ran() - start;
    } while (ran < wanted);
    return ran;
}

static inline uint64_t planted_random(struct planted_thread *self) {
    self->random ^= self->random << 13;
    self->random ^= self->random >> 7;
    self->random ^= self->random << 17;
    return self->random;
}

/* Counts a section that was entered at `taken` and ends here, and whose thread ran for `ran` within
 * it. To be called before its lock is released. */
static inline void planted_count_hold(struct planted_count *count, uint64_t taken, uint64_t ran) {
    count->hold_ns += ran;
    count->hold_wall_ns += planted_now() - taken;
    count->acquisitions++;
    uint64_t second = (taken - planted->start_ns) / PLANTED_SECOND_NS;
    if (second < PLANTED_SECONDS_MOST)
        count->per_second[second]++;
}

/* The work of one section of a kind, to be done while its lock is held. */
static inline void planted_hold_as(struct planted_count *count) {
    uint64_t taken = planted_now();
    planted_count_hold(count, taken, planted_compute(planted->hold_ns));
}

static inline void planted_hold(struct planted_thread *self) { planted_hold_as(&self->exclusive); }

/* Computes for `mean` nanoseconds, give or take a half. */
static inline void planted_think_about(struct planted_thread *self, uint64_t mean) {
    double part = 0.5 + (double)(planted_random(self) >> 11) / (double)(1ull << 53);
    self->think_ns += planted_compute((uint64_t)((double)mean * part));
    self->thinks++;
}

static inline void planted_think(struct planted_thread *self) {
    planted_think_about(self, planted->think_ns);
}

static inline int planted_over(void) {
    return __atomic_load_n(&planted->stop, __ATOMIC_RELAXED) ||
           planted_now() >= planted->deadline_ns;
}

static inline void planted_terminate(int signal) {
    (void)signal;
    __atomic_store_n(&planted->stop, 1, __ATOMIC_RELAXED);
}

static inline double planted_number(const char *text, double least, double most) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= least && number <= most)) {
        fprintf(stderr, "planted: %s is no number from %g to %g\n", text, least, most);
        exit(2);
    }
    return number;
}

/* Reads the command line. */
static inline void planted_begin(int argc, char **argv) {
    if (argc < 5 || argc > 6 || (argc == 6 && strcmp(argv[5], "--idle-start") != 0)) {
        fprintf(stderr, "usage: %s THREADS HOLD_US THINK_US SECONDS [--idle-start]\n", argv[0]);
        exit(2);
    }
    size_t size = sizeof(struct planted_state) + PLANTED_THREADS_MOST * sizeof(struct planted_thread);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || pipe(planted_gate) != 0)
        planted_fail("starting");
    planted = (struct planted_state *)memory;
    /* A program may start some threads more than it was asked for. */
    planted->threads = (int)planted_number(argv[1], 1, PLANTED_THREADS_MOST - 8);
    planted->hold_ns = (uint64_t)(1e3 * planted_number(argv[2], 0, 1e9));
    planted->think_ns = (uint64_t)(1e3 * planted_number(argv[3], 0, 1e9));
    planted->run_ns = (uint64_t)(1e9 * planted_number(argv[4], 0, PLANTED_SECONDS_MOST));
    planted->idle_start = argc == 6;
    for (int i = 0; i < PLANTED_THREADS_MOST; i++) {
        /* Only threads that there are touch their memory. */
        if (i >= planted->threads + 8)
            break;
        planted->thread[i].number = i;
        planted->thread[i].random = 0x9e3779b97f4a7c15ull * (uint64_t)(i + 1);
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = planted_terminate;
    sigaction(SIGTERM, &action, NULL);
}

/* Waits until the program is ready: until its main thread has closed the pipe. */
static inline void planted_wait_for_start(void) {
    char byte;
    while (read(planted_gate[0], &byte, 1) < 0 && errno == EINTR) {
    }
}

/* Says that the program is ready, waits for a line of input if that was asked for, and lets the
 * threads begin. `line` is what follows the word `ready`. */
static inline void planted_open(const char *line) {
    printf("ready %s\n", line);
    fflush(stdout);
    char byte = 0;
    while (planted->idle_start && byte != '\n' && read(0, &byte, 1) == 1) {
    }
    planted->start_ns = planted_now();
    planted->deadline_ns = planted->start_ns + planted->run_ns;
    if (planted->idle_start) {
        printf("begun\n");
        fflush(stdout);
    }
    close(planted_gate[1]);
}

/* `lock` is NULL if the program cannot tell where it is. */
static inline void planted_ready(const void *lock) {
    char line[64];
    int pid = (int)getpid();
    if (lock)
        snprintf(line, sizeof line, "%d 0x%llx", pid, (unsigned long long)(uintptr_t)lock);
    else
        snprintf(line, sizeof line, "%d", pid);
    planted_open(line);
}

static inline void *planted_thread_main(void *self) {
    planted_wait_for_start();
    planted_body((struct planted_thread *)self);
    return NULL;
}

/* Starts the threads from `first` to before `end`, which carry out `body` once the program is ready. */
static inline void planted_start(pthread_t *handles, int first, int end,
                                 void (*body)(struct planted_thread *)) {
    planted_body = body;
    for (int i = first; i < end; i++) {
        errno = pthread_create(&handles[i], NULL, planted_thread_main, &planted->thread[i]);
        if (errno != 0)
            planted_fail("a thread");
    }
}

static inline void planted_join(const pthread_t *handles, int first, int end) {
    for (int i = first; i < end; i++)
        pthread_join(handles[i], NULL);
}

static inline double planted_mean(uint64_t sum, uint64_t count) {
    return count == 0 ? 0 : (double)sum / (double)count;
}

/* Prints what all threads did in sections of a kind; `shared` says of which. */
static inline void planted_print_counts(int shared, uint64_t wall_ns) {
    uint64_t acquisitions = 0, hold_ns = 0, hold_wall_ns = 0;
    for (int i = 0; i < planted->threads; i++) {
        struct planted_count *count =
            shared ? &planted->thread[i].shared : &planted->thread[i].exclusive;
        acquisitions += count->acquisitions;
        hold_ns += count->hold_ns;
        hold_wall_ns += count->hold_wall_ns;
    }
    printf("\"acquisitions\":%llu,\"hold_ns_mean\":%.1f,\"hold_wall_ns_mean\":%.1f,\"per_second\":[",
           (unsigned long long)acquisitions, planted_mean(hold_ns, acquisitions),
           planted_mean(hold_wall_ns, acquisitions));
    for (uint64_t s = 0; s < wall_ns / PLANTED_SECOND_NS && s < PLANTED_SECONDS_MOST; s++) {
        uint64_t sum = 0;
        for (int i = 0; i < planted->threads; i++)
            sum += (shared ? &planted->thread[i].shared : &planted->thread[i].exclusive)->per_second[s];
        printf("%s%llu", s == 0 ? "" : ",", (unsigned long long)sum);
    }
    printf("]");
}

/* Prints the truth. The threads have ended. */
static inline void planted_truth(const char *language, const char *lock) {
    uint64_t wall_ns = planted_now() - planted->start_ns;
    uint64_t thinks = 0, think_ns = 0, reads = 0, items = 0, rounds = 0, condition_waits = 0;
    for (int i = 0; i < planted->threads; i++) {
        struct planted_thread *thread = &planted->thread[i];
        thinks += thread->thinks;
        think_ns += thread->think_ns;
        reads += thread->shared.acquisitions;
        items += thread->items;
        rounds += thread->rounds;
        condition_waits += thread->condition_waits;
    }
    printf("{\"language\":\"%s\",\"lock\":\"%s\",\"threads\":%d,", language, lock, planted->threads);
    planted_print_counts(0, wall_ns);
    printf(",\"think_ns_mean\":%.1f,\"wall_ns\":%llu", planted_mean(think_ns, thinks),
           (unsigned long long)wall_ns);
    if (reads > 0) {
        printf(",\"reads\":{");
        planted_print_counts(1, wall_ns);
        printf("}");
    }
    if (items > 0)
        printf(",\"items\":%llu", (unsigned long long)items);
    if (rounds > 0)
        printf(",\"rounds\":%llu", (unsigned long long)rounds);
    if (condition_waits > 0)
        printf(",\"condition_waits\":%llu", (unsigned long long)condition_waits);
    printf("}\n");
    fflush(stdout);
}

/* The whole run of a program of one process: `body` in each of `threads` threads. */
static inline void planted_run(const char *language, const char *name, const void *lock, int threads,
                               void (*body)(struct planted_thread *)) {
    pthread_t handles[PLANTED_THREADS_MOST];
    planted->threads = threads;
    planted_start(handles, 0, threads, body);
    planted_ready(lock);
    planted_join(handles, 0, threads);
    planted_truth(language, name);
}

/* The function that takes the lock and does the work. It stays a function of that name. */
#define PLANTED_SECTION __attribute__((noinline, noclone))

#endif
