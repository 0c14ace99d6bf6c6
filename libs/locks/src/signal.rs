//! The word on which a single waiter of a queue lock waits.
//!
//! # States
//!
//! | value | meaning | goes to |
//! | --- | --- | --- |
//! | `WAITING` | Not raised. Its waiter is awake or still to come. | `RAISED`, `PARKED` |
//! | `PARKED` | Not raised. Its waiter sleeps or is about to sleep. | `RAISED` |
//! | `RAISED` | Raised: its waiter may go on. | |
//!
//! Exactly one thread raises a signal, once, and at most one thread waits for it. If the waiters of
//! the lock park, the signal is raised by an exchange, which returns the old state. The raising
//! thread thus learns whether the waiter sleeps. It makes a system call only for a sleeping waiter.
//! If the waiters spin, a plain store raises the signal. In both cases the raising thread does not
//! touch the word again, because the waiter may already have reused or freed it.

use kilocore_platform::{Atomic, Ordering, Parked, Platform, Wait};

use crate::patience::Patience;

const WAITING: u32 = 0;
const RAISED: u32 = 1;
const PARKED: u32 = 2;

/// How many turns a waiter spins before it parks. They take some tens of microseconds at most,
/// which is about what it costs to park and to be woken. A waiter that spins in vain and then parks
/// therefore pays at most about twice the cost of parking at once (Karlin and others, 'Empirical
/// studies of competitive spinning', SOSP 1991).
const TURNS_BEFORE_PARKING: u32 = 1_000;

/// How the waiters of a lock wait. A lock's spinning form and its parking form differ in nothing
/// else.
pub trait Manner: Send + Sync + 'static {
    /// Whether a waiter parks after it has spun for a while.
    const PARKS: bool;
}

/// Waiters spin until they are admitted.
#[derive(Debug, Clone, Copy)]
pub struct Spinning;

/// Waiters spin for a bounded time and then park.
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

    /// Sets a used signal back to not raised. No other thread uses the signal meanwhile.
    #[inline]
    pub(crate) fn reset(&self) {
        // Relaxed: the release that later publishes the signal to other threads publishes this
        // store too.
        self.state.store(WAITING, Ordering::Relaxed);
    }

    /// Waits until the signal is raised. Whatever the raising thread wrote before it raised the
    /// signal is visible afterwards.
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
    /// `signal` is live, and no other thread raises it before it is reset. The signal may be freed
    /// as soon as it is raised.
    #[inline]
    pub(crate) unsafe fn raise<M: Manner>(signal: *const Self) {
        // SAFETY: the caller promises that the signal is live until it is raised. Raising it is the
        // last access below; afterwards only its address is used.
        let state = unsafe { &raw const (*signal).state };
        if M::PARKS {
            // SAFETY: as above. A single exchange both admits the waiter and tells whether it
            // sleeps. Between two separate steps the waiter could fall asleep unnoticed.
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
            // A wake-up may be spurious, so the word has to be read again.
            if self.state.load(Ordering::Acquire) == RAISED {
                return;
            }
            debug_assert!(parked != Parked::TimedOut);
        }
    }
}
