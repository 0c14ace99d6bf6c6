//! The error type of `validate`.

use core::error::Error;
use core::fmt;

/// The first violation that `validate` has found in a structure.
///
/// It means that a caller of `insert` or `remove` did not keep its promise, or that the structure
/// has a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invalid {
    /// An item's link back does not lead to the item from which it was reached.
    BackLink,
    /// An interval comes after one that starts later.
    Order,
    /// A tree node's height is not one more than its higher child's.
    Height,
    /// The heights of two siblings in a tree differ by more than one.
    Balance,
    /// A tree node's largest end is not the largest end of its own interval and those below it.
    MaxLast,
    /// A member's hash does not belong to the bucket that it is in.
    Bucket,
    /// A member's hash is not that of its value: the value was changed since the insertion.
    Hash,
    /// The structure's count of its items differs from the number of items that can be reached.
    Count {
        /// How many items were reached. The walk stops at `said + 1`.
        reached: usize,
        /// How many items the structure says that it has.
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

/// Counts the items on a walk through a structure. It ends a walk that reaches too many items,
/// which may be walking in a circle.
pub(super) struct Tally {
    reached: usize,
    said: usize,
}

impl Tally {
    /// Returns the tally of a walk that should reach `said` items.
    pub(super) fn of(said: usize) -> Self {
        Self { reached: 0, said }
    }

    /// Counts an item that was reached. It is an error if there are more than the structure says.
    pub(super) fn step(&mut self) -> Result<(), Invalid> {
        self.reached += 1;
        if self.reached > self.said { Err(self.wrong()) } else { Ok(()) }
    }

    /// Checks the number of items at the end of the walk.
    pub(super) fn finish(&self) -> Result<(), Invalid> {
        if self.reached == self.said { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> Invalid {
        Invalid::Count { reached: self.reached, said: self.said }
    }
}
