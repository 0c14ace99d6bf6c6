//! How threads wait for a mutex that is held.
//!
//! Most threads wait as [`Moderated`] describes, until they have the lock. Two kinds of threads may
//! give up: those with a deadline, and those that are open to asynchronous cancellation. They never
//! enter a lock's own queue, because a thread cannot leave such a queue before its turn. POSIX does
//! not allow a thread that is open to asynchronous cancellation to lock a mutex. Under glibc it
//! works nevertheless, because a waiter that is cancelled leaves no trace there.
//!
//! # Asynchronous cancellation
//! Asynchronous cancellation may unwind a thread from any instruction. The Rust frames of this
//! library tolerate it where they own nothing and call nothing else that could unwind, as in a lock
//! or unlock that does not wait. Before a thread waits, this library disables asynchronous
//! cancellation. It is enabled again only during the system call in which the thread sleeps.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::AtomicU32;

use kilocore_locks::{Guest, RawLock, Slept};
use kilocore_platform::{Nanos, Platform};
use libc::{pthread_mutex_t, timespec};

use crate::deadline::Deadline;
use crate::host::Host;
use crate::mutex::Replaced;
use crate::{cores, thread_state};

/// The longest sleep of a waiter that may not be woken, in nanoseconds.
const LONGEST_UNCERTAIN_SLEEP: u64 = 2_000_000;

unsafe extern "C-unwind" {
    /// See `c/wait.c`, here and below.
    fn kilocore_close() -> c_int;
    fn kilocore_open(undo: unsafe extern "C" fn(*mut c_void), argument: *mut c_void);
    /// This is a cancellation point.
    fn kilocore_doze(
        word: *const AtomicU32,
        value: u32,
        operation: c_int,
        deadline: *const timespec,
        cancelled: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    ) -> c_int;
}

/// A thread that may be cancelled while it waits.
struct Cancellable {
    mutex: *mut pthread_mutex_t,
    guest: *const Guest<Host>,
}

/// Waits for a plain mutex and acquires it.
///
/// # Safety
/// `mutex` is initialized and plain. The caller's frame owns nothing.
#[cold]
pub(crate) unsafe fn wait<L: RawLock<Host>>(mutex: *mut pthread_mutex_t) {
    // SAFETY: by the caller's promise, here and below.
    unsafe {
        if kilocore_close() != 0 {
            wait_cancellably::<L>(mutex, None);
            return;
        }
        let lock = Replaced::<L>::of(mutex);
        Host::patiently(|| {
            thread_state::with::<L, _>(|thread| {
                lock.acquire(thread, cores::for_waiters(), |word, value, certain| {
                    let limit = (!certain).then_some(Nanos(LONGEST_UNCERTAIN_SLEEP));
                    Host::park(word, value, limit);
                    Slept::Enough
                });
            });
        });
    }
}

/// Waits for a plain mutex and acquires it. Returns false if the deadline has passed before.
///
/// # Safety
/// As for [`wait`].
pub(crate) unsafe fn wait_until<L: RawLock<Host>>(
    mutex: *mut pthread_mutex_t,
    deadline: Deadline,
) -> bool {
    if deadline.remaining() == 0 {
        return false;
    }
    // SAFETY: by the caller's promise, here and below.
    unsafe {
        if kilocore_close() != 0 {
            return wait_cancellably::<L>(mutex, Some(deadline));
        }
        let lock = Replaced::<L>::of(mutex);
        let guest = lock.guest();
        thread_state::with::<L, _>(|thread| {
            lock.acquire_or_give_up(&guest, thread, |word, value, certain| {
                sleep(word, value, certain, Some(deadline), nothing, ptr::null_mut())
            })
        })
    }
}

/// Does the same for a thread that was open to asynchronous cancellation. There need not be a
/// deadline.
///
/// # Safety
/// As for [`wait`].
unsafe fn wait_cancellably<L: RawLock<Host>>(
    mutex: *mut pthread_mutex_t,
    deadline: Option<Deadline>,
) -> bool {
    // SAFETY: by the caller's promise, here and below. The guest stays in this frame until it has
    // left the room, even if the thread is cancelled.
    unsafe {
        let lock = Replaced::<L>::of(mutex);
        let guest = lock.guest();
        let mut waiter = Cancellable { mutex, guest: &guest };
        let waiter = (&raw mut waiter).cast::<c_void>();
        let taken = thread_state::with::<L, _>(|thread| {
            lock.acquire_or_give_up(&guest, thread, |word, value, certain| {
                sleep(word, value, certain, deadline, cancelled::<L>, waiter)
            })
        });
        if taken {
            kilocore_open(unlock::<L>, mutex.cast());
        } else {
            kilocore_open(nothing, ptr::null_mut());
        }
        taken
    }
}

/// Sleeps as [`Moderated::acquire_or_give_up`](kilocore_locks::Moderated::acquire_or_give_up) asks
/// for. This is a cancellation point if `argument` is not null.
///
/// # Safety
/// `cancelled` may be called with `argument` until this function returns.
unsafe fn sleep(
    word: &AtomicU32,
    value: u32,
    certain: bool,
    deadline: Option<Deadline>,
    cancelled: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> Slept {
    let limit =
        if certain { deadline } else { Some(Deadline::soon(LONGEST_UNCERTAIN_SLEEP, deadline)) };
    let operation = Deadline::futex_operation(limit.as_ref());
    let time = limit.as_ref().map_or(ptr::null(), |limit| &raw const limit.time);
    // SAFETY: the word and the time are live. The rest holds by the caller's promise.
    unsafe {
        if argument.is_null() {
            kilocore_preload_common::errno::preserved(|| {
                libc::syscall(libc::SYS_futex, word, operation, value, time, 0, u32::MAX)
            });
        } else {
            kilocore_doze(word, value, operation, time, cancelled, argument);
        }
    }
    match deadline {
        Some(deadline) if deadline.remaining() == 0 => Slept::TimeIsUp,
        _ => Slept::Enough,
    }
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// Is called when a thread is cancelled that has just acquired a mutex.
unsafe extern "C" fn unlock<L: RawLock<Host>>(mutex: *mut c_void) {
    // SAFETY: this is the mutex of `wait_cancellably`, and the thread holds it.
    unsafe { Replaced::<L>::unlock(mutex.cast()) };
}

/// Is called when a thread is cancelled in its sleep.
unsafe extern "C" fn cancelled<L: RawLock<Host>>(waiter: *mut c_void) {
    // SAFETY: this is the waiter of `wait_cancellably`, whose frame has not been unwound yet. That
    // frame does not use its reference to the thread's state again.
    unsafe {
        let waiter = &*waiter.cast::<Cancellable>();
        let lock = Replaced::<L>::of(waiter.mutex);
        thread_state::with::<L, _>(|thread| lock.give_up(&*waiter.guest, thread));
    }
}
