//! The lists of the paper: as long as a core's private cache.
//!
//! Yang, Noh and Hong (section III): the newest frames of a list are in the core's private cache, and
//! what is beyond its size is rather in the shared one. The paper moves one frame at a time; here it is a
//! batch, of which the last is a batch too early.

use crate::rule::Rule;

/// When a list that is bounded by a private cache is refilled and spills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateCache {
    /// A list that has so many frames spills a batch. With one frame or none there are no lists: each
    /// frame goes on at once.
    pub frames: u32,
    /// The frames that are moved together. More than a list has are not moved.
    pub batch: u32,
}

impl Rule for PrivateCache {
    type State = ();

    fn room(&self) -> u32 {
        self.frames.max(1)
    }

    #[inline(always)]
    fn on_allocate(&self, (): &mut ()) {}

    fn refill(&self, (): &mut ()) -> u32 {
        self.batch.clamp(1, self.room())
    }

    #[inline(always)]
    fn on_release(&self, (): &mut (), len: u32) -> u32 {
        if len >= self.frames { self.batch.clamp(1, self.room()) } else { 0 }
    }
}
