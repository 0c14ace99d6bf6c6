//! No lists at all: each frame comes from the cold tier and goes there.
//!
//! This is what LLFree proposes, whose bitmaps scale without lists of cores. It shows what the lists are
//! for.

use core::iter;

use kilocore_platform::Platform;

use crate::frame::{Contents, Entry, FrameId};
use crate::policy::{Allocated, PagePolicy};
use crate::statistics::{DirectCounts, Statistics};
use crate::tier::{Decayed, Level, put_frames};

/// A tier without lists above it.
pub struct Direct<P: Platform, N: Level> {
    below: N,
    counts: DirectCounts<P>,
}

impl<P: Platform, N: Level> core::fmt::Debug for Direct<P, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Direct").field("frames", &self.below.frames()).finish_non_exhaustive()
    }
}

impl<P: Platform, N: Level> Direct<P, N> {
    /// Returns a pool that uses a tier as it is, and counts for each of so many cores.
    #[must_use]
    pub fn new(cores: u32, below: N) -> Self {
        Self { below, counts: DirectCounts::new(cores) }
    }
}

// SAFETY: frames come from and go to a tier, which keeps the promise.
unsafe impl<P: Platform, N: Level> PagePolicy for Direct<P, N> {
    fn frames(&self) -> u32 {
        self.below.frames()
    }

    fn allocate(&self) -> Option<Allocated> {
        let core = P::cpu();
        let mut taken = None;
        let (_, tier) = self.below.take(core, 1, |entry| taken = Some(entry));
        let entry = taken?;
        self.counts.allocated(core, 1, entry.contents() == Contents::Zero, tier);
        Some(Allocated { entry, tier })
    }

    unsafe fn release(&self, entry: Entry) {
        let core = P::cpu();
        self.counts.released(core, 1);
        // SAFETY: the caller's promise.
        unsafe { self.below.put(core, 1, iter::once(entry)) };
    }

    fn allocate_run(&self, frames: u32, each: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        self.counts.take_run(&self.below, P::cpu(), frames, each)
    }

    unsafe fn release_run(&self, first: FrameId, frames: u32, contents: Contents) {
        let core = P::cpu();
        self.counts.released(core, frames);
        // SAFETY: the caller's promise.
        unsafe { put_frames(&self.below, core, first, frames, contents) };
    }

    fn drain(&self) {
        self.below.drain(P::cpu());
    }

    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        self.below.decay(discard)
    }

    fn statistics(&self) -> Statistics {
        let (shared_now, cold_now) = self.below.counts();
        Statistics { shared_now, cold_now, ..self.counts.read() }
    }

    fn validate(&mut self, each: &mut dyn FnMut(Entry)) {
        self.below.validate(each);
    }
}
