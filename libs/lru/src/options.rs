//! How striped lists are made.

use core::error::Error;
use core::fmt;

use crate::batch::LARGEST_BATCH;
use crate::stripes::{LARGEST_FACTOR, Layout};
use crate::tables::NoMemory;

/// How lists are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How the lists are divided.
    pub layout: Layout,
    /// How many frames wait in a batch before their work is done: from 1 to [`LARGEST_BATCH`].
    pub batch: u32,
    /// Whether a batch is sorted by stripe before its work is done. Frames of a random order are mostly of
    /// different stripes, so that without sorting each takes a lock of its own.
    pub sorted: bool,
}

impl Options {
    /// # Errors
    /// If they are out of their ranges.
    pub(crate) fn check(self, cores: u32) -> Result<(), OptionsError> {
        let Options { layout, batch, .. } = self;
        if layout.factor == 0 || layout.factor > LARGEST_FACTOR {
            return Err(OptionsError::Factor(layout.factor));
        }
        if batch == 0 || batch > LARGEST_BATCH {
            return Err(OptionsError::Batch(batch));
        }
        if layout.group_bits >= u32::BITS {
            return Err(OptionsError::GroupBits(layout.group_bits));
        }
        if cores == 0 {
            return Err(OptionsError::NoCores);
        }
        Ok(())
    }
}

/// From which stripe reclaim takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReclaimFrom {
    /// From one after the other.
    EachInTurn,
    /// From the one whose tail is the oldest, so that the order is nearly that of a single list. See
    /// [`Striped`](crate::Striped) for how far it is from that.
    OldestTail,
}

/// When a page that was used again moves to the active list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promotion {
    /// When it is used again, as in Linux: the use puts it into a batch, which takes a lock when it is
    /// full.
    AtUse,
    /// When reclaim finds it. A use only counts, in the frame's word, and never takes a lock.
    AtReclaim,
}

/// Which pages striped lists give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// From which stripe reclaim takes.
    pub from: ReclaimFrom,
    /// When a page that was used again becomes an active one.
    pub promotion: Promotion,
    /// Whether a page that comes back soon after it was reclaimed is active at once: if no more pages were
    /// reclaimed meanwhile than there are active ones. With that many frames more for the inactive pages,
    /// it would have stayed. Pages need names for that: see
    /// [`add_page`](crate::PageLists::add_page).
    pub returns: bool,
}

impl Policy {
    /// Stripes in turn, and nothing is remembered. With one stripe, these are the lists that Linux has had
    /// since 2.6.28.
    pub const PLAIN: Policy =
        Policy { from: ReclaimFrom::EachInTurn, promotion: Promotion::AtUse, returns: false };

    /// The oldest tail, so that many stripes give up pages as one does.
    pub const BALANCED: Policy = Policy { from: ReclaimFrom::OldestTail, ..Policy::PLAIN };

    /// The same, and pages that come back soon are active at once.
    pub const RESISTANT: Policy = Policy { returns: true, ..Policy::BALANCED };

    /// The same, and a use takes no lock: a hybrid of striped lists and of S3-FIFO.
    pub const LAZY: Policy = Policy { promotion: Promotion::AtReclaim, ..Policy::RESISTANT };
}

/// Why lists cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsError {
    /// There has to be a stripe, and not more of them than fit.
    Factor(u32),
    /// A batch has from 1 to [`LARGEST_BATCH`] frames.
    Batch(u32),
    /// There has to be a core.
    NoCores,
    /// A frame's number has fewer bits than are to be ignored.
    GroupBits(u32),
    /// A queue cannot have more than all frames.
    Percent(u32),
    /// There is not so much memory.
    NoMemory,
}

impl From<NoMemory> for OptionsError {
    fn from(NoMemory: NoMemory) -> Self {
        Self::NoMemory
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::Factor(factor) => {
                write!(f, "{factor} stripes: there must be from 1 to {LARGEST_FACTOR}")
            }
            OptionsError::Batch(batch) => {
                write!(f, "{batch} frames in a batch: there must be from 1 to {LARGEST_BATCH}")
            }
            OptionsError::NoCores => f.write_str("a machine has at least one core"),
            OptionsError::GroupBits(bits) => {
                write!(f, "groups of frames by {bits} bits: a frame's number has 32")
            }
            OptionsError::Percent(percent) => {
                write!(f, "{percent} per cent of the frames: there must be at most 100")
            }
            OptionsError::NoMemory => f.write_str("there is not so much memory"),
        }
    }
}

impl Error for OptionsError {}
