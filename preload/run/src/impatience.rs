//! How long a waiter has waited, and what it does until it looks at the lock again.

use kilocore_platform::{Native, Platform};

use crate::{cores, deadline};

/// How long a waiter has waited for a lock, in turns of a spin loop or what counts for them.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Impatience(
    /// Zero outside of a wait. At the beginning of a wait it is one.
    u32,
);

impl Impatience {
    /// Number of turns before the waiter first offers its core to other threads. They take some
    /// tens of microseconds.
    const SPINS: u32 = 1_000;
    /// Number of offers of the core before the first sleep.
    const OFFERS: u32 = 64;
    /// The first sleep and the longest, in nanoseconds.
    const SHORTEST_SLEEP: u64 = 50_000;
    const LONGEST_SLEEP: u64 = 4_000_000;

    /// Returns the value at the beginning of a wait.
    pub(crate) const fn new() -> Self {
        Self(1)
    }

    /// Begins a wait, which [`end`](Self::end) ends, unless the thread is in one already. Returns
    /// whether it did. Outside of a wait, [`pause`](Self::pause) only pauses and never sleeps, since
    /// a thread that releases a lock must not be delayed.
    pub(crate) fn begin(&mut self) -> bool {
        let begins = self.0 == 0;
        if begins {
            *self = Self::new();
        }
        begins
    }

    pub(crate) fn end(&mut self) {
        self.0 = 0;
    }

    /// Pauses for `turns` turns, or longer if the thread has waited for a long time.
    #[inline]
    pub(crate) fn pause(&mut self, turns: u32) {
        if self.0 == 0 {
            Native::pause(turns);
        } else {
            self.wait(turns);
        }
    }

    /// Passes the time until the waiter looks at the lock again.
    #[inline]
    pub(crate) fn wait(&mut self, turns: u32) {
        if self.0 < Self::SPINS && cores::are_many() {
            Native::pause(turns);
            self.0 += turns;
        } else {
            self.give_way();
        }
    }

    /// Offers the core to other threads, or sleeps.
    #[cold]
    fn give_way(&mut self) {
        self.0 = self.0.max(Self::SPINS).saturating_add(1);
        let offers = self.0 - Self::SPINS;
        let Some(sleeps) = offers.checked_sub(Self::OFFERS) else {
            return kilocore_preload_common::errno::preserved(Native::yield_now);
        };
        // Each sleep is an eighth longer than the one before. After some 37 sleeps they reach the
        // longest.
        let mut sleep = Self::SHORTEST_SLEEP;
        for _ in 0..sleeps {
            sleep += sleep / 8;
            if sleep >= Self::LONGEST_SLEEP {
                sleep = Self::LONGEST_SLEEP;
                break;
            }
        }
        deadline::sleep(sleep);
    }
}
