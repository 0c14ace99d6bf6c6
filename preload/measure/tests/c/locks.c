/* Programs whose lock profile is known: `locks SCENARIO`. Each checks what it can from inside and
   exits with 0 if that was right. They know nothing of the library they are run under. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(3);                                                            \
        }                                                                       \
    } while (0)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long counter;

/* Keeps the processor busy for a time. */
static void work(long ns) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ns);
}

static void in_threads(int count, void *(*routine)(void *)) {
    pthread_t threads[64];
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, routine, (void *)(long)i) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void take(long times) {
    for (long i = 0; i < times; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        counter++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
}

static void *take_10000(void *unused) {
    (void)unused;
    take(10000);
    return NULL;
}

static void count(void) {
    in_threads(4, take_10000);
    CHECK(counter == 40000);
}

/* 500 times: 40 µs of own work outside, 20 µs inside. */
static void nested(void) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&mutex);
        work(20000);
        pthread_mutex_lock(&inner);
        work(20000);
        pthread_mutex_unlock(&inner);
        work(20000);
        pthread_mutex_unlock(&mutex);
        work(10000);
    }
}

static int urgent_over;

/* A lock that nobody has seen before. */
static void new_lock(void) {
    pthread_mutex_t fresh;
    pthread_mutex_init(&fresh, NULL);
    pthread_mutex_lock(&fresh);
    pthread_mutex_unlock(&fresh);
    pthread_mutex_destroy(&fresh);
}

static void *new_locks_at_once(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&urgent_over, __ATOMIC_RELAXED)) new_lock();
    return NULL;
}

static void *new_locks_now_and_then(void *unused) {
    (void)unused;
    for (int i = 0; i < 200; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 20000 + i * 7919 % 30000}, NULL);
        new_lock();
    }
    __atomic_store_n(&urgent_over, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Two threads of the one core, of which one interrupts the other wherever it is, and has a higher real-time priority,
   where priorities are allowed. */
static void priorities(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_t threads[2];
    for (int urgent = 1; urgent >= 0; urgent--) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &(struct sched_param){.sched_priority = 1 + urgent});
        void *(*routine)(void *) = urgent ? new_locks_now_and_then : new_locks_at_once;
        if (pthread_create(&threads[urgent], &attributes, routine, NULL) == EPERM)
            CHECK(pthread_create(&threads[urgent], NULL, routine, NULL) == 0);
        pthread_attr_destroy(&attributes);
    }
    for (int urgent = 0; urgent < 2; urgent++) pthread_join(threads[urgent], NULL);
}

/* 800 times inside one of twenty locks, each of which comes as often. */
static void nested_in_many(void) {
    static pthread_mutex_t outer[20];
    for (int lock = 0; lock < 20; lock++) pthread_mutex_init(&outer[lock], NULL);
    for (int i = 0; i < 800; i++) {
        pthread_mutex_lock(&outer[i % 20]);
        pthread_mutex_lock(&inner);
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer[i % 20]);
        work(10000);
    }
}

static void *try_and_fail(void *unused) {
    (void)unused;
    struct timespec deadline;
    for (int i = 0; i < 7; i++)
        CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    clock_gettime(CLOCK_REALTIME, &deadline);
    CHECK(pthread_mutex_timedlock(&mutex, &deadline) == ETIMEDOUT);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT);
    return NULL;
}

static void tries(void) {
    errno = 77;
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    CHECK(errno == 77);
    in_threads(1, try_and_fail);
    pthread_mutex_unlock(&mutex);
}

static pthread_barrier_t barrier;

static void *read_1000(void *unused) {
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
        if (i == 0)
            /* Gets past here only if all readers are in together. */
            pthread_barrier_wait(&barrier);
        CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    }
    return NULL;
}

static void *write_500(void *unused) {
    (void)unused;
    for (int i = 0; i < 500; i++) {
        CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
        counter++;
        CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    }
    return NULL;
}

static void readers(void) {
    pthread_barrier_init(&barrier, NULL, 4);
    in_threads(4, read_1000);
    in_threads(2, write_500);
    CHECK(counter == 1000);
    CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_rwlock_tryrdlock(&rwlock) == EBUSY);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
    CHECK(pthread_rwlock_rdlock(&rwlock) == EDEADLK);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
}

/* Readers beyond the number of slots that the recorder gives to threads. */
static void many_readers(void) {
    pthread_barrier_init(&barrier, NULL, 48);
    in_threads(48, read_1000);
}

static void *consume(void *unused) {
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        while (counter == 0)
            pthread_cond_wait(&condition, &mutex);
        counter = 0;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *wait_in_vain(void *unused) {
    (void)unused;
    struct timespec deadline;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 20; i++) {
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_nsec += 1000000;
        if (deadline.tv_nsec >= 1000000000) {
            deadline.tv_nsec -= 1000000000;
            deadline.tv_sec++;
        }
        CHECK(pthread_cond_timedwait(&condition, &mutex, &deadline) == ETIMEDOUT);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void conditions(void) {
    pthread_t consumer;
    CHECK(pthread_create(&consumer, NULL, consume, NULL) == 0);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        counter = 1;
        pthread_cond_signal(&condition);
        while (counter == 1)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(consumer, NULL);
    in_threads(1, wait_in_vain);
}

static void unlock_it(void *mutex) {
    CHECK(pthread_mutex_unlock(mutex) == 0);
}

static void *wait_forever(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock_it, &mutex);
    counter = 1;
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return NULL;
}

static void cancelled(void) {
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        void *result;
        counter = 0;
        CHECK(pthread_create(&thread, NULL, wait_forever, NULL) == 0);
        for (long seen = 0; seen == 0;) {
            pthread_mutex_lock(&mutex);
            seen = counter;
            pthread_mutex_unlock(&mutex);
        }
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
    }
}

/* The parent takes the lock 10 times, children 20, 30 and 40 times; they end in three ways. */
static void ends(const char *self) {
    int status;
    take(10);
    pid_t child = fork();
    if (child == 0) {
        take(20);
        _exit(4);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
    child = fork();
    if (child == 0) {
        take(30);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    child = fork();
    if (child == 0) {
        take(40);
        execl(self, self, "fifty", (char *)NULL);
        _exit(5);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = vfork();
    if (child == 0)
        _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    kill(getpid(), SIGTERM);
}

static void *take_once(void *unused) {
    (void)unused;
    take(1);
    return NULL;
}

static void threads(void) {
    for (int i = 0; i < 5000; i++)
        in_threads(20, take_once);
    CHECK(counter == 100000);
}

static void short_lived(void) {
    for (int i = 0; i < 1000000; i++) {
        pthread_mutex_t *fresh = malloc(sizeof *fresh);
        CHECK(pthread_mutex_init(fresh, NULL) == 0);
        pthread_mutex_lock(fresh);
        pthread_mutex_unlock(fresh);
        CHECK(pthread_mutex_destroy(fresh) == 0);
        free(fresh);
    }
}

/* The same two statements, reached in two ways that look alike on the stack. */
static pthread_mutex_t made[400];

__attribute__((noinline)) static void make_pair(int first) {
    CHECK(pthread_mutex_init(&made[first], NULL) == 0);
    CHECK(pthread_mutex_init(&made[first + 1], NULL) == 0);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void one_way(int first) {
    make_pair(first);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void other_way(int first) {
    make_pair(first);
    __asm__ volatile("" ::: "memory");
}

static void sites(void) {
    for (int first = 0; first < 400; first += 4) {
        one_way(first);
        other_way(first + 2);
    }
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&made[i]);
        pthread_mutex_unlock(&made[i]);
    }
}

/* As C++ does: initialized by plain stores, destroyed by nothing at all. */
static void never_destroyed(void) {
    enum { ALIVE = 5000 };
    static pthread_mutex_t mutexes[ALIVE];
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < ALIVE; i++) {
            memset(&mutexes[i], 0, sizeof mutexes[i]);
            pthread_mutex_lock(&mutexes[i]);
            pthread_mutex_unlock(&mutexes[i]);
        }
}

static void *spin_100000(void *unused) {
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        CHECK(pthread_spin_lock(&spin) == 0);
        counter++;
        CHECK(pthread_spin_unlock(&spin) == 0);
    }
    return NULL;
}

static void spins(void) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    in_threads(2, spin_100000);
    CHECK(counter == 200000);
    CHECK(pthread_spin_trylock(&spin) == 0);
    for (int i = 0; i < 9; i++)
        CHECK(pthread_spin_trylock(&spin) == EBUSY);
    pthread_spin_unlock(&spin);
    pthread_spin_destroy(&spin);
}

static void *die_holding(void *robust) {
    CHECK(pthread_mutex_lock(robust) == 0);
    return NULL;
}

static void kinds(void) {
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_mutex_t robust;
    pthread_mutexattr_t attr;
    pthread_t thread;
    for (int i = 0; i < 1000; i++) {
        for (int depth = 0; depth < 3; depth++)
            CHECK(pthread_mutex_lock(&recursive) == 0);
        for (int depth = 0; depth < 3; depth++)
            CHECK(pthread_mutex_unlock(&recursive) == 0);
        CHECK(pthread_mutex_unlock(&recursive) == EPERM);
    }
    CHECK(pthread_mutex_lock(&checking) == 0);
    CHECK(pthread_mutex_lock(&checking) == EDEADLK);
    CHECK(pthread_mutex_unlock(&checking) == 0);
    CHECK(pthread_mutex_unlock(&checking) == EPERM);

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_mutex_init(&robust, &attr) == 0);
    CHECK(pthread_create(&thread, NULL, die_holding, &robust) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&robust) == 0);
    CHECK(pthread_mutex_unlock(&robust) == 0);
    CHECK(pthread_mutex_destroy(&robust) == 0);
}

/* A read-write lock of each preference, the more often taken the later. glibc lets readers pass under the
   first two. */
static void preferences(void) {
    static pthread_rwlock_t locks[3];
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    for (int kind = 0; kind < 3; kind++) {
        CHECK(pthread_rwlockattr_setkind_np(&attr, kind) == 0);
        CHECK(pthread_rwlock_init(&locks[kind], &attr) == 0);
        for (int i = 0; i < 10 * (kind + 1); i++) {
            CHECK(pthread_rwlock_wrlock(&locks[kind]) == 0);
            CHECK(pthread_rwlock_unlock(&locks[kind]) == 0);
        }
    }
}

/* A contended section and a long sleep: waits and thinking asleep. */
static void *hold_long(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        usleep(2000);
        pthread_mutex_unlock(&mutex);
        usleep(1000);
    }
    return NULL;
}

static void waits(void) {
    in_threads(3, hold_long);
}

static pthread_mutex_t own[4] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};

static void *take_own(void *number) {
    take(1);
    /* From here to the other barrier all four are alive and known. */
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&own[(long)number]);
        pthread_mutex_unlock(&own[(long)number]);
        take(1);
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void own_locks(void) {
    pthread_barrier_init(&barrier, NULL, 4);
    in_threads(4, take_own);
}

/* Takes locks, limits its address space to 128 MB, uses half of that, and takes locks again. */
static void limited(void) {
    take(10);
    struct rlimit limit = {128 << 20, 128 << 20};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    void *half = malloc(64 << 20);
    CHECK(half != NULL);
    memset(half, 1, 64 << 20);
    free(half);
    take(10);
}

int main(int argc, char **argv) {
    const char *scenario = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"limited", limited},   {"count", count},       {"nested", nested},           {"tries", tries},
        {"nested_in_many", nested_in_many},
        {"priorities", priorities},
        {"readers", readers},   {"many_readers", many_readers}, {"conditions", conditions},
        {"cancelled", cancelled}, {"threads", threads},       {"short_lived", short_lived},
        {"never_destroyed", never_destroyed}, {"spins", spins}, {"kinds", kinds},
        {"preferences", preferences},
        {"waits", waits},       {"sites", sites},             {"own", own_locks},
    };
    if (strcmp(scenario, "ends") == 0) {
        ends(argv[0]);
        return 6;
    }
    if (strcmp(scenario, "fifty") == 0) {
        take(50);
        return 0;
    }
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenario, scenarios[i].name) == 0) {
            scenarios[i].run();
            return 0;
        }
    fprintf(stderr, "no scenario %s\n", scenario);
    return 2;
}
