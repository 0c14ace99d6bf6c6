//! Where in the list a node belongs.

use kilocore_ldu::Search;
use kilocore_platform::Platform;

/// The order of a list.
///
/// # Safety
/// Keys are totally ordered, and removals mark: a node that a removal does not find stays linked
/// when it is freed.
pub unsafe trait Order: Send + Sync + 'static {
    /// What the list is called, as on the command line.
    const NAME: &'static str;

    /// Whether nodes have places; otherwise they are inserted at the head.
    const SORTED: bool;

    /// Whether a removal marks the node first. For the tests, which show that one that does not is
    /// found out.
    #[doc(hidden)]
    const MARKS: bool = true;

    /// What a node's place depends on.
    type Key: Copy + Ord + Default + Send + Sync + 'static;

    /// The key of an object that is not in the list yet.
    fn key<P: Platform, S: Search>(item: &S::Item) -> Self::Key;
}

/// By [`Search::rank`], then by address: insertions and removals look for their place.
#[derive(Debug, Clone, Copy)]
pub struct Ordered;

// SAFETY: pairs of integers are totally ordered.
unsafe impl Order for Ordered {
    const NAME: &'static str = "harris";
    const SORTED: bool = true;

    /// Objects of the same key, which a checker's machine has, are in any order.
    type Key = (u64, usize);

    #[inline]
    fn key<P: Platform, S: Search>(item: &S::Item) -> (u64, usize) {
        (S::rank(item), P::address_key(item))
    }
}

/// The newest first: insertions compete for the head, and removals look through what came later.
#[derive(Debug, Clone, Copy)]
pub struct Unordered;

// SAFETY: there is one key.
unsafe impl Order for Unordered {
    const NAME: &'static str = "harris-unordered";
    const SORTED: bool = false;

    type Key = ();

    #[inline]
    fn key<P: Platform, S: Search>(_item: &S::Item) {}
}
