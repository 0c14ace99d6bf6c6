//! A place for free frames below the cores' own lists.

use core::ops::AddAssign;

use kilocore_platform::CpuId;

use crate::frame::{Contents, Entry, FrameId, Order};

/// Where free frames are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// On the list of a core: presumably in the core's private cache.
    Private,
    /// On the list of a last-level cache: presumably there.
    Shared,
    /// On neither: presumably in memory.
    Cold,
}

/// What returning idle memory to the operating system did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decayed {
    /// Frames whose memory was returned, or cleared where the system does not take it. They are zero from now
    /// on.
    pub frames: u32,
    /// Calls that returned them.
    pub calls: u32,
}

impl AddAssign for Decayed {
    fn add_assign(&mut self, more: Decayed) {
        self.frames += more.frames;
        self.calls += more.calls;
    }
}

/// A place for free frames, from which a core's list is refilled and to which it spills.
///
/// # Safety
/// Unsafe code relies on it as on [`FreeFrames`](crate::FreeFrames): a frame that it gives out is the
/// caller's, and nobody gets it again before it is put back. Contents are as they were put.
pub unsafe trait Level: Send + Sync + 'static {
    /// Returns how many frames the pool has.
    fn frames(&self) -> u32;

    /// Takes up to `most` frames, which is positive, and calls `each` with them, the first for the one
    /// that is to be used first. Returns how many there were, and from where.
    fn take(&self, core: CpuId, most: u32, each: impl FnMut(Entry)) -> (u32, Tier);

    /// Puts up to `count` frames there, the oldest first.
    ///
    /// # Safety
    /// The frames are the caller's.
    unsafe fn put(&self, core: CpuId, count: u32, entries: impl Iterator<Item = Entry>);

    /// Takes a run of frames from the cold tier, and calls `each` with them in the order of their numbers.
    fn take_run(&self, core: CpuId, order: Order, each: &mut dyn FnMut(Entry)) -> Option<FrameId>;

    /// Puts a run of frames into the cold tier, all with the same contents. It need not have been taken
    /// as one run.
    ///
    /// # Safety
    /// The frames are the caller's.
    unsafe fn put_run(&self, core: CpuId, frame: FrameId, order: Order, contents: Contents);

    /// Puts a part of a run back that was taken with [`take_run`](Self::take_run), with its contents as they
    /// were.
    ///
    /// # Safety
    /// The frames are the caller's, who has not touched their bytes.
    unsafe fn put_back(&self, core: CpuId, frame: FrameId, order: Order);

    /// Takes just these frames out of the cold tier, if it has them all. Returns whether it had; otherwise it
    /// keeps what it has.
    fn take_these(&self, first: FrameId, frames: u32) -> bool {
        let _ = (first, frames);
        false
    }

    /// Moves everything into the cold tier.
    fn drain(&self, core: CpuId);

    /// Gives back the memory of frames that have lain idle in the cold tier since the last call of this.
    /// It calls `discard` with runs of frames, whose bytes have to be zero afterwards.
    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed;

    /// Returns how many frames lie in the shared and in the cold tier. While others use it, the numbers
    /// are near to what they were at some moment.
    fn counts(&self) -> (u32, u32);

    /// Checks what must hold while nobody uses it, and calls `each` with every free frame.
    ///
    /// # Panics
    /// If something does not hold.
    fn validate(&mut self, each: &mut dyn FnMut(Entry));
}

/// Takes as many neighbouring frames as are wanted, at most those of the largest run, and calls `each` with
/// them. The first one's number is a multiple of what the smallest run has that they fit into.
pub(crate) fn take_frames<N: Level>(
    level: &N,
    core: CpuId,
    frames: u32,
    each: &mut dyn FnMut(Entry),
) -> Option<FrameId> {
    let frames = frames.max(1);
    let order = Order::of(frames)?;
    let mut at = 0;
    let mut wanted = |entry: Entry| {
        if at < frames {
            each(entry);
        }
        at += 1;
    };
    let first = level.take_run(core, order, &mut wanted)?;
    for (piece, order) in pieces(FrameId(first.0 + frames), order.frames() - frames) {
        // SAFETY: the rest of the run is ours, and nobody has touched it.
        unsafe { level.put_back(core, piece, order) };
    }
    Some(first)
}

/// Puts neighbouring frames into the cold tier.
///
/// # Safety
/// They are the caller's, with these contents.
pub(crate) unsafe fn put_frames<N: Level>(
    level: &N,
    core: CpuId,
    first: FrameId,
    frames: u32,
    contents: Contents,
) {
    for (piece, order) in pieces(first, frames) {
        // SAFETY: the caller's promise, for this piece.
        unsafe { level.put_run(core, piece, order, contents) };
    }
}

/// Returns the aligned runs that neighbouring frames consist of.
fn pieces(first: FrameId, frames: u32) -> impl Iterator<Item = (FrameId, Order)> {
    let (mut at, end) = (first.0, first.0 + frames);
    core::iter::from_fn(move || {
        if at == end {
            return None;
        }
        let most = at.trailing_zeros().min((end - at).ilog2());
        let order = Order::at_most(most);
        let piece = FrameId(at);
        at += order.frames();
        Some((piece, order))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_consist_of_aligned_runs() {
        let of = |first, frames| {
            let each = |(frame, order): (FrameId, Order)| (frame.0, order.frames());
            pieces(FrameId(first), frames).map(each).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(of(5, 0), []);
        assert_eq!(of(3, 10), [(3, 1), (4, 4), (8, 4), (12, 1)]);
        assert_eq!(of(0, 1100), [(0, 512), (512, 512), (1024, 64), (1088, 8), (1096, 4)]);
    }
}
