//! The word on which one waiter of a queue lock waits, apart from all others.
//!
//! # States
//!
//! | value | meaning | goes to |
//! | --- | --- | --- |
//! | `WAITING` | not raised; the waiter, if there is one yet, is awake | `RAISED`, `PARKED` |
//! | `PARKED` | not raised; the waiter sleeps, or is about to compare and sleep | `RAISED` |
//! | `RAISED` | raised: the waiter may go on | |
//!
//! Exactly one thread raises a signal, once, and at most one waits for it. Whoever raises it
//! learns from the exchange whether the waiter sleeps, so that nobody makes a system call for a
//! waiter that is awake; and after the exchange it does not touch the word again, because the
//! waiter may already have reused or freed it.

use kilocore_platform::{Atomic, Ordering, Parked, Platform, Wait};

use crate::patience::Patience;

const WAITING: u32 = 0;
const RAISED: u32 = 1;
const PARKED: u32 = 2;

/// Turns that a waiter spins before it parks: some tens of microseconds at most, about what
/// parking and being woken cost, so that spinning in vain at most doubles the price
/// (Karlin and others, 'Empirical studies of competitive spinning', SOSP 1991).
const TURNS_BEFORE_PARKING: u32 = 1_000;

/// How the waiters of a lock wait: what sets a lock's spinning form apart from its parking one.
pub trait Manner: Send + Sync + 'static {
    /// Whether a waiter parks when it has spun for a while.
    const PARKS: bool;
}

/// Spin until the turn comes.
#[derive(Debug, Clone, Copy)]
pub struct Spinning;

/// Spin for a bounded time, then park.
#[derive(Debug, Clone, Copy)]
pub struct Parking;

impl Manner for Spinning {
    const PARKS: bool = false;
}

impl Manner for Parking {
    const PARKS: bool = true;
}

/// A word that one thread waits on and another raises.
#[derive(Debug)]
pub(crate) struct Signal<P: Platform> {
    state: P::U32,
}

impl<P: Platform> Signal<P> {
    /// A signal that is not raised.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { state: P::U32::new(WAITING) }
    }

    /// Makes a used signal like new. The caller is the only one who knows of it.
    #[inline]
    pub(crate) fn reset(&self) {
        // Relaxed: whatever publishes the signal publishes this store with it.
        self.state.store(WAITING, Ordering::Relaxed);
    }

    /// Waits until the signal is raised. All that its raiser did before is visible then.
    #[inline]
    pub(crate) fn wait<M: Manner>(&self) {
        if M::PARKS {
            self.wait_or_park();
        } else {
            P::wait_until(&self.state, Wait::Spin, |state| state == RAISED);
        }
    }

    /// Raises the signal.
    ///
    /// # Safety
    /// `signal` is live, and nobody else raises it in this use. It may cease to be live as soon
    /// as it is raised.
    #[inline]
    pub(crate) unsafe fn raise<M: Manner>(signal: *const Self) {
        // SAFETY: live until raised, says the caller, and that is the last access below; only
        // the address is used after it.
        let state = unsafe { &raw const (*signal).state };
        if M::PARKS {
            // SAFETY: as above. One exchange both admits the waiter and finds out whether it
            // sleeps: two steps would leave a gap to fall asleep in.
            if unsafe { &*state }.swap(RAISED, Ordering::Release) == PARKED {
                P::unpark(state, 1);
            }
        } else {
            // SAFETY: as above.
            unsafe { &*state }.store(RAISED, Ordering::Release);
        }
    }

    fn wait_or_park(&self) {
        let mut patience = Patience::new::<P>(TURNS_BEFORE_PARKING);
        loop {
            if self.state.load(Ordering::Acquire) == RAISED {
                return;
            }
            if !patience.pause::<P>() {
                break;
            }
        }
        let parking = self.state.compare_exchange(
            WAITING,
            PARKED,
            Ordering::Relaxed,
            Ordering::Acquire, // it fails only against the raise, which it pairs with
        );
        if parking.is_err() {
            return;
        }
        loop {
            let parked = P::park(&self.state, PARKED, None);
            // A wake-up may be spurious, so the word decides and not the return from the call.
            if self.state.load(Ordering::Acquire) == RAISED {
                return;
            }
            debug_assert!(parked != Parked::TimedOut);
        }
    }
}
