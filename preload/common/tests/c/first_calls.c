/* The first call of each function that a preloaded library displaces. Each is made in a process of
   its own.

       first_calls list                    prints the names of all functions that it knows
       first_calls dlopen LIBRARY NAME...  calls them while another thread is in dlopen of LIBRARY,
                                           whose constructor waits for the call
       first_calls dlerror NAME...         calls them between an error of the dynamic linker and
                                           dlerror, which must still tell it

   Prints a line for each function that fails, and then "ok" if none did. A function that the C
   library at hand does not have is left out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

sem_t in_constructor, called;
int came;

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
/* Spin locks are free when they are 1, on x86, and barriers are not initialized here by a call that
   would itself be a first one: this is one of a single thread, as glibc writes it. */
static pthread_spinlock_t spin = 1;
static union { unsigned words[8]; pthread_barrier_t object; } barrier = {{0, 0, 1}};
static const struct timespec past = {1, 0};
static const struct rlimit no_core;
/* Words and an environment for "/", which is no program: whoever executes it goes on. */
static char *const words[] = {"none", NULL};
static pid_t child;
static volatile int over;
/* The function that is called: it was looked up before, as the static linker would have done. */
static void *function;

#define AS(type, ...) ((type (*)())function)(__VA_ARGS__)
#define INT(...) AS(int, __VA_ARGS__)

static void *nothing(void *argument) { return argument; }

/* Calls a function on both kinds of mutex: the second one is always glibc's own. */
#define MUTEXES(...)                                                                    \
    pthread_mutex_t *mutex = &recursive;                                                \
    INT(__VA_ARGS__);                                                                   \
    mutex = &plain;                                                                     \
    INT(__VA_ARGS__)

/* Wakes a waiter of the condition until it is awake. Its own calls are no first ones by then. */
static void *wake(void *argument)
{
    int (*signal)(pthread_cond_t *) = (int (*)(pthread_cond_t *))argument;
    while (!over) {
        signal(&condition);
        sched_yield();
    }
    return NULL;
}

static void wait_for_condition(void)
{
    pthread_t waker;
    pthread_create(&waker, NULL, wake, (void *)pthread_cond_broadcast);
    pthread_mutex_lock(&recursive);
    INT(&condition, &recursive);
    pthread_mutex_unlock(&recursive);
    over = 1;
    pthread_join(waker, NULL);
}

static void wait_in_vain(int clocked)
{
    /* glibc's waits unlock what was not locked, too. Whatever they answer, they were called. */
    pthread_mutex_t *mutexes[] = {&recursive, &plain};
    for (int i = 0; i < 2; i++) {
        if (clocked)
            INT(&condition, mutexes[i], CLOCK_REALTIME, &past);
        else
            INT(&condition, mutexes[i], &past);
    }
}

static void create(void)
{
    pthread_t thread;
    if (INT(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}

static void initialize_mutex(void)
{
    pthread_mutex_t mutex;
    INT(&mutex, NULL);
}

static void initialize_mutex_of_c11(void)
{
    mtx_t mutex;
    INT(&mutex, mtx_plain);
}

static void initialize_condition_of_c11(void)
{
    cnd_t unused;
    INT(&unused);
}

static void initialize_rwlock(void)
{
    pthread_rwlock_t lock;
    INT(&lock, NULL);
}

static void destroy_condition(void)
{
    pthread_cond_t unused = PTHREAD_COND_INITIALIZER;
    INT(&unused);
}

static void initialize_condition(void)
{
    pthread_cond_t unused;
    INT(&unused, NULL);
}

static void destroy_rwlock(void)
{
    pthread_rwlock_t unused = PTHREAD_RWLOCK_INITIALIZER;
    INT(&unused);
}

static void initialize_barrier(void)
{
    pthread_barrier_t unused;
    INT(&unused, NULL, 1);
}

static void initialize_spin(void)
{
    pthread_spinlock_t unused;
    INT(&unused, 0);
}

static void make_key(void)
{
    pthread_key_t key;
    INT(&key, NULL);
}

#define FUNCTIONS(_)                                                                    \
    _(pthread_mutex_init, initialize_mutex())                                           \
    _(__pthread_mutex_init, initialize_mutex())                                         \
    _(pthread_mutex_destroy, MUTEXES(mutex))                                            \
    _(__pthread_mutex_destroy, MUTEXES(mutex))                                          \
    _(pthread_mutex_lock, MUTEXES(mutex))                                               \
    _(__pthread_mutex_lock, MUTEXES(mutex))                                             \
    _(pthread_mutex_trylock, MUTEXES(mutex))                                            \
    _(__pthread_mutex_trylock, MUTEXES(mutex))                                          \
    _(pthread_mutex_timedlock, MUTEXES(mutex, &past))                                   \
    _(pthread_mutex_clocklock, MUTEXES(mutex, CLOCK_REALTIME, &past); MUTEX_MONOTONIC)  \
    _(pthread_mutex_unlock, MUTEXES(mutex))                                             \
    _(__pthread_mutex_unlock, MUTEXES(mutex))                                           \
    _(pthread_cond_init, initialize_condition())                                        \
    _(pthread_cond_destroy, destroy_condition())                                        \
    _(pthread_cond_wait, wait_for_condition())                                          \
    _(pthread_cond_timedwait, wait_in_vain(0))                                          \
    _(pthread_cond_clockwait, wait_in_vain(1))                                          \
    _(pthread_cond_signal, INT(&condition))                                             \
    _(pthread_cond_broadcast, INT(&condition))                                          \
    _(mtx_init, initialize_mutex_of_c11())                                              \
    _(mtx_destroy, MUTEXES(mutex))                                                      \
    _(mtx_lock, MUTEXES(mutex))                                                         \
    _(mtx_trylock, MUTEXES(mutex))                                                      \
    _(mtx_timedlock, MUTEXES(mutex, &past))                                             \
    _(mtx_unlock, MUTEXES(mutex))                                                       \
    _(cnd_init, initialize_condition_of_c11())                                          \
    _(cnd_destroy, destroy_condition())                                                 \
    _(cnd_wait, wait_for_condition())                                                   \
    _(cnd_timedwait, wait_in_vain(0))                                                   \
    _(cnd_signal, INT(&condition))                                                      \
    _(cnd_broadcast, INT(&condition))                                                   \
    _(pthread_rwlock_init, initialize_rwlock())                                         \
    _(__pthread_rwlock_init, initialize_rwlock())                                       \
    _(pthread_rwlock_destroy, destroy_rwlock())                                         \
    _(__pthread_rwlock_destroy, destroy_rwlock())                                       \
    _(pthread_rwlock_rdlock, INT(&rwlock))                                              \
    _(__pthread_rwlock_rdlock, INT(&rwlock))                                            \
    _(pthread_rwlock_tryrdlock, INT(&rwlock))                                           \
    _(__pthread_rwlock_tryrdlock, INT(&rwlock))                                         \
    _(pthread_rwlock_timedrdlock, INT(&rwlock, &past))                                  \
    _(pthread_rwlock_clockrdlock, INT(&rwlock, CLOCK_MONOTONIC, &past))                 \
    _(pthread_rwlock_wrlock, INT(&rwlock))                                              \
    _(__pthread_rwlock_wrlock, INT(&rwlock))                                            \
    _(pthread_rwlock_trywrlock, INT(&rwlock))                                           \
    _(__pthread_rwlock_trywrlock, INT(&rwlock))                                         \
    _(pthread_rwlock_timedwrlock, INT(&rwlock, &past))                                  \
    _(pthread_rwlock_clockwrlock, INT(&rwlock, CLOCK_MONOTONIC, &past))                 \
    _(pthread_rwlock_unlock, INT(&rwlock))                                              \
    _(__pthread_rwlock_unlock, INT(&rwlock))                                            \
    _(pthread_barrier_init, initialize_barrier())                                       \
    _(pthread_barrier_destroy, INT(&barrier.object))                                    \
    _(pthread_barrier_wait, INT(&barrier.object))                                       \
    _(pthread_spin_init, initialize_spin())                                             \
    _(pthread_spin_destroy, INT(&spin))                                                 \
    _(pthread_spin_lock, INT(&spin))                                                    \
    _(pthread_spin_trylock, INT(&spin))                                                 \
    _(pthread_spin_unlock, INT(&spin))                                                  \
    _(pthread_create, create())                                                         \
    _(pthread_key_create, make_key())                                                   \
    _(__pthread_key_create, make_key())                                                 \
    _(tss_create, make_key())                                                           \
    _(dlvsym, /* asks the linker, as that is what it is for */)                         \
    _(setrlimit, INT(RLIMIT_CORE, &no_core))                                            \
    _(setrlimit64, INT(RLIMIT_CORE, &no_core))                                          \
    _(prlimit, INT(0, RLIMIT_CORE, &no_core, NULL))                                     \
    _(prlimit64, INT(0, RLIMIT_CORE, &no_core, NULL))                                   \
    _(prctl, INT(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L))                                      \
    _(syscall, AS(long, (long)SYS_getpid, 0L, 0L, 0L, 0L, 0L, 0L))                      \
    _(chroot, INT("/no/such/directory"))                                                \
    _(execv, INT("/", words))                                                           \
    _(execve, INT("/", words, words))                                                   \
    _(execvp, INT("/", words))                                                          \
    _(execvpe, INT("/", words, words))                                                  \
    _(posix_spawn, INT(&child, "/", NULL, NULL, words, words))                          \
    _(posix_spawnp, INT(&child, "/", NULL, NULL, words, words))                         \
    _(_exit, INT(0))                                                                    \
    _(_Exit, INT(0))

#define MUTEX_MONOTONIC INT(&recursive, CLOCK_MONOTONIC, &past)

#define DEFINE(name, call) static void call_##name(void) { call; }
FUNCTIONS(DEFINE)

#define ENTRY(name, call) {#name, call_##name},
static const struct { const char *name; void (*call)(void); } functions[] = {FUNCTIONS(ENTRY)};
enum { COUNT = sizeof functions / sizeof *functions };

static void (*call)(void);

static void *call_it(void *none)
{
    sem_wait(&in_constructor);
    call();
    sem_post(&called);
    return none;
}

static int during_dlopen(const char *library)
{
    pthread_t thread;
    sem_init(&in_constructor, 0, 0);
    sem_init(&called, 0, 0);
    if (pthread_create(&thread, NULL, call_it, NULL) != 0)
        return 2;
    if (dlopen(library, RTLD_NOW) == NULL) {
        puts(dlerror());
        return 3;
    }
    return !came;
}

static int before_dlerror(void)
{
    if (dlopen("/no/such/library.so", RTLD_NOW) != NULL)
        return 2;
    call();
    return dlerror() == NULL;
}

int main(int count, char **words)
{
    const char *mode = count > 1 ? words[1] : "";
    const char *library = strcmp(mode, "dlopen") == 0 && count > 2 ? words[2] : NULL;
    int failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(mode, "list") == 0) {
        for (int i = 0; i < COUNT; i++)
            puts(functions[i].name);
        return 0;
    }
    for (int word = library ? 3 : 2; word < count; word++) {
        int at = 0, status = 0;
        while (at < COUNT && strcmp(functions[at].name, words[word]) != 0)
            at++;
        if (at == COUNT) {
            printf("%s: not known\n", words[word]);
            failed = 1;
            continue;
        }
        function = dlsym(RTLD_DEFAULT, functions[at].name);
        if (function == NULL)
            continue;
        /* What the look-up above may have to tell is told. */
        dlerror();
        call = functions[at].call;
        pid_t child = fork();
        if (child == 0)
            /* Without the library's own functions, which end a process. */
            syscall(SYS_exit_group, library ? during_dlopen(library) : before_dlerror());
        waitpid(child, &status, 0);
        if (status != 0) {
            printf("%s: status %x\n", functions[at].name, status);
            failed = 1;
        }
    }
    if (!failed)
        puts("ok");
    return failed;
}
