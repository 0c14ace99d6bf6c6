//! The rate of the time-stamp counter, observed over a run.

use std::thread;
use std::time::Duration;

use kilocore_linux::{cycles, monotonic};
use kilocore_lock_profile::ClockRate;

/// The rate is observed over at least this time, so that it is right to a few parts in 100,000.
const LEAST_OBSERVED: Duration = Duration::from_millis(10);

/// A moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    cycles: u64,
    /// The time of [`monotonic`] at this moment.
    time: Duration,
}

impl Mark {
    /// Returns the present moment: of a few readings of both clocks the one that took least time.
    pub(crate) fn now() -> Self {
        let reading = || {
            let before = cycles();
            let time = monotonic();
            let after = cycles();
            (after.saturating_sub(before), Self { cycles: before + (after - before) / 2, time })
        };
        let mut best = reading();
        for _ in 0..9 {
            let next = reading();
            if next.0 < best.0 {
                best = next;
            }
        }
        best.1
    }

    /// The time from this moment to a later one.
    pub(crate) fn until(self, later: Self) -> Duration {
        later.time.saturating_sub(self.time)
    }

    /// Returns the rate of the counter between this moment and now. Waits until there is
    /// [`LEAST_OBSERVED`] between these.
    pub(crate) fn rate_since(self) -> ClockRate {
        let passed = monotonic().saturating_sub(self.time);
        if passed < LEAST_OBSERVED {
            thread::sleep(LEAST_OBSERVED - passed);
        }
        let now = Self::now();
        let cycles = (now.cycles - self.cycles) as f64;
        ClockRate { ghz: cycles / self.until(now).as_nanos() as f64 }
    }
}
