//! Broken twins of the requester-based lock; see `broken.rs`.

use crate::common;

use std::marker::PhantomData;

use common::programs;
use common::twins::{LOST_WAKE_UP, LongWord, assert_caught_in, assert_passes, rest_of_the_lock};
use kilocore_locks::RawLock;
use kilocore_platform::{Ordering, Platform, Shuttle, Wait};

/// The errors of a requester-based lock.
trait RequesterError: Send + Sync + 'static {
    /// A waiter rests without looking who is served after it has read the slot.
    const RESTS_WITHOUT_A_LOOK: bool = false;
    /// A waiter looks who is served, and then reads the slot.
    const LOOKS_TOO_EARLY: bool = false;
    /// A waiter parks without setting the bit that says so.
    const PARKS_UNMARKED: bool = false;
    /// A release bumps the slot before it serves the next ticket.
    const BUMPS_TOO_EARLY: bool = false;
}

/// A requester-based lock with threshold 0.
struct BrokenRequester<E>(LongWord, PhantomData<E>);

impl<E: RequesterError> BrokenRequester<E> {
    fn near(&self, mine: u32) -> bool {
        mine - self.0.load(Ordering::Acquire) as u32 <= 1
    }

    fn rest(&self, mine: u32) {
        let slot = Shuttle::wait_array().slot(0, mine);
        loop {
            if E::LOOKS_TOO_EARLY && self.near(mine) {
                return;
            }
            let seen = slot.load(Ordering::Acquire);
            if !E::LOOKS_TOO_EARLY && !E::RESTS_WITHOUT_A_LOOK && self.near(mine) {
                return;
            }
            let parked = if E::PARKS_UNMARKED { seen } else { seen | 1 };
            let marked = seen == parked
                || slot
                    .compare_exchange(seen, parked, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if marked {
                Shuttle::park(slot, parked, None);
            }
            if E::RESTS_WITHOUT_A_LOOK && self.near(mine) {
                return;
            }
        }
    }

    fn wake(near: u32) {
        let slot = Shuttle::wait_array().slot(0, near);
        loop {
            let seen = slot.load(Ordering::Relaxed);
            let bumped = (seen | 1) + 1;
            let bump = slot.compare_exchange(seen, bumped, Ordering::Release, Ordering::Relaxed);
            if bump.is_ok() {
                if seen & 1 != 0 {
                    Shuttle::unpark(slot, u32::MAX);
                }
                return;
            }
        }
    }
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<E: RequesterError> RawLock<Shuttle> for BrokenRequester<E> {
    type Thread = ();
    fn new() -> Self {
        Self(LongWord::new(0), PhantomData)
    }
    fn acquire(&self, (): &mut ()) {
        let before = self.0.fetch_add(1 << 32, Ordering::Acquire);
        let mine = (before >> 32) as u32;
        if mine - before as u32 > 1 {
            self.rest(mine);
        }
        Shuttle::wait_until(&self.0, Wait::Spin, |tickets| tickets as u32 == mine);
    }
    unsafe fn release(&self, (): &mut ()) {
        let mine = self.0.load(Ordering::Relaxed) as u32;
        if E::BUMPS_TOO_EARLY {
            Self::wake(mine + 2);
            self.0.fetch_add(1, Ordering::Release);
            return;
        }
        let before = self.0.fetch_add(1, Ordering::Release);
        if (before >> 32) as u32 - mine > 2 {
            Self::wake(mine + 2);
        }
    }
    rest_of_the_lock!();
}

macro_rules! requester_error {
    ($test:ident, $error:ident, $flag:ident) => {
        struct $error;
        impl RequesterError for $error {
            const $flag: bool = true;
        }

        #[test]
        fn $test() {
            type Lock = BrokenRequester<$error>;
            // A single round: in a second one, threads that come back would spin for the one
            // that sleeps, which is as wrong, but not a deadlock.
            let program = || programs::exclusion::<Shuttle, Lock>(3, 1, programs::all_together);
            assert_caught_in(program, LOST_WAKE_UP);
        }
    };
}

requester_error!(
    a_requester_that_rests_without_a_look_is_caught,
    RestsWithoutALook,
    RESTS_WITHOUT_A_LOOK
);
requester_error!(a_requester_that_looks_too_early_is_caught, LooksTooEarly, LOOKS_TOO_EARLY);
requester_error!(a_requester_that_parks_unmarked_is_caught, ParksUnmarked, PARKS_UNMARKED);
requester_error!(a_release_that_bumps_too_early_is_caught, BumpsTooEarly, BUMPS_TOO_EARLY);

/// None of the errors: the twin is right but for them.
struct NoError;
impl RequesterError for NoError {}

#[test]
fn the_twin_without_its_errors_passes() {
    assert_passes::<BrokenRequester<NoError>>();
}
