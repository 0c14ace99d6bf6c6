//! An instruction that refers to memory.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use kilocore_platform::Cycles;

/// How much hotter a store gets by a line that it had to take from others. It gets cooler by 1 each time it waits.
const HEAT: u8 = 4;
/// A store waits for its turn before it is executed if it is hotter.
const WAITS: u8 = 8;
/// No store is hotter.
const HOTTEST: u8 = 64;
/// Nobody sleeps at an instruction at which so many did who waited for nothing.
const STRIKES: u8 = 2;

/// An instruction that refers to memory. There is one for as long as QEMU may execute the block, which is for ever.
#[derive(Debug)]
pub(crate) struct Site {
    /// Where it is.
    address: u64,
    /// How long it has waited for lines, in cycles.
    waited: AtomicU64,
    hot: AtomicU8,
    strikes: AtomicU8,
    /// Whether a thread slept here until somebody wrote the line.
    waits_for_others: AtomicBool,
}

impl Site {
    /// That at an address.
    pub(crate) fn at(address: u64) -> Self {
        let (hot, strikes) = (AtomicU8::new(0), AtomicU8::new(0));
        let waits_for_others = AtomicBool::new(false);
        Self { address, waited: AtomicU64::new(0), hot, strikes, waits_for_others }
    }

    /// Where it is.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// It has waited for a line.
    pub(crate) fn has_waited(&self, time: Cycles) {
        // Only the thread that runs counts.
        self.waited.store(self.waited() + time.0, Ordering::Relaxed);
    }

    /// How long it has waited for lines, in cycles.
    pub(crate) fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    /// It had to take a line from others.
    pub(crate) fn heat(&self) {
        let hot = self.hot.load(Ordering::Relaxed).saturating_add(HEAT);
        self.hot.store(hot.min(HOTTEST), Ordering::Relaxed);
    }

    /// Whether it has to wait for its turn before it is executed. It is a little cooler afterwards.
    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        let hot = self.hot.load(Ordering::Relaxed);
        if hot <= WAITS {
            return false;
        }
        self.hot.store(hot - 1, Ordering::Relaxed);
        true
    }

    /// A thread slept here that did not wait for anything.
    pub(crate) fn strike(&self) {
        let strikes = self.strikes.load(Ordering::Relaxed);
        self.strikes.store(strikes.saturating_add(1), Ordering::Relaxed);
    }

    /// A thread slept here until somebody wrote the line.
    pub(crate) fn has_waited_for_others(&self) {
        self.waits_for_others.store(true, Ordering::Relaxed);
    }

    /// Whether a thread that comes here for the second time with nothing else between waits, most likely.
    #[inline(always)]
    pub(crate) fn is_known_to_wait(&self) -> bool {
        self.waits_for_others.load(Ordering::Relaxed) && self.strikes.load(Ordering::Relaxed) == 0
    }

    /// Whether threads that seem to wait here do.
    pub(crate) fn is_believed(&self) -> bool {
        self.strikes.load(Ordering::Relaxed) < STRIKES
    }
}
