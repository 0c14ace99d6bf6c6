//! What all kinds of page pools have in common.

use alloc::boxed::Box;

use crate::frame::{Contents, Entry, FrameId};
use crate::statistics::Statistics;
use crate::tier::{Decayed, Tier};

/// A frame that was allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocated {
    /// The frame, and what is known of its bytes.
    pub entry: Entry,
    /// Where it was. Where a list was refilled for it, that is the tier which it was refilled from.
    pub tier: Tier,
}

/// A policy for handing out frames: which free frame an allocation gets, and where a released one goes.
///
/// # Safety
/// Unsafe code relies on an implementation: a frame that it returns is the caller's until it is released,
/// its contents are as they were when it was released, and who allocates it sees all that its last owner
/// did.
pub unsafe trait PagePolicy: Send + Sync + 'static {
    /// Returns how many frames there are.
    fn frames(&self) -> u32;

    /// Allocates a frame. Returns `None` if none is free; also if all that are free are at this moment
    /// in the hands of others, who move them or give their memory back.
    fn allocate(&self) -> Option<Allocated>;

    /// Releases a frame.
    ///
    /// # Safety
    /// The frame is the caller's, from [`allocate`](Self::allocate) or as a part of a run, and its bytes
    /// are as the entry says.
    unsafe fn release(&self, entry: Entry);

    /// Allocates neighbouring frames, between 1 and 512, and calls `each` with them in the order of their
    /// numbers. The first one's number is a multiple of the smallest power of two that is not less than
    /// `frames`. They come from the cold tier. If it has no run that is long enough, the other tiers are
    /// emptied into it.
    fn allocate_run(&self, frames: u32, each: &mut dyn FnMut(Entry)) -> Option<FrameId>;

    /// Releases neighbouring frames into the cold tier. They need not have been allocated as one run.
    ///
    /// # Safety
    /// As for [`release`](Self::release), for all of them.
    unsafe fn release_run(&self, first: FrameId, frames: u32, contents: Contents);

    /// Allocates just these neighbouring frames, which have to be free. Returns whether that was possible; if
    /// not, it has allocated none. Free frames that others move at this moment are not found, and some kinds
    /// of pools find none at all.
    fn allocate_these(&self, first: FrameId, frames: u32) -> bool {
        let _ = (first, frames);
        false
    }

    /// Moves all free frames into the cold tier, but for those that others move at this moment.
    fn drain(&self);

    /// Lets time pass, for kinds of pools that size their lists by it.
    fn tick(&self) {}

    /// Gives back the memory of frames that have lain idle in the cold tier since the last call. It calls
    /// `discard` with runs of frames, whose bytes have to be zero when that returns.
    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed;

    /// Returns what has happened so far and where free frames are now.
    fn statistics(&self) -> Statistics;

    /// Checks what must hold while nobody uses it, and calls `each` with every free frame.
    ///
    /// # Panics
    /// If something does not hold.
    fn validate(&mut self, each: &mut dyn FnMut(Entry));
}

// SAFETY: all is left to what is in the box.
unsafe impl<A: PagePolicy + ?Sized> PagePolicy for Box<A> {
    fn frames(&self) -> u32 {
        (**self).frames()
    }

    fn allocate(&self) -> Option<Allocated> {
        (**self).allocate()
    }

    unsafe fn release(&self, entry: Entry) {
        // SAFETY: the caller's promise.
        unsafe { (**self).release(entry) };
    }

    fn allocate_run(&self, frames: u32, each: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        (**self).allocate_run(frames, each)
    }

    unsafe fn release_run(&self, first: FrameId, frames: u32, contents: Contents) {
        // SAFETY: the caller's promise.
        unsafe { (**self).release_run(first, frames, contents) };
    }

    fn allocate_these(&self, first: FrameId, frames: u32) -> bool {
        (**self).allocate_these(first, frames)
    }

    fn drain(&self) {
        (**self).drain();
    }

    fn tick(&self) {
        (**self).tick();
    }

    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        (**self).decay(discard)
    }

    fn statistics(&self) -> Statistics {
        (**self).statistics()
    }

    fn validate(&mut self, each: &mut dyn FnMut(Entry)) {
        (**self).validate(each);
    }
}
