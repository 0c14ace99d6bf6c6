//! The lists of Linux 4.18: the published baseline.
//!
//! A list is refilled with a batch of 31 frames, and when it has 186 a batch goes back. These sizes
//! follow from how much memory there is, not from any cache: 186 pages of 4 KiB are 744 KiB.

use crate::rule::Rule;

/// When lists are refilled and spill in Linux 4.18.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linux4_18 {
    /// The frames that are moved together.
    pub batch: u32,
    /// A list that has so many spills a batch.
    pub high: u32,
}

impl Linux4_18 {
    /// What Linux 4.18 computes on any machine with more than 512 MiB of memory.
    pub const STANDARD: Linux4_18 = Linux4_18 { batch: 31, high: 186 };
}

impl Rule for Linux4_18 {
    type State = ();

    fn room(&self) -> u32 {
        self.high.max(self.batch)
    }

    fn on_allocate(&self, (): &mut ()) {}

    fn refill(&self, (): &mut ()) -> u32 {
        self.batch
    }

    fn on_release(&self, (): &mut (), len: u32) -> u32 {
        if len >= self.high { self.batch } else { 0 }
    }
}
