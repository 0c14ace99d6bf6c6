//! Free frames without locks: bitmaps below counters, after LLFree.
//!
//! # Source
//! Lars Wrenger, Florian Rommel, Alexander Halbuer, Christian Dietrich, Daniel Lohmann: *LLFree: Scalable
//! and Optionally-Persistent Page-Frame Allocation*, USENIX ATC 2023.
//!
//! # The idea
//! * A bit says whether a frame is allocated. 512 frames are a *child*, with a counter of its free ones;
//!   some children are a *tree*, with a counter of its own.
//! * A unit of a tree's counter is a *token*, the right to one free frame somewhere in that tree. Whoever
//!   takes a frame takes a token first, then a unit of a child's counter, then a bit. Putting back goes
//!   the other way. So a token is always good for a frame, and nobody looks for one in vain.
//! * Each core *reserves* a tree. Cores then allocate from different trees, and write to different lines.
//!
//! # Departures
//! * A core that reserves a tree does not move its tokens into a counter of its own. Instead each tree's
//!   counter has a line of its own, which is little for 64 MiB. So tokens are never on their way, and
//!   nobody finds none while they are.
//! * Frames are taken by the batch: one step takes tokens for all of it, one takes units of a child, and
//!   one takes up to 64 bits of a word.
//! * A run of a whole child has no flag. Whoever gets all units of a child owns its bits and sets them. A
//!   run can therefore be put back in pieces.
//! * Nothing is reserved by who puts back: the tiers above put back by the batch already.
//! * Nothing is persistent. The authors' crate is not used, since it does not run on a simulated
//!   machine.

mod bits;
mod counters;
mod search;

use alloc::boxed::Box;

use kilocore_platform::{Atomic, AtomicInt, CpuId, Ordering, Padded, Platform};

use self::bits::{WORD_BITS, low_bits};
use self::counters::{Preferred, Tree};
use crate::frame::{FrameId, MOST_FRAMES, Order};
use crate::free_frames::FreeFrames;

/// How many frames are counted together. The product of both is a tree, which a core reserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// The words of 64 frames in a child. A power of two, at most 8. Runs of more frames than a child
    /// has cannot be taken.
    pub words_per_child: u32,
    /// The children in a tree. More than there are is the same as all.
    pub children_per_tree: u32,
}

impl Geometry {
    /// As in LLFree: children of 2 MiB, and trees of 64 MiB, with pages of 4 KiB.
    pub const STANDARD: Geometry = Geometry { words_per_child: 8, children_per_tree: 32 };

    /// The same for few frames: trees are so small that each of `cores` can reserve two.
    #[must_use]
    pub fn for_frames(frames: u32, cores: u32) -> Self {
        let children = frames / (Self::STANDARD.words_per_child * WORD_BITS);
        let each = children / cores.max(1).saturating_mul(2);
        Geometry { children_per_tree: each.clamp(1, 32), ..Self::STANDARD }
    }

    fn child_frames(&self) -> u32 {
        self.words_per_child * WORD_BITS
    }

    fn tree_frames(&self) -> u32 {
        self.child_frames() * self.children_per_tree
    }
}

/// Free frames in bitmaps below counters. All operations are lock-free.
///
/// It needs a bit for each frame, a word of 32 bits for each child, and 128 bytes for each tree and core.
pub struct LlFree<P: Platform> {
    geometry: Geometry,
    frames: u32,
    /// A set bit is a frame that is allocated, or beyond the last one.
    bits: Box<[P::U64]>,
    /// The free frames of each child.
    children: Box<[P::U32]>,
    trees: Box<[Padded<Tree<P>>]>,
    /// The tree that each core prefers, by the core's number.
    preferred: Box<[Padded<Preferred<P>>]>,
}

impl<P: Platform> core::fmt::Debug for LlFree<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LlFree").field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl<P: Platform> LlFree<P> {
    /// Returns `frames` free frames, for so many cores, which may be fewer than the machine has.
    ///
    /// # Panics
    /// If a child would have a number of words that is not 1, 2, 4 or 8, or a tree no children; or if there are
    /// more than [`MOST_FRAMES`].
    #[must_use]
    pub fn new(frames: u32, cores: u32, mut geometry: Geometry) -> Self {
        assert!(frames <= MOST_FRAMES, "a pool has at most {MOST_FRAMES} frames");
        assert!(matches!(geometry.words_per_child, 1 | 2 | 4 | 8), "1, 2, 4 or 8 words");
        assert!(geometry.children_per_tree > 0, "a tree has children");
        let children = frames.div_ceil(geometry.child_frames());
        // So the number of frames in a tree is one, too, and not one that is too large for its word.
        geometry.children_per_tree = geometry.children_per_tree.min(children.max(1));
        let trees = children.div_ceil(geometry.children_per_tree);
        let part = |at: u32, size: u32| size.min(frames.saturating_sub(at * size));
        Self {
            geometry,
            frames,
            bits: (0..children * geometry.words_per_child)
                .map(|word| P::U64::new(!low_bits(part(word, WORD_BITS))))
                .collect(),
            children: (0..children)
                .map(|child| P::U32::new(part(child, geometry.child_frames())))
                .collect(),
            trees: (0..trees)
                .map(|tree| Padded(Tree::new(part(tree, geometry.tree_frames()))))
                .collect(),
            preferred: (0..cores.max(1)).map(|_| Padded(Preferred::none())).collect(),
        }
    }

    fn tree_of(&self, frame: FrameId) -> u32 {
        frame.0 / self.geometry.tree_frames()
    }

    /// Clears the bits of a run, whose frames the caller owns.
    fn clear(&self, frame: FrameId, frames: u32) {
        let mut at = frame.0;
        let end = frame.0 + frames;
        while at < end {
            let offset = at % WORD_BITS;
            let count = (WORD_BITS - offset).min(end - at);
            let run = low_bits(count) << offset;
            // Release: what the owner did to the frames happens before what the next owner does. It
            // pairs with the acquire of the step that sets the bits (`bits.rs`).
            let before = self.bits[(at / WORD_BITS) as usize].fetch_and(!run, Ordering::Release);
            debug_assert!(before & run == run, "a frame was put back that was free");
            at += count;
        }
    }

    /// Returns so many free frames of a child, whose bits are clear.
    fn give_child(&self, frame: FrameId, frames: u32) {
        let child = &self.children[(frame.0 / self.geometry.child_frames()) as usize];
        // Release: the clear bits are seen by who acquires the units. Argued: a frame's owners are ordered by
        // its bit. Without this order here a thread with a unit could look for a bit in vain for some time,
        // on a processor that reorders writes. loom shows no thread a word that is older than that.
        child.fetch_add(frames, Ordering::Release);
    }

    /// Puts a run of one child back, but for the tokens.
    fn give(&self, frame: FrameId, frames: u32) {
        self.clear(frame, frames);
        self.give_child(frame, frames);
    }
}

// SAFETY: a frame is taken by the step that sets its bit, which fails if the bit is set already
// (`bits.rs`), and whoever takes it acquires what the clearing of the bit released.
unsafe impl<P: Platform> FreeFrames<P> for LlFree<P> {
    fn frames(&self) -> u32 {
        self.frames
    }

    fn free(&self) -> u32 {
        // Relaxed: nothing is done with the frames on the strength of it.
        self.children.iter().map(|child| child.load(Ordering::Relaxed)).sum()
    }

    fn take(&self, core: CpuId, order: Order) -> Option<FrameId> {
        if order.frames() > self.geometry.child_frames() {
            return None;
        }
        if order == Order::PAGE {
            let mut taken = None;
            self.take_some(core, 1, &mut |frame| taken = Some(frame));
            return taken;
        }
        self.take_run(core, order.frames())
    }

    fn take_many(&self, core: CpuId, most: u32, mut each: impl FnMut(FrameId)) -> u32 {
        let mut taken = 0;
        while taken < most {
            match self.take_some(core, most - taken, &mut each) {
                0 => break,
                more => taken += more,
            }
        }
        taken
    }

    fn take_group(&self, group: u32) -> u64 {
        self.take_of_word(group)
    }

    unsafe fn put(&self, _core: CpuId, frame: FrameId, order: Order) {
        // A run that was taken in pieces may be larger than a child.
        let frames = order.frames().min(self.geometry.child_frames());
        for first in (frame.0..frame.0 + order.frames()).step_by(frames as usize).map(FrameId) {
            self.give(first, frames);
            self.trees[self.tree_of(first) as usize].give(frames);
        }
    }

    unsafe fn put_many(&self, _core: CpuId, frames: impl Iterator<Item = FrameId>) {
        // Frames that were taken together are put back together, mostly; so tokens of one tree in a
        // row are given at once.
        let (mut tree, mut count) = (0, 0);
        for frame in frames {
            self.give(frame, 1);
            let own = self.tree_of(frame);
            if own != tree && count > 0 {
                self.trees[tree as usize].give(count);
                count = 0;
            }
            tree = own;
            count += 1;
        }
        if count > 0 {
            self.trees[tree as usize].give(count);
        }
    }

    fn validate(&mut self, each: impl FnMut(FrameId)) {
        self.validate_counters();
        self.free_frames().for_each(each);
    }
}
