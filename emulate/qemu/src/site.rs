//! An instruction that refers to memory.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use kilocore_platform::Cycles;

/// How much hotter a store gets by a line that it had to take from others. It gets cooler by 1 each time it waits.
const HEAT: u8 = 4;
/// A store waits for its turn before it is executed if it is hotter.
const WAITS: u8 = 8;
/// No store is hotter.
const HOTTEST: u8 = 64;
/// Nobody sleeps any more at an instruction where so many more have slept in vain than until somebody wrote.
const MOST_IN_VAIN: u8 = 8;
/// How long threads wait at an instruction of which that is not known.
const UNKNOWN: u64 = u64::MAX;

/// An instruction that refers to memory. There is one for as long as QEMU may execute the block, which is for ever.
#[derive(Debug)]
pub(crate) struct Site {
    /// Where it is.
    address: u64,
    /// How many sites of the same block come after it.
    later: u16,
    /// How long it has waited for lines, in cycles.
    waited: AtomicU64,
    hot: AtomicU8,
    /// How many threads have slept here in vain, less those that have not.
    in_vain: AtomicU8,
    /// After how many cycles of repeating themselves threads go on to something else here, if nobody writes.
    gives_up: AtomicU64,
}

impl Site {
    /// That at an address, with so many later ones in its block.
    pub(crate) fn at(address: u64, later: usize) -> Self {
        let (hot, in_vain) = (AtomicU8::new(0), AtomicU8::new(0));
        let gives_up = AtomicU64::new(UNKNOWN);
        let later = later.try_into().unwrap_or(u16::MAX);
        Self { address, later, waited: AtomicU64::new(0), hot, in_vain, gives_up }
    }

    /// Where it is.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The places of it and of those after it in its block.
    pub(crate) fn rest_of_block(&self) -> Range<usize> {
        let here = ptr::from_ref(self).addr();
        here..here + (usize::from(self.later) + 1) * size_of::<Self>()
    }

    /// It has waited for a line.
    pub(crate) fn has_waited(&self, time: Cycles) {
        // Only the thread that runs counts.
        self.waited.store(self.waited() + time.0, Ordering::Relaxed);
    }

    /// It has not waited for any line yet.
    pub(crate) fn forget(&self) {
        self.waited.store(0, Ordering::Relaxed);
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

    /// A thread has slept here until somebody wrote the line.
    pub(crate) fn has_waited_for_others(&self) {
        let in_vain = self.in_vain.load(Ordering::Relaxed);
        if in_vain < MOST_IN_VAIN {
            self.in_vain.store(in_vain.saturating_sub(1), Ordering::Relaxed);
        }
    }

    /// A thread that has slept here in vain has gone on to something else, after so long.
    pub(crate) fn has_given_up(&self, after: Cycles) {
        let in_vain = self.in_vain.load(Ordering::Relaxed);
        self.in_vain.store(in_vain.saturating_add(1), Ordering::Relaxed);
        self.gives_up.fetch_min(after.0, Ordering::Relaxed);
    }

    /// After how long threads go on to something else here, if that is known.
    pub(crate) fn gives_up_after(&self) -> Option<Cycles> {
        Some(Cycles(self.gives_up.load(Ordering::Relaxed))).filter(|after| after.0 != UNKNOWN)
    }

    /// Whether threads that seem to wait here do, often enough.
    #[inline(always)]
    pub(crate) fn is_believed(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed) < MOST_IN_VAIN
    }
}
