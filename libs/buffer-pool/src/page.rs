//! Pages, by their numbers.

/// The number of a page in a store. What a number means, the store knows: for [`FileStore`], the page's
/// place in its file; for a store of several files, it may have the file in its upper bits.
///
/// All numbers but the largest name a page.
///
/// [`FileStore`]: crate::FileStore
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub u64);

impl PageId {
    /// No page at all.
    pub(crate) const NONE: PageId = PageId(u64::MAX);
}
