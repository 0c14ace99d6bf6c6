//! Frames: what the tiers hand around. A frame is a number; the pool knows which memory it has.

/// A frame of a pool, numbered from 0: the place of one page of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

/// The most frames that a pool can have. One bit of a word is for what a frame contains.
pub const MOST_FRAMES: u32 = (1 << 31) - 1;

/// The size of a run of frames, as the power of two that it is: 2 to the `order` frames, of which the
/// first has a number that is a multiple of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order(u8);

impl Order {
    /// The order of a run of one frame.
    pub const PAGE: Order = Order(0);
    /// The largest run: 512 frames, which with pages of 4 KiB are 2 MiB.
    pub const LARGEST: Order = Order(9);

    /// Returns the order of runs of 2 to the `exponent` frames, if runs can be that large.
    #[must_use]
    pub const fn new(exponent: u8) -> Option<Self> {
        if exponent <= Self::LARGEST.0 { Some(Order(exponent)) } else { None }
    }

    /// Returns the order of runs of 2 to the `exponent` frames, or the largest there is.
    pub(crate) const fn at_most(exponent: u32) -> Self {
        if exponent < Self::LARGEST.0 as u32 { Order(exponent as u8) } else { Self::LARGEST }
    }

    /// Returns the smallest order of at least so many frames, if runs can be that large. Zero frames
    /// are taken for one.
    #[must_use]
    pub const fn of(frames: u32) -> Option<Self> {
        if frames > Self::LARGEST.frames() {
            return None;
        }
        Some(Order(if frames <= 1 { 0 } else { (frames - 1).ilog2() as u8 + 1 }))
    }

    /// Returns the number of frames in a run.
    #[must_use]
    pub const fn frames(self) -> u32 {
        1 << self.0
    }

    /// Returns the exponent: 0 for one frame, 9 for 512.
    #[must_use]
    pub const fn exponent(self) -> u8 {
        self.0
    }
}

/// What is known of the bytes of a free frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Whatever its last owner left there. It has to be initialized before anybody else sees it.
    Unknown,
    /// All bytes are zero.
    Zero,
}

/// A free frame and what it contains, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// The entry that stands for no frame.
    pub(crate) const NONE: Entry = Entry(u32::MAX);
    const ZERO: u32 = 1 << 31;

    /// Returns a frame with its contents.
    ///
    /// # Panics
    /// In debug builds, if the frame's number is not below [`MOST_FRAMES`].
    #[inline]
    #[must_use]
    pub const fn new(frame: FrameId, contents: Contents) -> Self {
        debug_assert!(frame.0 < MOST_FRAMES, "a pool has fewer frames");
        match contents {
            Contents::Unknown => Entry(frame.0),
            Contents::Zero => Entry(frame.0 | Self::ZERO),
        }
    }

    /// Returns the frame's number.
    #[inline]
    #[must_use]
    pub const fn frame(self) -> FrameId {
        FrameId(self.0 & !Self::ZERO)
    }

    /// Returns what the frame contains.
    #[inline]
    #[must_use]
    pub const fn contents(self) -> Contents {
        if self.0 & Self::ZERO == 0 { Contents::Unknown } else { Contents::Zero }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_the_smallest_that_is_large_enough() {
        for frames in 0..=512_u32 {
            let order = Order::of(frames).expect("runs can be that large");
            assert!(order.frames() >= frames);
            assert!(order == Order::PAGE || order.frames() / 2 < frames, "{frames}");
        }
        assert_eq!(Order::of(513), None);
        assert_eq!(Order::new(10), None);
    }

    #[test]
    fn an_entry_keeps_frame_and_contents_apart() {
        for contents in [Contents::Unknown, Contents::Zero] {
            let entry = Entry::new(FrameId(MOST_FRAMES - 1), contents);
            assert_eq!((entry.frame().0, entry.contents()), (MOST_FRAMES - 1, contents));
            assert_ne!(entry, Entry::NONE);
        }
    }
}
