//! Chooses the events for which something expensive is done, such as a stack walk.

use core::cell::Cell;

/// Chooses some of a thread's events. After each chosen event, a random number of events is
/// skipped. If all fields are zero, the next event is chosen.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pace {
    /// The number of events to skip before the next chosen one.
    skip: Cell<u32>,
    /// The number of events since the last chosen one.
    since: Cell<u32>,
    /// The sum of the weights of these events.
    weight: Cell<u64>,
    /// The time of the last chosen event, in cycles.
    last: Cell<u64>,
}

/// If events are this number of cycles apart or more, all of them are chosen. The number is a
/// hundred times the cost of a stack walk.
const WALKS_APART: u64 = 1 << 20;

/// The largest number of events that are skipped on average.
const MOST_PASSED: u64 = 4095;

impl Pace {
    /// Is called for each event, with its time `now` and its weight. If the event is chosen, it
    /// returns the sum of the weights of all events since the last chosen one, including this
    /// event.
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

    /// Sets everything to zero, so that the next event is chosen.
    pub(crate) fn restart(&self) {
        self.skip.set(0);
        self.since.set(0);
        self.weight.set(0);
        self.last.set(0);
    }
}
