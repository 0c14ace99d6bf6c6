//! What the cold tier needs of an allocator of frames.

use kilocore_platform::{CpuId, Platform};

use crate::frame::{FrameId, Order};

/// So many neighbouring frames are a group, whose free ones can be taken out together.
pub const GROUP_FRAMES: u32 = 64;

/// The free frames that are in no hot tier: the global free list of the paper.
///
/// # Safety
/// Unsafe code relies on an implementation: it returns a frame only if it is free, and then the frame is
/// the caller's until it is put back. Who takes a frame sees all that its last owner did before putting it
/// back.
pub unsafe trait FreeFrames<P: Platform>: Send + Sync + 'static {
    /// Returns how many frames there are, free or not. Their numbers are below that.
    fn frames(&self) -> u32;

    /// Returns how many frames are free. While others take and put back, this is near to what it was at
    /// some moment.
    fn free(&self) -> u32;

    /// Takes a run of frames, or returns `None` if there is none.
    fn take(&self, core: CpuId, order: Order) -> Option<FrameId>;

    /// Takes up to `most` single frames and calls `each` with each of them. Returns how many there
    /// were, which is less than `most` only if no other frame was free at some moment.
    fn take_many(&self, core: CpuId, most: u32, each: impl FnMut(FrameId)) -> u32;

    /// Takes free frames of a group: bit *i* of what is returned is set if the caller has got the
    /// frame [`GROUP_FRAMES`] · `group` + *i*. Free frames may be left where others take some at the
    /// same time.
    fn take_group(&self, group: u32) -> u64;

    /// Puts a run back. It need not have been taken as one run.
    ///
    /// # Safety
    /// All frames of the run are the caller's.
    unsafe fn put(&self, core: CpuId, frame: FrameId, order: Order);

    /// Puts single frames back.
    ///
    /// # Safety
    /// All of the frames are the caller's.
    unsafe fn put_many(&self, core: CpuId, frames: impl Iterator<Item = FrameId>);

    /// Checks what must hold while nobody uses it, and calls `each` with every free frame.
    ///
    /// # Panics
    /// If something does not hold.
    fn validate(&mut self, each: impl FnMut(FrameId));
}
