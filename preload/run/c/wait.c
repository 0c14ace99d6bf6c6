/* What cannot be written in Rust: sleeping where pthread_cancel may strike, and thread-local
   storage at a fixed offset from the thread pointer. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The first fields of `Waiter` in waiter.rs. */
struct waiter {
    _Atomic uint32_t state;
    void *links[2];
    int operation;
    const struct timespec *deadline;
    void (*cancelled)(void *waiter);
};

/* States up to this one mean that the waiter is to sleep on. */
enum { LAST_ASLEEP = 1 };

/* Sleeps until the state says to wake (0) or the deadline passes (1). */
static int sleep_on(struct waiter *waiter)
{
    for (;;) {
        uint32_t state = atomic_load_explicit(&waiter->state, memory_order_acquire);
        if (state > LAST_ASLEEP)
            return 0;
        /* Only an asynchronous cancellation ends a system call that the C library does not
           know to be a cancellation point. Nothing but that call happens meanwhile. */
        int type;
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
        long result = syscall(SYS_futex, &waiter->state, waiter->operation, state,
                              waiter->deadline, NULL, FUTEX_BITSET_MATCH_ANY);
        int error = result == 0 ? 0 : errno;
        pthread_setcanceltype(type, NULL);
        if (error == ETIMEDOUT)
            return 1;
    }
}

/* Sleeps until the state says to wake. Returns 1 if the deadline passed first, else 0.
   A cancellation point: a cancelled thread calls `cancelled` and does not return. */
int kilocore_sleep(struct waiter *waiter)
{
    /* Volatile, because a cancelled thread jumps back to where pthread_cleanup_push saved it. */
    volatile int before = errno;
    volatile int timed_out;
    pthread_cleanup_push(waiter->cancelled, waiter);
    timed_out = sleep_on(waiter);
    pthread_cleanup_pop(0);
    errno = before;
    return timed_out;
}

/* Keeps asynchronous cancellation away from what cannot stand it. Returns whether the thread was
   open to it, for kilocore_open. */
int kilocore_close(void)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return type == PTHREAD_CANCEL_ASYNCHRONOUS;
}

/* Opens the thread to asynchronous cancellation again. If a request came meanwhile, calls `undo`
   and does not return. */
void kilocore_open(void (*undo)(void *), void *argument)
{
    pthread_cleanup_push(undo, argument);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_pop(0);
}

/* Sleeps while `word` holds `value` and the deadline, if there is one, has not passed, at most
   once. Returns 1 if it has passed, else 0. A cancellation point: a cancelled thread calls
   `cancelled` and does not return. */
int kilocore_doze(const _Atomic uint32_t *word, uint32_t value, int operation,
                  const struct timespec *deadline, void (*cancelled)(void *), void *argument)
{
    /* Volatile, as above. */
    volatile int before = errno;
    volatile int error;
    pthread_cleanup_push(cancelled, argument);
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    long result =
        syscall(SYS_futex, word, operation, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    error = result == 0 ? 0 : errno;
    pthread_setcanceltype(type, NULL);
    pthread_cleanup_pop(0);
    errno = before;
    return error == ETIMEDOUT;
}

/* Sleeps for a moment, then calls `wake`, whether cancelled or not. A cancellation point. */
void kilocore_nap(const struct timespec *moment, void (*wake)(void *), void *argument)
{
    volatile int before = errno;
    pthread_cleanup_push(wake, argument);
    nanosleep(moment, NULL);
    pthread_cleanup_pop(1);
    errno = before;
}

/* `Slot` in slot.rs. The initial-exec model makes its address one addition; a library
   that is loaded at program start may use it. */
enum { STATE_BYTES = 248 };
struct slot {
    alignas(64) unsigned char state[STATE_BYTES];
    uint32_t phase;
    uint32_t impatience;
};
__attribute__((tls_model("initial-exec"))) _Thread_local struct slot kilocore_thread_slot;

/* The same for machines whose thread pointer Rust code does not read itself. */
struct slot *kilocore_thread_slot_address(void)
{
    return &kilocore_thread_slot;
}
