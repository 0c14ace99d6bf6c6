/* Prints what each call gives on each kind of lock in each state: one line a call, the same
   whatever the program is run under if that changes nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *name_of(int result) {
    static char number[16];
    switch (result) {
    case 0: return "0";
    case PTHREAD_BARRIER_SERIAL_THREAD: return "serial";
    }
    const char *name = strerrorname_np(result);
    if (name != NULL)
        return name;
    snprintf(number, sizeof number, "%d", result);
    return number;
}

/* Whether a lock turned out not to be recoverable: glibc's trylock then leaves it in a state in
   which neither locking nor unlocking is safe. */
static int beyond_help;

static void print(int result) {
    printf(" %s%s", name_of(result), errno == 77 ? "" : "(errno)");
    beyond_help |= result == ENOTRECOVERABLE;
}

/* Runs a call with errno set, and prints what it gave and whether errno stayed. */
#define SHOW(call) (errno = 77, print(call))

/* Deadlines. */
enum deadline { PAST, SOON, NEGATIVE, TOO_MANY_NS, BELOW_ZERO_NS, DEADLINES };
static const char *const deadline_names[] = {"past", "soon", "negative", "ns=1e9", "ns=-1"};

static struct timespec at(clockid_t clock, enum deadline which) {
    struct timespec time = {0, 0};
    if (clock_gettime(clock, &time) != 0)
        clock_gettime(CLOCK_REALTIME, &time);
    switch (which) {
    case PAST: time.tv_sec -= time.tv_sec > 0; break;
    case SOON:
        time.tv_nsec += 2000000;
        if (time.tv_nsec >= 1000000000) {
            time.tv_nsec -= 1000000000;
            time.tv_sec++;
        }
        break;
    case NEGATIVE: time.tv_sec = -1; break;
    case TOO_MANY_NS: time.tv_nsec = 1000000000; break;
    default: time.tv_nsec = -1;
    }
    return time;
}

static const struct { const char *name; clockid_t id; } clocks[] = {
    {"realtime", CLOCK_REALTIME},
    {"monotonic", CLOCK_MONOTONIC},
    {"cputime", CLOCK_PROCESS_CPUTIME_ID},
    {"none", 77},
};

/* Another thread that does something to a lock, and perhaps something more when it is told to. */
struct other {
    pthread_t thread;
    sem_t done, go;
    int (*first)(void *);
    int (*then)(void *);
    void *lock;
    int result;
};

static void *other_runs(void *argument) {
    struct other *other = argument;
    other->result = other->first(other->lock);
    sem_post(&other->done);
    while (sem_wait(&other->go) != 0) {}
    if (other->then != NULL)
        other->then(other->lock);
    return NULL;
}

static void other_begins(struct other *other, void *lock, int (*first)(void *), int (*then)(void *)) {
    *other = (struct other){.lock = lock, .first = first, .then = then};
    sem_init(&other->done, 0, 0);
    sem_init(&other->go, 0, 0);
    if (pthread_create(&other->thread, NULL, other_runs, other) != 0)
        abort();
    while (sem_wait(&other->done) != 0) {}
}

static void other_ends(struct other *other) {
    sem_post(&other->go);
    pthread_join(other->thread, NULL);
}

static int mutex_lock(void *mutex) { return pthread_mutex_lock(mutex); }
static int mutex_try(void *mutex) { return pthread_mutex_trylock(mutex); }
static int mutex_unlock(void *mutex) { return pthread_mutex_unlock(mutex); }
static int read_lock(void *lock) { return pthread_rwlock_rdlock(lock); }
static int read_try(void *lock) { return pthread_rwlock_tryrdlock(lock); }
static int write_lock(void *lock) { return pthread_rwlock_wrlock(lock); }
static int write_try(void *lock) { return pthread_rwlock_trywrlock(lock); }
static int read_write_unlock(void *lock) { return pthread_rwlock_unlock(lock); }

/* What another thread is told that tries; it gives back what it gets. */
static void probe(void *lock, int (*try)(void *), int (*unlock)(void *)) {
    struct other other;
    other_begins(&other, lock, try, NULL);
    printf(" [%s", name_of(other.result));
    if (other.result == 0) {
        other.then = unlock;
    }
    printf("]");
    beyond_help |= other.result == ENOTRECOVERABLE;
    other_ends(&other);
}

/* Mutexes. */
struct kind { int type, robust, protocol, shared; };
enum state { FREE, MINE, THEIRS, ORPHANED, ADOPTED, LOST, DESTROYED, STATES };
static const char *const state_names[] = {"free",    "mine", "theirs",   "orphaned",
                                          "adopted", "lost", "destroyed"};
enum call { LOCK, TRY, UNLOCK, DESTROY, CONSISTENT, CALLS };
static const char *const call_names[] = {"lock", "try", "unlock", "destroy", "consistent"};

static pthread_mutex_t *make_mutex(struct kind kind) {
    /* Never freed: a robust one may stay in a list of its thread. */
    pthread_mutex_t *mutex = calloc(1, sizeof *mutex);
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, kind.type);
    pthread_mutexattr_setrobust(&attr, kind.robust);
    pthread_mutexattr_setprotocol(&attr, kind.protocol);
    if (kind.protocol == PTHREAD_PRIO_PROTECT)
        pthread_mutexattr_setprioceiling(&attr, 3);
    pthread_mutexattr_setpshared(&attr, kind.shared);
    int result = pthread_mutex_init(mutex, &attr);
    if (result != 0) {
        printf("init %s\n", name_of(result));
        return NULL;
    }
    return mutex;
}

/* Whether an untimed wait would never end: such calls are left out. */
static int never_returns(struct kind kind, enum state state) {
    int checks = kind.type == PTHREAD_MUTEX_ERRORCHECK || kind.type == PTHREAD_MUTEX_RECURSIVE;
    return state == THEIRS || ((state == MINE || state == ADOPTED) && !checks);
}

static void calls_of(pthread_mutex_t *mutex, struct kind kind, enum state state, int call) {
    switch (call) {
    case LOCK:
        if (never_returns(kind, state))
            printf(" -");
        else
            SHOW(pthread_mutex_lock(mutex));
        break;
    case TRY: SHOW(pthread_mutex_trylock(mutex)); break;
    case UNLOCK: SHOW(pthread_mutex_unlock(mutex)); break;
    case DESTROY: SHOW(pthread_mutex_destroy(mutex)); break;
    case CONSISTENT: SHOW(pthread_mutex_consistent(mutex)); break;
    }
}

/* A condition wait is defined for mutexes that the caller holds, or that say that it does not. */
static int may_wait(struct kind kind, enum state state) {
    return state == MINE || (state == ADOPTED && kind.robust) ||
           (state == FREE && kind.type == PTHREAD_MUTEX_ERRORCHECK);
}

static void in_state(struct kind kind, enum state state, const char *title,
                     void (*act)(pthread_mutex_t *, struct kind, enum state, int, int), int a, int b) {
    struct other other;
    int theirs = 0;
    pthread_mutex_t *mutex = make_mutex(kind);
    if (mutex == NULL)
        return;
    printf("  %s %s:", state_names[state], title);
    beyond_help = 0;
    if (state == MINE)
        SHOW(pthread_mutex_lock(mutex));
    if (state == THEIRS || state >= ORPHANED) {
        if (state != DESTROYED) {
            other_begins(&other, mutex, mutex_lock, state == THEIRS ? mutex_unlock : NULL);
            theirs = state == THEIRS;
            if (!theirs)
                other_ends(&other);
        } else {
            SHOW(pthread_mutex_destroy(mutex));
        }
    }
    if (state == ADOPTED || state == LOST)
        SHOW(pthread_mutex_lock(mutex));
    if (state == LOST)
        SHOW(pthread_mutex_unlock(mutex));
    printf(" |");
    act(mutex, kind, state, a, b);
    if (state != DESTROYED)
        probe(mutex, mutex_try, mutex_unlock);
    if (theirs) {
        other_ends(&other);
        /* Now that it is free: whether what failed left anything behind. */
        probe(mutex, mutex_try, mutex_unlock);
    }
    if (!beyond_help)
        SHOW(pthread_mutex_unlock(mutex));
    if (!beyond_help)
        SHOW(pthread_mutex_trylock(mutex));
    if (!beyond_help)
        SHOW(pthread_mutex_unlock(mutex));
    SHOW(pthread_mutex_destroy(mutex));
    printf("\n");
}

static void plain_call(pthread_mutex_t *mutex, struct kind kind, enum state state, int call, int b) {
    (void)b;
    calls_of(mutex, kind, state, call);
}

static void timed_call(pthread_mutex_t *mutex, struct kind kind, enum state state, int clock, int when) {
    (void)kind, (void)state;
    if (clock < 0) {
        struct timespec deadline = at(CLOCK_REALTIME, when);
        SHOW(pthread_mutex_timedlock(mutex, &deadline));
    } else {
        struct timespec deadline = at(clocks[clock].id, when);
        SHOW(pthread_mutex_clocklock(mutex, clocks[clock].id, &deadline));
    }
}

static void wait_call(pthread_mutex_t *mutex, struct kind kind, enum state state, int clock, int when) {
    (void)kind, (void)state;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    if (clock < 0) {
        struct timespec deadline = at(CLOCK_REALTIME, when);
        SHOW(pthread_cond_timedwait(&condition, mutex, &deadline));
    } else {
        struct timespec deadline = at(clocks[clock].id, when);
        SHOW(pthread_cond_clockwait(&condition, mutex, clocks[clock].id, &deadline));
    }
    SHOW(pthread_cond_signal(&condition));
    SHOW(pthread_cond_broadcast(&condition));
    SHOW(pthread_cond_destroy(&condition));
}

/* States that a kind cannot be in, or in which it waits for ever. */
static int is_possible(struct kind kind, enum state state) {
    return state < ORPHANED || state == DESTROYED || kind.robust == PTHREAD_MUTEX_ROBUST;
}

static void mutexes_of(struct kind kind) {
    static const char *const types[] = {"normal", "recursive", "errorcheck", "adaptive"};
    static const char *const protocols[] = {"none", "inherit", "protect"};
    char title[64];
    printf("mutex %s%s %s%s\n", types[kind.type], kind.robust ? " robust" : "",
           protocols[kind.protocol], kind.shared ? " shared" : "");
    for (enum state state = FREE; state < STATES; state++) {
        if (!is_possible(kind, state))
            continue;
        for (int call = 0; call < CALLS; call++)
            in_state(kind, state, call_names[call], plain_call, call, 0);
        for (int clock = -1; clock < (int)LENGTH(clocks); clock++)
            for (int when = 0; when < DEADLINES; when++) {
                const char *name = clock < 0 ? "" : clocks[clock].name;
                snprintf(title, sizeof title, "timed %s %s", name, deadline_names[when]);
                in_state(kind, state, title, timed_call, clock, when);
                snprintf(title, sizeof title, "wait %s %s", name, deadline_names[when]);
                if (may_wait(kind, state))
                    in_state(kind, state, title, wait_call, clock, when);
            }
    }
}

static void mutexes(void) {
    for (int type = 0; type < 4; type++)
        for (int robust = 0; robust < 2; robust++)
            for (int protocol = 0; protocol < 3; protocol++)
                for (int shared = 0; shared < 2; shared++)
                    mutexes_of((struct kind){type, robust, protocol, shared});
}

/* A recursive mutex taken as often as it can be counted is not tried: that takes too long. */

/* Read-write locks. */
enum held { NOT_HELD, READ_BY_ME, READ_BY_THEM, WRITTEN_BY_ME, WRITTEN_BY_THEM, HELDS };
static const char *const held_names[] = {"free", "read by me", "read by them", "written by me",
                                         "written by them"};

static int hold_for(pthread_rwlock_t *lock, enum held held, struct other *other) {
    switch (held) {
    case READ_BY_ME: SHOW(pthread_rwlock_rdlock(lock)); return 0;
    case WRITTEN_BY_ME: SHOW(pthread_rwlock_wrlock(lock)); return 0;
    case READ_BY_THEM: other_begins(other, lock, read_lock, read_write_unlock); return 1;
    case WRITTEN_BY_THEM: other_begins(other, lock, write_lock, read_write_unlock); return 1;
    default: return 0;
    }
}

static void read_write_call(pthread_rwlock_t *lock, enum held held, int call, int clock, int when) {
    if (call < 2 && clock == -2) {
        /* Without a deadline, where that ends. */
        int waits = call == 0 ? held == WRITTEN_BY_THEM : held == READ_BY_ME || held == READ_BY_THEM || held == WRITTEN_BY_THEM;
        if (waits)
            printf(" -");
        else
            SHOW(call == 0 ? pthread_rwlock_rdlock(lock) : pthread_rwlock_wrlock(lock));
    } else if (call < 2) {
        struct timespec deadline = at(clock < 0 ? CLOCK_REALTIME : clocks[clock].id, when);
        if (clock < 0)
            SHOW(call == 0 ? pthread_rwlock_timedrdlock(lock, &deadline)
                           : pthread_rwlock_timedwrlock(lock, &deadline));
        else
            SHOW(call == 0 ? pthread_rwlock_clockrdlock(lock, clocks[clock].id, &deadline)
                           : pthread_rwlock_clockwrlock(lock, clocks[clock].id, &deadline));
    } else {
        SHOW(call == 2 ? pthread_rwlock_tryrdlock(lock) : pthread_rwlock_trywrlock(lock));
    }
}

static void read_write_case(int preference, int shared, enum held held, int call, int clock, int when) {
    pthread_rwlock_t *lock = calloc(1, sizeof *lock);
    pthread_rwlockattr_t attr;
    struct other other;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, preference);
    pthread_rwlockattr_setpshared(&attr, shared);
    printf("  %s call %d clock %d when %d:", held_names[held], call, clock, when);
    SHOW(pthread_rwlock_init(lock, &attr));
    int theirs = hold_for(lock, held, &other);
    printf(" |");
    read_write_call(lock, held, call, clock, when);
    probe(lock, read_try, read_write_unlock);
    probe(lock, write_try, read_write_unlock);
    if (theirs)
        other_ends(&other);
    for (int i = 0; i < 2; i++) {
        /* Gives back what is held: unlocking what is not is undefined. */
        int again = pthread_rwlock_trywrlock(lock);
        printf(" %s", name_of(again));
        SHOW(pthread_rwlock_unlock(lock));
        if (again == 0)
            break;
    }
    SHOW(pthread_rwlock_destroy(lock));
    printf("\n");
    free(lock);
}

static void read_write_locks(void) {
    for (int preference = 0; preference < 3; preference++)
        for (int shared = 0; shared < 2; shared++) {
            printf("read-write %d %d\n", preference, shared);
            for (enum held held = NOT_HELD; held < HELDS; held++)
                for (int call = 0; call < 4; call++) {
                    read_write_case(preference, shared, held, call, -2, 0);
                    for (int clock = -1; call < 2 && clock < (int)LENGTH(clocks); clock++)
                        for (int when = 0; when < DEADLINES; when++)
                            read_write_case(preference, shared, held, call, clock, when);
                }
        }
}

static void spin_locks(void) {
    for (int shared = 0; shared < 2; shared++) {
        pthread_spinlock_t spin;
        printf("spin:");
        SHOW(pthread_spin_init(&spin, shared));
        SHOW(pthread_spin_lock(&spin));
        SHOW(pthread_spin_trylock(&spin));
        SHOW(pthread_spin_unlock(&spin));
        SHOW(pthread_spin_trylock(&spin));
        SHOW(pthread_spin_unlock(&spin));
        SHOW(pthread_spin_unlock(&spin));
        SHOW(pthread_spin_destroy(&spin));
        printf("\n");
    }
}

static int wait_at(void *barrier) { return pthread_barrier_wait(barrier); }

static void barriers(void) {
    for (int shared = 0; shared < 2; shared++) {
        pthread_barrier_t barrier;
        pthread_barrierattr_t attr;
        pthread_barrierattr_init(&attr);
        pthread_barrierattr_setpshared(&attr, shared);
        printf("barrier:");
        SHOW(pthread_barrier_init(&barrier, &attr, 0));
        SHOW(pthread_barrier_init(&barrier, &attr, 0x80000000u));
        SHOW(pthread_barrier_init(&barrier, &attr, 1));
        SHOW(pthread_barrier_wait(&barrier));
        SHOW(pthread_barrier_wait(&barrier));
        SHOW(pthread_barrier_destroy(&barrier));
        SHOW(pthread_barrier_init(&barrier, NULL, 2));
        struct other other = {.lock = &barrier, .first = wait_at};
        sem_init(&other.done, 0, 0);
        sem_init(&other.go, 0, 1);
        pthread_create(&other.thread, NULL, other_runs, &other);
        int mine = pthread_barrier_wait(&barrier);
        pthread_join(other.thread, NULL);
        /* One of the two is told that it is the one. */
        printf(" %d", (mine == PTHREAD_BARRIER_SERIAL_THREAD) + (other.result == PTHREAD_BARRIER_SERIAL_THREAD));
        SHOW(pthread_barrier_destroy(&barrier));
        printf("\n");
    }
}

int main(void) {
    /* What waits for ever is a failure, not a hang. */
    alarm(300);
    mutexes();
    struct sched_param priority = {.sched_priority = 1};
    /* As a thread with a priority, for ceilings, where that is allowed. */
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0) {
        for (int robust = 0; robust < 2; robust++)
            for (int type = 0; type < 4; type++)
                mutexes_of((struct kind){type, robust, PTHREAD_PRIO_PROTECT, 0});
        priority.sched_priority = 0;
        pthread_setschedparam(pthread_self(), SCHED_OTHER, &priority);
    }
    read_write_locks();
    spin_locks();
    barriers();
    return 0;
}
