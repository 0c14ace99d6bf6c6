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
use kilocore_platform::{Atomic, Ordering, Padded, Platform};

use crate::frame::{FrameId, List};
use crate::list::{Chain, Frames};
use crate::stamp::Stamp;
use crate::tables::{NoMemory, table};

/// The largest number of stripes that a [`Layout`] may have.
pub const LARGEST_FACTOR: u32 = 1 << 16;

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

    /// The first FinerLRU: `factor` stripes, and a lock for each list of a stripe.
    #[must_use]
    pub const fn first_finer(factor: u32) -> Self {
        Layout { factor, locking: Locking::PerList, ..Layout::STOCK }
    }

    /// The improved FinerLRU: `factor` stripes, and one lock for the five lists of a stripe.
    #[must_use]
    pub const fn finer(factor: u32) -> Self {
        Layout { factor, ..Layout::STOCK }
    }

    /// The improved FinerLRU with as many stripes as the machine has hardware threads. Of one thread, that
    /// is [`STOCK`](Self::STOCK).
    ///
    /// Each thread that writes holds one stripe's lock for a share *u* of its time, and the lock that it
    /// wants next is held by one of the n − 1 others with a chance of at most (n − 1)·u over the factor.
    /// With a factor of n that stays below u on every machine. A smaller factor makes threads wait for
    /// each other more as machines grow; a larger one only costs memory, and time when reclaim looks at
    /// all tails. The paper's figures agree: it uses a factor of 64 on 64 hardware threads, and of 256 on
    /// 256. Indices are hashed, as large pages would meet in few stripes otherwise.
    ///
    /// A factor is at most [`LARGEST_FACTOR`]; a machine of no threads is taken for one of one.
    #[must_use]
    pub const fn for_machine(hardware_threads: u32) -> Self {
        match hardware_threads {
            0 | 1 => Layout::STOCK,
            2..=LARGEST_FACTOR => {
                Layout { index: Index::Hashed, ..Layout::finer(hardware_threads) }
            }
            _ => Layout { index: Index::Hashed, ..Layout::finer(LARGEST_FACTOR) },
        }
    }

    /// Returns the stripe of a frame.
    ///
    /// # Panics
    /// If the factor is 0, of which no lists can be made, and the index is [`Index::Modulo`].
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

/// The number of a list of a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListIndex(pub(crate) u8);

impl ListIndex {
    pub(crate) const fn of(list: List) -> Self {
        ListIndex(list as u8)
    }
}

/// The most lists that a stripe has, whatever keeps them in order.
pub(crate) const MOST_LISTS: usize = 9;

/// A lock, and the lists that it protects. Those of them that there is no use for cost nothing: with a
/// lock of 16 bytes, nine lists fit into two cache lines.
struct Part<P: Platform, L> {
    lock: L,
    chains: [Chain<P>; MOST_LISTS],
}

/// All locks and lists.
pub(crate) struct Stripes<P: Platform, L> {
    pub(crate) layout: Layout,
    parts: Box<[Padded<Part<P, L>>]>,
    /// The stamps of the five lists' tails, list by list, where somebody wants to know them.
    tails: Box<[P::U32]>,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Stripes<P, L> {
    pub(crate) fn new(layout: Layout, with_tails: bool) -> Result<Self, NoMemory> {
        let lists = List::ALL.len() as u32;
        let locks = match layout.locking {
            Locking::PerList => layout.factor * lists,
            Locking::PerStripe => layout.factor,
        };
        let part =
            || Padded(Part { lock: L::new(), chains: core::array::from_fn(|_| Chain::new()) });
        let tails = if with_tails { layout.factor * lists } else { 0 };
        Ok(Self {
            layout,
            parts: table(locks as usize, || Ok(part()))?,
            tails: table(tails as usize, || Ok(P::U32::new(0)))?,
        })
    }

    /// Returns the lock of a stripe's list.
    pub(crate) fn lock_of(&self, stripe: u32, list: ListIndex) -> LockIndex {
        LockIndex(match self.layout.locking {
            Locking::PerList => stripe * List::ALL.len() as u32 + u32::from(list.0),
            Locking::PerStripe => stripe,
        })
    }

    pub(crate) fn lock(&self, index: LockIndex) -> &L {
        &self.parts[index.0 as usize].lock
    }

    /// Returns a stripe's list.
    pub(crate) fn chain(&self, stripe: u32, list: ListIndex) -> &Chain<P> {
        let LockIndex(part) = self.lock_of(stripe, list);
        &self.parts[part as usize].chains[usize::from(list.0)]
    }

    /// The number of frames of all stripes on a list.
    pub(crate) fn total(&self, list: ListIndex) -> u32 {
        (0..self.layout.factor).map(|stripe| self.chain(stripe, list).len()).sum()
    }

    /// Whether it is known which stripe has the oldest tail.
    pub(crate) fn has_tails(&self) -> bool {
        !self.tails.is_empty()
    }

    /// Whether a stripe can have more lists than the page cache's five: if one lock is over all of them.
    pub(crate) fn has_more_lists(&self) -> bool {
        self.layout.locking == Locking::PerStripe
    }

    /// The word that was last published of a tail, if tails are.
    pub(crate) fn published_tail(&self, stripe: u32, list: ListIndex) -> Option<u32> {
        let known = self.has_tails() && usize::from(list.0) < List::ALL.len();
        known.then(|| self.tails(list)[stripe as usize].load(Ordering::Relaxed))
    }

    fn tails(&self, list: ListIndex) -> &[P::U32] {
        let factor = self.layout.factor as usize;
        &self.tails[usize::from(list.0) * factor..][..factor]
    }

    /// Publishes the stamp of a list's tail after a change.
    ///
    /// # Safety
    /// The caller holds the list's lock.
    pub(crate) unsafe fn publish_tail(&self, frames: &Frames<P>, stripe: u32, list: ListIndex) {
        if !self.has_tails() {
            return;
        }
        // SAFETY: by the caller's promise.
        let stamp = unsafe { self.chain(stripe, list).oldest_stamp(frames) };
        let (word, tail) = (Stamp::to_word(stamp), &self.tails(list)[stripe as usize]);
        // Sixteen stripes share the cache line. Most frames come to the head of a list or leave its
        // middle, and need not write it.
        if tail.load(Ordering::Relaxed) != word {
            tail.store(word, Ordering::Relaxed);
        }
    }

    /// Returns the stripe whose tail is the oldest, and the stamp of the next oldest tail. Others change
    /// them meanwhile, so that is a hint, and relaxed suffices.
    pub(crate) fn oldest_tail(&self, list: ListIndex) -> Option<(u32, Option<Stamp>)> {
        let mut oldest: Option<(u32, Stamp)> = None;
        let mut next: Option<Stamp> = None;
        for (stripe, tail) in (0..).zip(self.tails(list)) {
            let Some(stamp) = Stamp::from_word(tail.load(Ordering::Relaxed)) else { continue };
            match oldest {
                Some((_, first)) if !stamp.is_before(first) => {
                    next = Some(next.map_or(stamp, |next| next.earlier(stamp)));
                }
                _ => (next, oldest) = (oldest.map(|(_, first)| first), Some((stripe, stamp))),
            }
        }
        oldest.map(|(stripe, _)| (stripe, next))
    }
}
