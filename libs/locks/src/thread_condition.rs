//! A condition variable for threads of this process, with deadlines of the operating system's clock.

use core::fmt;
use std::time::Instant;

use kilocore_platform::{Nanos, Native};

use crate::{Condition, Sleeper};

/// The number under which this process takes the locks inside its conditions. It need not differ
/// from the numbers of other processes, because these conditions are not used across a fork.
const PROCESS: u32 = 1;

/// A [`Condition`] of the native platform. It has three words, and it is new when all its bits are
/// zero. A child of `fork` must not use one that other threads used at the moment of the fork.
#[repr(transparent)]
pub struct ThreadCondition(Condition<Native>);

impl ThreadCondition {
    /// Calls `release`, which gives up the lock that guards the condition, and sleeps until woken or
    /// until `deadline`. Returns whether the deadline ended the sleep. No signal is lost that is sent
    /// after the lock was given up.
    pub fn release_and_sleep(&self, release: impl FnOnce(), deadline: Option<Instant>) -> bool {
        /// Ends the process if a thread unwinds while others know its sleeper.
        struct Enlisted;
        impl Drop for Enlisted {
            fn drop(&mut self) {
                std::process::abort();
            }
        }

        let mut sleeper = Sleeper::default();
        let sleeper = &raw mut sleeper;
        let left = || {
            let left = deadline?.saturating_duration_since(Instant::now()).as_nanos();
            Some(Nanos(left.try_into().unwrap_or(u64::MAX)))
        };
        let enlisted = Enlisted;
        // SAFETY: the sleeper is new, and stays until `sleep` returns, even if `release` unwinds. By
        // then it has been woken or has left.
        let timed_out = unsafe {
            self.0.enlist(sleeper, PROCESS);
            release();
            self.0.sleep(sleeper, PROCESS, left)
        };
        core::mem::forget(enlisted);
        timed_out
    }

    /// Wakes the thread that came first. Returns whether there was one.
    pub fn signal(&self) -> bool {
        self.0.signal(PROCESS)
    }

    /// Wakes all threads. Returns how many there were.
    pub fn broadcast(&self) -> usize {
        self.0.broadcast(PROCESS)
    }

    /// Waits until no thread will touch the condition any more; see [`Condition::destroy`].
    pub fn destroy(&self) {
        self.0.destroy(PROCESS);
    }
}

impl fmt::Debug for ThreadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
