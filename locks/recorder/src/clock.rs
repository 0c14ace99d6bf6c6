//! The rate of the time-stamp counter, observed over a run.

use kilocore_linux::cycles;
use kilocore_lock_profile::ClockRate;

/// A moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    cycles: u64,
    ns: u64,
}

/// `CLOCK_MONOTONIC` in nanoseconds.
fn monotonic_ns() -> u64 {
    kilocore_linux::monotonic().as_nanos() as u64
}

impl Mark {
    /// Returns the present moment: of a few readings of both clocks the one that took least time.
    pub(crate) fn now() -> Self {
        let reading = || {
            let before = cycles();
            let ns = monotonic_ns();
            let after = cycles();
            (after.saturating_sub(before), Self { cycles: before + (after - before) / 2, ns })
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

    /// Nanoseconds since this moment.
    pub(crate) fn elapsed_ns(self) -> u64 {
        monotonic_ns().saturating_sub(self.ns)
    }

    /// Nanoseconds from this moment to a later one.
    pub(crate) fn ns_until(self, later: Self) -> u64 {
        later.ns.saturating_sub(self.ns)
    }

    /// Returns the rate of the counter between this moment and now. Waits until 10 ms have passed
    /// since this moment, so that the rate is right to a few parts in 100,000.
    pub(crate) fn rate_since(self) -> ClockRate {
        let passed = self.elapsed_ns();
        if passed < 10_000_000 {
            std::thread::sleep(std::time::Duration::from_nanos(10_000_000 - passed));
        }
        let now = Self::now();
        ClockRate { ghz: (now.cycles - self.cycles) as f64 / (now.ns - self.ns) as f64 }
    }
}
