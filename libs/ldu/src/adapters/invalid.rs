//! What can be wrong with a structure.

use core::error::Error;
use core::fmt;

/// What `validate` found to be wrong with a structure; the first thing, if there are several.
///
/// It means that a promise to `insert` or `remove` was not kept, or that the structure is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invalid {
    /// An item's link back does not lead to where it was reached from.
    BackLink,
    /// An interval comes after one that starts later.
    Order,
    /// A tree node's height is not one more than its higher child's.
    Height,
    /// The heights of two siblings in a tree differ by more than one.
    Balance,
    /// A tree node's largest end is not that of the intervals below it and its own.
    MaxLast,
    /// A member's hash does not belong to the bucket that it is in.
    Bucket,
    /// A member's hash is not that of its value: the value was changed since the insertion.
    Hash,
    /// A structure says that it has another number of items than it has.
    Count {
        /// How many items could be reached; no more than one beyond `said`.
        reached: usize,
        /// How many there are said to be.
        said: usize,
    },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::BackLink => "an item's link back does not lead to where it was reached from",
            Self::Order => "an interval comes after one that starts later",
            Self::Height => "a node's height is not one more than its higher child's",
            Self::Balance => "the heights of two siblings differ by more than one",
            Self::MaxLast => "a node's largest end is not that of the intervals below it",
            Self::Bucket => "a member is in another bucket than its hash says",
            Self::Hash => "a member's value was changed while it was in",
            Self::Count { reached, said } => {
                return write!(f, "{reached} items can be reached and {said} should be in");
            }
        };
        f.write_str(text)
    }
}

impl Error for Invalid {}

/// Counts items on a walk, and ends a walk that goes on for too long: in circles, perhaps.
pub(super) struct Tally {
    reached: usize,
    said: usize,
}

impl Tally {
    /// For a walk over as many items as there are said to be.
    pub(super) fn of(said: usize) -> Self {
        Self { reached: 0, said }
    }

    /// Another item.
    pub(super) fn step(&mut self) -> Result<(), Invalid> {
        self.reached += 1;
        if self.reached > self.said { Err(self.wrong()) } else { Ok(()) }
    }

    /// The end of the walk.
    pub(super) fn finish(&self) -> Result<(), Invalid> {
        if self.reached == self.said { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> Invalid {
        Invalid::Count { reached: self.reached, said: self.said }
    }
}
