//! The basic types of a reverse mapping.

use kilocore_ldu::adapters::{Interval, IntervalTree, Overlap};

/// A page's number: in a file, or in a process's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Page(pub u64);

/// The number of a process. It is below 2^27.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u64);

/// A place where a page is mapped: what a walk finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mapping {
    /// The process whose address space it is.
    pub process: ProcessId,
    /// The first page of the area in that address space.
    pub area: Page,
}

/// The areas that map pages of one file, or of one family of anonymous areas.
pub type Tree<P> = IntervalTree<P, Mapping>;

/// One area in a [`Tree`].
pub(crate) type Entry<P> = Interval<P, Mapping>;

/// Number of bits of a page's number in an address space of 47 bits.
const PAGE_BITS: u32 = 36;

impl Page {
    /// Each `anon_vma` has a range of its own in the tree of its family. Returns the key of this
    /// page in the range of `anon_vma`, which is named by the process for which it was made.
    pub(crate) fn of(self, anon_vma: ProcessId) -> u64 {
        debug_assert!(self.0 >> PAGE_BITS == 0 && anon_vma.0 >> (63 - PAGE_BITS) == 0);
        anon_vma.0 << PAGE_BITS | self.0
    }
}

/// A query for one page.
pub(crate) fn one(page: u64) -> Overlap {
    Overlap { start: page, last: page }
}
