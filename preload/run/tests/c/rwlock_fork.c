/* Forking inside read-write locks for which other threads wait.

   Under glibc, a child cannot leave as the writer. glibc knows a writer by the number of its
   thread, which is another one in the child. There, such children do nothing. */
#include "check.h"
#include <sys/wait.h>

enum { FORKS = 25, THREADS = 3, CHILDREN = 3, TURNS = 50 };

/* The second prefers writers. A writer that reads no lock twice may use it. */
static pthread_rwlock_t locks[2] = {PTHREAD_RWLOCK_INITIALIZER,
                                    PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};
static pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int stop, waiting, replaced;
static volatile long values[2];

static void *contend(void *argument)
{
    unsigned turn = (unsigned)(long)argument;
    while (!stop) {
        int i = (int)(turn % 2);
        if (turn++ % 3) {
            GIVES(0, pthread_rwlock_rdlock(&locks[i]));
            long value = values[i];
            sched_yield();
            GIVES(value, values[i]);
        } else {
            GIVES(0, pthread_rwlock_wrlock(&locks[i]));
            values[i]++;
        }
        GIVES(0, pthread_rwlock_unlock(&locks[i]));
    }
    return NULL;
}

/* What libraries do to keep their locks usable in a child. */
static void prepare(void)
{
    for (int i = 0; i < 2; i++)
        GIVES(0, pthread_rwlock_wrlock(&locks[i]));
}

static void release(void)
{
    for (int i = 2; i-- > 0;)
        GIVES(0, pthread_rwlock_unlock(&locks[i]));
}

static volatile int inside;

static void *take_turns(void *argument)
{
    for (int i = 0; i < TURNS; i++) {
        struct timespec far = from_now(CLOCK_MONOTONIC, 90000);
        if (i % 2) {
            GIVES(0, pthread_rwlock_wrlock(argument));
            GIVES(0, inside);
            inside = 1;
            sched_yield();
            inside = 0;
        } else {
            GIVES(0, i % 4 ? pthread_rwlock_clockrdlock(argument, CLOCK_MONOTONIC, &far)
                           : pthread_rwlock_rdlock(argument));
            GIVES(0, inside);
        }
        GIVES(0, pthread_rwlock_unlock(argument));
    }
    return NULL;
}

/* The child's only thread has been the writer since before the fork. */
static void be_a_writer(pthread_rwlock_t *lock, int with_threads)
{
    pthread_t threads[CHILDREN];
    inside = 1;
    GIVES(EDEADLK, pthread_rwlock_rdlock(lock));
    GIVES(EDEADLK, pthread_rwlock_wrlock(lock));
    GIVES(EBUSY, pthread_rwlock_tryrdlock(lock));
    GIVES(EBUSY, pthread_rwlock_trywrlock(lock));
    for (int i = 0; with_threads && i < CHILDREN; i++)
        threads[i] = start(take_turns, lock);
    for (int i = 0; i < 20; i++)
        sched_yield(); /* let them come */
    inside = 0;
    GIVES(0, pthread_rwlock_unlock(lock));
    for (int i = 0; with_threads && i < CHILDREN; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(0, pthread_rwlock_trywrlock(lock));
    GIVES(EBUSY, pthread_rwlock_tryrdlock(lock));
    GIVES(0, pthread_rwlock_unlock(lock));
    GIVES(0, pthread_rwlock_tryrdlock(lock));
    GIVES(0, pthread_rwlock_unlock(lock));
}

/* A grandchild can do the same. */
static void have_a_child(void)
{
    GIVES(0, pthread_rwlock_wrlock(&read_lock));
    pid_t child = fork();
    GIVES(0, pthread_rwlock_unlock(&read_lock));
    if (child == 0) {
        GIVES(0, pthread_rwlock_wrlock(&read_lock));
        _exit(0);
    }
    int status;
    GIVES(child, waitpid(child, &status, 0));
    GIVES(0, status);
}

static void *write_later(void *argument)
{
    waiting = gettid();
    GIVES(0, pthread_rwlock_wrlock(argument));
    GIVES(0, pthread_rwlock_unlock(argument));
    return NULL;
}

static void *read_later(void *argument)
{
    waiting = gettid();
    GIVES(0, pthread_rwlock_rdlock(argument));
    GIVES(0, pthread_rwlock_unlock(argument));
    return NULL;
}

static void check_child(pid_t child)
{
    int status;
    CHECK(child > 0);
    GIVES(child, waitpid(child, &status, 0));
    GIVES(0, status);
}

/* This thread is the writer and forks, while a reader and a writer wait. */
static void fork_as_writer(int with_threads)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_t threads[2];
    GIVES(0, pthread_rwlock_wrlock(&lock));
    for (int i = 0; i < 2; i++) {
        waiting = 0;
        threads[i] = start(i ? write_later : read_later, &lock);
        while (!waiting || !sleeps(waiting))
            sched_yield();
    }
    pid_t child = fork();
    if (child == 0) {
        if (replaced) {
            be_a_writer(&lock, with_threads);
            have_a_child();
        }
        _exit(0);
    }
    GIVES(0, pthread_rwlock_unlock(&lock));
    check_child(child);
    for (int i = 0; i < 2; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    GIVES(0, pthread_rwlock_destroy(&lock));
}

/* The child's thread reads since before the fork. It may read again and leave. */
static void fork_as_reader(void)
{
    GIVES(0, pthread_rwlock_rdlock(&read_lock));
    pid_t child = fork();
    GIVES(0, pthread_rwlock_rdlock(&read_lock));
    GIVES(0, pthread_rwlock_unlock(&read_lock));
    GIVES(EBUSY, pthread_rwlock_trywrlock(&read_lock));
    GIVES(0, pthread_rwlock_unlock(&read_lock));
    GIVES(0, pthread_rwlock_trywrlock(&read_lock));
    GIVES(0, pthread_rwlock_unlock(&read_lock));
    if (child == 0)
        _exit(0);
    check_child(child);
}

static void read_some(pthread_rwlock_t *lock)
{
    for (int i = 0; i < 100; i++) {
        GIVES(0, pthread_rwlock_rdlock(lock));
        GIVES(0, pthread_rwlock_unlock(lock));
    }
}

static volatile int reads;

static void *read_for_long(void *argument)
{
    GIVES(0, pthread_rwlock_rdlock(argument));
    reads = 1;
    while (!stop)
        usleep(1000);
    GIVES(0, pthread_rwlock_unlock(argument));
    return NULL;
}

/* Another thread reads. The child, in which it does not exist, makes the lock anew, as handlers for
   forks do. */
static void fork_beside_a_reader(void)
{
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    read_some(&lock);
    pthread_t reader = start(read_for_long, &lock);
    while (!reads)
        sched_yield();
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        GIVES(0, pthread_rwlock_init(&lock, NULL));
        read_some(&lock);
        GIVES(0, pthread_rwlock_wrlock(&lock));
        GIVES(0, pthread_rwlock_unlock(&lock));
        _exit(0);
    }
    check_child(child);
    stop = 1;
    GIVES(0, pthread_join(reader, NULL));
    stop = 0;
}

int main(void)
{
    fork_beside_a_reader();
    replaced = getenv("KILOCORE_RWLOCK") != NULL;
    for (int i = 0; i < FORKS; i++) {
        fork_as_writer(i % 2);
        fork_as_reader();
    }
    GIVES(0, pthread_atfork(prepare, release, release));
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        threads[i] = start(contend, (void *)i);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int j = 0; replaced && j < 2; j++) {
                GIVES(0, pthread_rwlock_wrlock(&locks[j]));
                be_a_writer(&locks[j], 1);
            }
            _exit(0);
        }
        check_child(child);
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        GIVES(0, pthread_join(threads[i], NULL));
    return finish();
}
