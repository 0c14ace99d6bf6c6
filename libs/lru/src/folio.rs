//! Folios: frames that belong together, and go through the lists as one.
//!
//! # The idea
//! A large folio is a power of two of frames, beginning at a multiple of its size. It is on a list by its
//! first frame, its *head*, and counts there with all its frames. So it takes one lock where its pages would
//! take one for every batch. As in Linux, work on a large folio does not wait: it ends the batch that it
//! comes to. So the frames that wait on a core stay few, and the bound on reclaim's order holds for folios
//! as it does for pages (see [`Striped`](crate::Striped)).
//!
//! Folios that are small but large for Linux then need the lock more often than single pages do.
//! They may wait, too ([`letting_wait`](crate::Ordered::letting_wait)), which is not in the paper.
//! To mark all 512 frames of a folio would cost what the folio saves. Without `letting_wait`,
//! folios of two pages make one lock slower than single pages do (`docs/evidence/lru.md`).
//!
//! The lists keep nothing of a folio's other frames. Whoever has frames that do not overlap sees to that.

use crate::frame::FrameId;

/// How large a folio is: it has 2 to the power of its order frames.
///
/// ```
/// use kilocore_locks::Mcs;
/// use kilocore_lru::{Class, Fate, FolioOrder, FrameId, Layout, List, Options, PageLists, Striped};
/// use kilocore_platform::Native;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options { layout: Layout::for_machine(4), batch: 15, sorted: true };
/// let lists: Striped<Native, Mcs<Native>> = Striped::new(4096, 4, options)?;
/// let large = FolioOrder::new(9).expect("2 MiB in frames of 4 KiB");
/// lists.add_folio(FrameId(512), large, Class::File, None)?;
/// assert_eq!(lists.len(List::InactiveFile), 512); // it did not wait
/// // One frame is wanted, and the folio goes as a whole.
/// let reclaimed = lists.reclaim(Class::File, 1, &mut |head| {
///     assert_eq!(head, FrameId(512));
///     Fate::Reclaim
/// });
/// assert_eq!(reclaimed, 512);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolioOrder(u8);

impl FolioOrder {
    /// The order of a folio of one frame.
    pub const PAGE: FolioOrder = FolioOrder(0);

    /// 32,768 frames, which are 128 MiB if a page has 4 KiB. Linux makes folios of up to order 9 or 10.
    pub const LARGEST: FolioOrder = FolioOrder(15);

    /// Returns an order, if it is at most [`LARGEST`](Self::LARGEST).
    #[must_use]
    pub const fn new(order: u8) -> Option<Self> {
        if order <= Self::LARGEST.0 { Some(Self(order)) } else { None }
    }

    /// Returns the exponent: a folio has 2 to this power frames.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Returns how many frames a folio of this order has.
    #[must_use]
    pub const fn frames(self) -> u32 {
        1 << self.0
    }

    /// Whether a folio of this order can begin at a frame, where there are so many.
    pub(crate) const fn fits(self, head: FrameId, frames: u32) -> bool {
        head.0.is_multiple_of(self.frames()) && head.0 < frames && frames - head.0 >= self.frames()
    }
}

/// A folio: its head and its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Folio {
    pub(crate) head: FrameId,
    pub(crate) order: FolioOrder,
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_folio_begins_at_a_multiple_of_its_size_and_ends_with_the_last_frame() {
        let order = FolioOrder::new(2).unwrap();
        let fits = |head| order.fits(FrameId(head), 11);
        let heads: Vec<u32> = (0..16).chain([u32::MAX]).filter(|&head| fits(head)).collect();
        assert_eq!(heads, [0, 4]);
    }

    #[test]
    fn orders_end_with_the_largest() {
        assert_eq!(FolioOrder::new(15), Some(FolioOrder::LARGEST));
        assert_eq!(FolioOrder::new(16), None);
        assert_eq!(FolioOrder::LARGEST.frames(), 32_768);
    }
}
