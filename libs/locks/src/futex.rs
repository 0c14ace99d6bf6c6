//! The futex mutex: one word, and no system call unless a thread has to sleep or to be woken.
//!
//! This is what `pthread_mutex_lock` does with a default mutex under glibc, in the design of
//! Drepper ('Futexes are tricky', 2011). A waiter does not spin at all: it marks the word as
//! contended and sleeps until it finds the word free. A release frees the word and wakes one
//! sleeper, but does not reserve the lock for it: the first thread to try acquires the lock. This
//! keeps throughput up when there are more threads than cores. It also lets a thread that acquires
//! the lock again and again starve the others.
//!
//! # States
//!
//! | value | meaning |
//! | --- | --- |
//! | `FREE` | No thread holds the lock. |
//! | `HELD` | The lock is held, and no thread sleeps. |
//! | `CONTENDED` | The lock is held, and a thread may sleep: the release has to wake one. |
//!
//! A thread that slept sets the word to `CONTENDED` when it acquires the lock, because it cannot
//! know whether others still sleep. If none does, its release makes one superfluous wake-up call,
//! and the word is `FREE` again.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting};

/// A mutex in the manner of glibc's default one.
#[derive(Debug)]
pub struct Futex<P: Platform> {
    state: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "futex",
    title: "futex mutex, as glibc's default mutex",
    source: "Drepper 2011; glibc's normal mutex",
    best_at: "more threads than cores, long sections, saving energy",
    worst_at: "short sections under contention: each wait is a system call; unfair",
    waiting: Waiting::SleepUnordered,
    aliases: &["pthread"],
};

pub(crate) const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// Acquires the mutex word `state`, and sleeps while it is held. The mutexes that spin first use
/// this function too.
#[cold]
pub(crate) fn sleep_for<P: Platform>(state: &P::U32) {
    // If the word is already marked as contended, we sleep without an exchange, which would only
    // take the cache line away from the holder once more.
    if state.load(Ordering::Relaxed) == CONTENDED {
        P::park(state, CONTENDED, None);
    }
    while state.swap(CONTENDED, Ordering::Acquire) != FREE {
        P::park(state, CONTENDED, None);
    }
}

/// Acquires the mutex word `state` if it is free, and returns whether it did.
#[inline(always)]
pub(crate) fn take_if_free<P: Platform>(state: &P::U32) -> bool {
    state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Whether the mutex word `state` was free a moment ago.
#[inline(always)]
pub(crate) fn looks_free<P: Platform>(state: &P::U32) -> bool {
    state.load(Ordering::Relaxed) == FREE
}

/// Frees the mutex word `state` and wakes one sleeper if there may be one.
#[inline(always)]
pub(crate) fn free<P: Platform>(state: &P::U32) {
    let address = core::ptr::from_ref(state);
    // A single exchange both reads and frees the word, so that no thread can mark the word as
    // contended between the two. The word may cease to exist right afterwards; from then on only
    // its address is used.
    if state.swap(FREE, Ordering::Release) == CONTENDED {
        wake_one::<P>(address);
    }
}

/// Sets the mutex word `state` to held without sleepers.
pub(crate) fn forget_sleepers<P: Platform>(state: &P::U32) {
    state.store(HELD, Ordering::Relaxed);
}

#[cold]
fn wake_one<P: Platform>(state: *const P::U32) {
    P::unpark(state, 1);
}

// SAFETY: a thread acquires the lock by an exchange with acquire that finds `FREE` and replaces it.
// The word is not `FREE` again until the release, which is an exchange with release. So there is
// never more than one holder, and each holder sees what the one before it wrote. That exchange is
// the last access of a release; after it only the address of the word is used. The lock is one
// word, all zeros is `FREE`, and the word does not tell which thread is the holder.
unsafe impl<P: Platform> RawLock<P> for Futex<P> {
    type Thread = ();

    fn new() -> Self {
        Self { state: P::U32::new(FREE) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        if !take_if_free::<P>(&self.state) {
            sleep_for::<P>(&self.state);
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        take_if_free::<P>(&self.state)
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        free::<P>(&self.state);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        forget_sleepers::<P>(&self.state);
    }
}
