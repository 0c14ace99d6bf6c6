//! The futex mutex: one word, and a system call only when somebody sleeps.
//!
//! This is what `pthread_mutex_lock` does with a default mutex under glibc, in the design of
//! Drepper ('Futexes are tricky', 2011): a waiter does not spin at all; it marks the word as
//! contended and sleeps until it finds the word free. A release wakes one sleeper and hands
//! over nothing: whoever comes along first takes the lock, which keeps throughput up when
//! there are more threads than cores and lets a thread that keeps coming back starve the rest.
//!
//! # States
//!
//! | value | meaning |
//! | --- | --- |
//! | `FREE` | nobody holds it |
//! | `HELD` | held, and nobody sleeps |
//! | `CONTENDED` | held, and somebody may sleep: the release has to wake |
//!
//! A thread that slept takes the lock in state `CONTENDED`, because it cannot know whether it
//! was the last one; the one superfluous wake-up that this costs ends the contention.

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

/// Takes the mutex word `state` by sleeping. Shared with the mutexes that spin first.
#[cold]
pub(crate) fn sleep_for<P: Platform>(state: &P::U32) {
    // A word that is already marked stays as it is: exchanging it first would only take the
    // line from the holder once more.
    if state.load(Ordering::Relaxed) == CONTENDED {
        P::park(state, CONTENDED, None);
    }
    while state.swap(CONTENDED, Ordering::Acquire) != FREE {
        P::park(state, CONTENDED, None);
    }
}

/// Takes the mutex word `state` if it is free.
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
    // One exchange, so that nobody can mark the word between the look and the release. The
    // word may be gone after it: only its address is named then.
    if state.swap(FREE, Ordering::Release) == CONTENDED {
        wake_one::<P>(address);
    }
}

/// Makes the mutex word `state` held with nobody asleep.
pub(crate) fn forget_sleepers<P: Platform>(state: &P::U32) {
    state.store(HELD, Ordering::Relaxed);
}

#[cold]
fn wake_one<P: Platform>(state: *const P::U32) {
    P::unpark(state, 1);
}

// SAFETY: whoever takes the word from `FREE`, by an exchange with acquire, holds it until the
// exchange with release that makes it `FREE` again, which is the last access: after it only the
// address is used. One word, all zeros is `FREE`, and it names no thread.
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
