//! Which lock is over which frames and lists.
//!
//! | layout | locks | lists | an operation holds |
//! | --- | --- | --- | --- |
//! | [`Layout::STOCK`] | one | five | the lock |
//! | [`Locking::PerList`], the first FinerLRU | five times the factor | as many | the locks of the list that a frame leaves and of the one that it enters |
//! | [`Locking::PerStripe`], the improved FinerLRU | the factor | five times as many | one lock |
//!
//! A *stripe* is a set of five lists for a part of the frames. The frame's number chooses it: sixteen
//! neighbours, which a sequential write adds together, are of one stripe, so that a batch of them takes
//! one lock. The paper (section 2.3) shifts the address of a structure of 64 bytes by ten bits; that
//! is the frame's number shifted by four.
//!
//! # Beyond the paper
//! [`Index::Hashed`]: the pages of 2 MiB are 512 frames apart. Their shifted numbers are all multiples
//! of 32, so with a factor of 32 they are all of one stripe. A multiplication spreads them.

use alloc::boxed::Box;

use kilocore_locks::RawLock;
use kilocore_platform::{Padded, Platform};

use crate::frame::{FrameId, List};
use crate::list::Chain;

/// What has a lock of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locking {
    /// Each list of each stripe.
    PerList,
    /// Each stripe, with its five lists.
    PerStripe,
}

/// How a frame's number chooses its stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// The number of its group, modulo the factor, as in the paper.
    Modulo,
    /// The same after a multiplication that spreads the groups.
    Hashed,
}

/// How the lists are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The number of stripes, FINER_FACTOR in the paper. It need not be a power of two.
    pub factor: u32,
    /// What has a lock of its own.
    pub locking: Locking,
    /// How a frame's number chooses its stripe.
    pub index: Index,
    /// So many low bits of a frame's number do not matter for its stripe: 4 for batches of 15 or 16, and 5
    /// for those of 31.
    pub group_bits: u32,
}

impl Layout {
    /// One lock over all lists, as in Linux.
    pub const STOCK: Layout =
        Layout { factor: 1, locking: Locking::PerStripe, index: Index::Modulo, group_bits: 4 };

    /// The first FinerLRU.
    #[must_use]
    pub const fn first_finer(factor: u32) -> Self {
        Layout { factor, locking: Locking::PerList, ..Layout::STOCK }
    }

    /// The improved FinerLRU.
    #[must_use]
    pub const fn finer(factor: u32) -> Self {
        Layout { factor, ..Layout::STOCK }
    }

    /// Returns the stripe of a frame.
    #[inline]
    #[must_use]
    pub fn stripe(&self, frame: FrameId) -> u32 {
        let group = frame.0 >> self.group_bits;
        match self.index {
            Index::Modulo => group % self.factor,
            // The upper bits of the product depend on all bits of the group. (2 to the 32 over the
            // golden ratio, after Knuth.)
            Index::Hashed => {
                let spread = u64::from(group.wrapping_mul(0x9E37_79B1));
                ((spread * u64::from(self.factor)) >> 32) as u32
            }
        }
    }
}

/// The number of a lock, in the order in which a thread that needs two acquires them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockIndex(u32);

/// A lock, and the lists that it protects. Of a lock over one list only, four are never used.
struct Part<P: Platform, L> {
    lock: L,
    chains: [Chain<P>; List::ALL.len()],
}

/// All locks and lists.
pub(crate) struct Stripes<P: Platform, L> {
    pub(crate) layout: Layout,
    parts: Box<[Padded<Part<P, L>>]>,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Stripes<P, L> {
    pub(crate) fn new(layout: Layout) -> Self {
        let locks = match layout.locking {
            Locking::PerList => layout.factor * List::ALL.len() as u32,
            Locking::PerStripe => layout.factor,
        };
        let part =
            |_| Padded(Part { lock: L::new(), chains: core::array::from_fn(|_| Chain::new()) });
        Self { layout, parts: (0..locks).map(part).collect() }
    }

    /// Returns the lock of a stripe's list.
    pub(crate) fn lock_of(&self, stripe: u32, list: List) -> LockIndex {
        LockIndex(match self.layout.locking {
            Locking::PerList => stripe * List::ALL.len() as u32 + list as u32,
            Locking::PerStripe => stripe,
        })
    }

    pub(crate) fn lock(&self, index: LockIndex) -> &L {
        &self.parts[index.0 as usize].lock
    }

    /// Returns a stripe's list.
    pub(crate) fn chain(&self, stripe: u32, list: List) -> &Chain<P> {
        let LockIndex(part) = self.lock_of(stripe, list);
        &self.parts[part as usize].chains[list as usize]
    }
}
