/* The parts that cannot be written in Rust: sleeping while pthread_cancel may end the thread, and
   thread-local storage at a fixed offset from the thread pointer. */

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

/* The first fields of `Waiter` in waiter.rs, with the same layout. */
struct waiter {
    _Atomic uint32_t state;
    void *links[2];
    int operation;
    const struct timespec *deadline;
    void (*cancelled)(void *waiter);
};

/* The waiter sleeps on while its state is at most this one: `CHOSEN` in `sleeper_state`. */
enum { LAST_ASLEEP = 1 };

/* Sleeps until the state says to wake, and returns 0, or until the deadline passes, and returns
   1. */
static int sleep_on(struct waiter *waiter)
{
    for (;;) {
        uint32_t state = atomic_load_explicit(&waiter->state, memory_order_acquire);
        if (state > LAST_ASLEEP)
            return 0;
        /* The C library does not know that this system call is a cancellation point. Only an
           asynchronous cancellation can end it. The thread is open to that for nothing but this
           call. */
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

/* Sleeps until the state says to wake. Returns 1 if the deadline passed first, else 0. This is a
   cancellation point: a cancelled thread calls `cancelled` and does not return. */
int kilocore_sleep(struct waiter *waiter)
{
    /* Volatile, because a cancelled thread jumps back to where pthread_cleanup_push saved its
       state. */
    volatile int before = errno;
    volatile int timed_out;
    pthread_cleanup_push(waiter->cancelled, waiter);
    timed_out = sleep_on(waiter);
    pthread_cleanup_pop(0);
    errno = before;
    return timed_out;
}

/* Closes the thread to asynchronous cancellation, for code that must not be cancelled at an
   arbitrary instruction. Returns whether the thread was open to it. If it was, the caller opens it
   again with kilocore_open. */
int kilocore_close(void)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return type == PTHREAD_CANCEL_ASYNCHRONOUS;
}

/* Opens the thread to asynchronous cancellation again. If the thread was cancelled in the meantime,
   this calls `undo` and does not return. */
void kilocore_open(void (*undo)(void *), void *argument)
{
    pthread_cleanup_push(undo, argument);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_pop(0);
}

/* Makes one futex call, which sleeps if `word` has the value `value`. The sleep ends when the
   thread is woken, when the deadline passes, if there is one, or for no reason. Returns 1 if the
   call ended because the deadline passed, else 0. This is a cancellation point: a cancelled thread
   calls `cancelled` and does not return. */
int kilocore_doze(const _Atomic uint32_t *word, uint32_t value, int operation,
                  const struct timespec *deadline, void (*cancelled)(void *), void *argument)
{
    /* Volatile, as in kilocore_sleep. */
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

/* Sleeps for the time `moment`, then calls `wake`. This is a cancellation point: a cancelled thread
   calls `wake`, too, and does not return. */
void kilocore_nap(const struct timespec *moment, void (*wake)(void *), void *argument)
{
    volatile int before = errno;
    pthread_cleanup_push(wake, argument);
    nanosleep(moment, NULL);
    pthread_cleanup_pop(1);
    errno = before;
}

/* The same layout as `Slot` in slot.rs. In the initial-exec model, one addition computes the
   address of the slot. A library may use this model if it is loaded at program start. */
enum { STATE_BYTES = 244, READ_HOLD_BYTES = 208, POLL_BYTES = 16 };
struct slot {
    alignas(64) unsigned char state[STATE_BYTES];
    uint32_t phase;
    uint32_t impatience[2];
    unsigned char read_holds[READ_HOLD_BYTES];
    unsigned char polls[POLL_BYTES];
};
__attribute__((tls_model("initial-exec"))) _Thread_local struct slot kilocore_thread_slot;

/* Returns the address of the slot, for machines on which the Rust code does not read the thread
   pointer itself. */
struct slot *kilocore_thread_slot_address(void)
{
    return &kilocore_thread_slot;
}
