//! What a reverse mapping leads from and to.

use kilocore_ldu::adapters::{Interval, IntervalTree, Overlap};

/// A page's number: in a file, or in a process's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Page(pub u64);

/// A process. Its number is below 2^27.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u64);

/// Where a page is mapped: what a walk finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mapping {
    /// Whose address space it is.
    pub process: ProcessId,
    /// Where the area begins in it.
    pub area: Page,
}

/// Who maps which pages of one file, or of one family of anonymous areas.
pub type Tree<P> = IntervalTree<P, Mapping>;

/// One area in a [`Tree`].
pub(crate) type Entry<P> = Interval<P, Mapping>;

/// Bits of a page's number in an address space of 47 bits.
const PAGE_BITS: u32 = 36;

impl Page {
    /// This page in the range of a family's tree that belongs to one of its `anon_vma`s, named by
    /// the process that it was made for.
    pub(crate) fn of(self, anon_vma: ProcessId) -> u64 {
        debug_assert!(self.0 >> PAGE_BITS == 0 && anon_vma.0 >> (63 - PAGE_BITS) == 0);
        anon_vma.0 << PAGE_BITS | self.0
    }
}

/// A query for one page.
pub(crate) fn one(page: u64) -> Overlap {
    Overlap { start: page, last: page }
}
