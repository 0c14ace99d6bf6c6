//! The orders that a list may have.

use kilocore_ldu::Search;
use kilocore_platform::Platform;

/// The order of a list.
///
/// # Safety
/// Keys must be totally ordered, and removals must mark: otherwise a removal may miss its node,
/// which then stays linked when it is freed.
pub unsafe trait Order: Send + Sync + 'static {
    /// What the list is called, as on the command line.
    const NAME: &'static str;

    /// Whether a node's key determines its place. If not, nodes are inserted at the head.
    const SORTED: bool;

    /// Whether a removal marks the node first. It is false only in tests, which show that the
    /// checks detect a removal that does not mark.
    #[doc(hidden)]
    const MARKS: bool = true;

    /// The type of what a node's place depends on.
    type Key: Copy + Ord + Default + Send + Sync + 'static;

    /// Returns the key of an object that is not in the list yet.
    fn key<P: Platform, S: Search>(item: &S::Item) -> Self::Key;
}

/// By [`Search::rank`], then by address. Insertions and removals walk to the place in this order.
#[derive(Debug, Clone, Copy)]
pub struct Ordered;

// SAFETY: pairs of integers are totally ordered.
unsafe impl Order for Ordered {
    const NAME: &'static str = "harris";
    const SORTED: bool = true;

    /// On a checker's machine several objects may have the same key. Their order is then arbitrary.
    type Key = (u64, usize);

    #[inline]
    fn key<P: Platform, S: Search>(item: &S::Item) -> (u64, usize) {
        (S::rank(item), P::address_key(item))
    }
}

/// The newest object comes first. Insertions compete for the head, and a removal walks over all
/// objects that were inserted later.
#[derive(Debug, Clone, Copy)]
pub struct Unordered;

// SAFETY: there is only one key, and removals mark.
unsafe impl Order for Unordered {
    const NAME: &'static str = "harris-unordered";
    const SORTED: bool = false;

    type Key = ();

    #[inline]
    fn key<P: Platform, S: Search>(_item: &S::Item) {}
}
