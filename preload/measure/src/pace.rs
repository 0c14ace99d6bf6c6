//! Which events are looked at more closely when that takes long.

use core::cell::Cell;

/// Which of a thread's events are looked at more closely when that takes long: after each a number
/// of them, drawn at random, is passed over. All zero, it begins with the next one.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pace {
    /// Events to go before the next one.
    skip: Cell<u32>,
    /// Events since the last one.
    since: Cell<u32>,
    /// What these stand for together.
    weight: Cell<u64>,
    /// When the last one was, in cycles.
    last: Cell<u64>,
}

/// Events that follow one another in this many cycles or more are all looked at: a hundred times
/// what a stack walk costs.
const WALKS_APART: u64 = 1 << 20;

/// At most this many are passed over on average.
const MOST_PASSED: u64 = 4095;

impl Pace {
    /// Passes an event at `now` that stands for `weight`. What all since the last one stand for,
    /// if this is one to look at.
    pub(crate) fn pass(&self, now: u64, weight: u32, random: impl FnOnce() -> u32) -> Option<u64> {
        self.weight.set(self.weight.get() + u64::from(weight));
        self.since.set(self.since.get() + 1);
        if self.skip.get() != 0 {
            self.skip.set(self.skip.get() - 1);
            return None;
        }
        let passed = now.saturating_sub(self.last.replace(now));
        let period = (passed / u64::from(self.since.replace(0).max(1))).max(1);
        let mean = (WALKS_APART / period).min(MOST_PASSED) as u32;
        self.skip.set(if mean == 0 { 0 } else { random() % (2 * mean + 1) });
        Some(self.weight.replace(0))
    }

    /// Begins anew.
    pub(crate) fn restart(&self) {
        self.skip.set(0);
        self.since.set(0);
        self.weight.set(0);
        self.last.set(0);
    }
}
