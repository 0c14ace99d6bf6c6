//! An intrusive interval tree, which finds all intervals that overlap a given one.
//!
//! It is a balanced search tree, ordered by the intervals' starts. Each node also knows the largest
//! end in its subtree, so a search can skip subtrees in which every interval ends before the query
//! begins (Cormen and others, 'Introduction to Algorithms', chapter on augmenting data structures).
//! An operating system keeps the mappings of a file in such trees.
//!
//! # Why an AVL tree
//! In an AVL tree, the heights of siblings differ by at most one (Adelson-Velsky and Landis, 1962).
//! So the height of n intervals is below 1.45 · log2(n + 2), whatever is put in and in whatever
//! order. Nothing depends on chance, as it would in a treap, so every run is the same. A red-black
//! tree moves fewer nodes upon a removal, but it is up to a third higher. Here each update goes up
//! the tree anyway, to update the largest ends, and it finds the heights in the cache lines that it
//! has to read for those.
//!
//! # What a search costs
//! Let h be the height of the tree and k the number of intervals that are found. The search looks
//! at three groups of nodes: at most h nodes on the way to the first start beyond the query; the
//! nodes that are found and their ancestors; and the children of all these. If the intervals that
//! are found are neighbours in the order of starts, like the mappings of an address space, then
//! they share their ancestors, and the cost is proportional to h + k. In the worst case they are
//! scattered over the tree, between intervals that are too short to be found. Then each of them has
//! h − log2(k) ancestors that it shares with no other.

mod balance;
#[cfg(test)]
mod tests;
mod validate;

use core::fmt;

use kilocore_platform::Platform;

use super::link::{Link, LinkCell};
use crate::{Search, Structure};

/// An item of an [`IntervalTree`]: the numbers from `start` to `last`, both included.
pub struct Interval<P: Platform, T: Send + Sync + 'static> {
    /// The first number in it.
    pub start: u64,
    /// The last number in it. It is not below `start`.
    pub last: u64,
    /// What the user keeps in it.
    pub value: T,
    links: LinkCell<P, Links<P, T>>,
}

type IntervalLink<P, T> = Link<Interval<P, T>>;

struct Links<P: Platform, T: Send + Sync + 'static> {
    parent: Option<IntervalLink<P, T>>,
    /// The left and the right child; see [`Side`].
    children: [Option<IntervalLink<P, T>>; 2],
    summary: Summary,
}

/// What a node tells its parent about the subtree below it.
#[derive(Clone, Copy, PartialEq)]
struct Summary {
    /// The largest end of an interval in the subtree.
    max_last: u64,
    /// The number of nodes on the longest path down.
    height: u8,
}

impl Summary {
    /// The summary of an empty subtree.
    const NONE: Self = Self { max_last: 0, height: 0 };
}

/// The side on which a child is below its parent.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// The intervals there start no later than the parent.
    Left = 0,
    /// The intervals there start no earlier than the parent.
    Right = 1,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl<P: Platform, T: Send + Sync> Clone for Links<P, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform, T: Send + Sync> Copy for Links<P, T> {}

impl<P: Platform, T: Send + Sync> Links<P, T> {
    /// Returns the links of a node without children.
    fn leaf(parent: Option<IntervalLink<P, T>>, last: u64) -> Self {
        Self { parent, children: [None, None], summary: Summary { max_last: last, height: 1 } }
    }

    fn child(&self, side: Side) -> Option<IntervalLink<P, T>> {
        self.children[side as usize]
    }
}

impl<P: Platform, T: Send + Sync> Interval<P, T> {
    /// Returns an item that is in no tree.
    #[must_use]
    pub fn new(start: u64, last: u64, value: T) -> Self {
        debug_assert!(start <= last, "an interval from {start} cannot end at {last}");
        Self { start, last, value, links: LinkCell::new(Links::leaf(None, last)) }
    }
}

/// A tree of intervals. It does not own them, but contains links to them.
///
/// Any number of intervals may be equal.
pub struct IntervalTree<P: Platform, T: Send + Sync + 'static> {
    root: Option<IntervalLink<P, T>>,
    count: usize,
}

/// A query to an [`IntervalTree`]: all intervals that have a number in common with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The first number of interest.
    pub start: u64,
    /// The last number of interest. It is not below `start`.
    pub last: u64,
}

impl<P: Platform, T: Send + Sync> IntervalTree<P, T> {
    /// Returns an empty tree.
    #[must_use]
    pub const fn new() -> Self {
        Self { root: None, count: 0 }
    }

    /// Returns how many intervals are in the tree.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the tree is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Returns the interval that starts first. If several do, it is one of them.
    #[must_use]
    pub fn first(&self) -> Option<&Interval<P, T>> {
        self.root.map(|root| self.interval(self.leftmost(root)))
    }

    /// Returns how many intervals are on the longest path down from the root.
    #[doc(hidden)]
    #[must_use]
    pub fn depth(&self) -> usize {
        self.summary(self.root).height.into()
    }

    /// Calls `found` with each interval of the subtree at `next` that overlaps `query`, in the
    /// order of starts. Returns how many nodes it has looked at.
    ///
    /// It calls itself for left children only, so its depth is at most the height of the tree.
    fn visit(
        &self,
        mut next: Option<IntervalLink<P, T>>,
        query: &Overlap,
        found: &mut dyn FnMut(&Interval<P, T>),
    ) -> usize {
        let mut looked_at = 0;
        while let Some(node) = next {
            looked_at += 1;
            let links = self.links(node);
            if links.summary.max_last < query.start {
                break;
            }
            looked_at += self.visit(links.child(Side::Left), query, found);
            let interval = self.interval(node);
            if interval.start > query.last {
                break;
            }
            if interval.last >= query.start {
                found(interval);
            }
            next = links.child(Side::Right);
        }
        looked_at
    }

    /// Returns the place for a new interval: after all intervals that start at the same number.
    fn place_for(&self, start: u64) -> Option<(IntervalLink<P, T>, Side)> {
        let mut place = None;
        let mut next = self.root;
        while let Some(node) = next {
            let before = start < self.interval(node).start;
            let side = if before { Side::Left } else { Side::Right };
            place = Some((node, side));
            next = self.links(node).child(side);
        }
        place
    }

    /// Returns the place just after `node`, for a new interval that starts at the same number.
    fn place_after(&self, node: IntervalLink<P, T>) -> (IntervalLink<P, T>, Side) {
        match self.links(node).child(Side::Right) {
            None => (node, Side::Right),
            Some(right) => (self.leftmost(right), Side::Left),
        }
    }

    fn leftmost(&self, mut node: IntervalLink<P, T>) -> IntervalLink<P, T> {
        while let Some(left) = self.links(node).child(Side::Left) {
            node = left;
        }
        node
    }

    /// Puts a new interval into its place.
    fn put(&mut self, item: &Interval<P, T>, place: Option<(IntervalLink<P, T>, Side)>) {
        let node = Link::to(item);
        let parent = place.map(|(parent, _)| parent);
        self.change(node, |links| *links = Links::leaf(parent, item.last));
        self.set_child(place, Some(node));
        self.count += 1;
        self.mend(parent);
    }

    fn summary(&self, node: Option<IntervalLink<P, T>>) -> Summary {
        node.map_or(Summary::NONE, |node| self.links(node).summary)
    }

    #[inline(always)]
    fn interval(&self, link: IntervalLink<P, T>) -> &Interval<P, T> {
        // SAFETY: by the rule of links (`link.rs`). All links here come from this tree, or lead to
        // the item of the operation under way.
        unsafe { link.follow() }
    }

    #[inline(always)]
    fn links(&self, link: IntervalLink<P, T>) -> Links<P, T> {
        // SAFETY: links are written through `&mut self` only, so nobody writes them now.
        unsafe { self.interval(link).links.get() }
    }

    #[inline(always)]
    fn change(&mut self, link: IntervalLink<P, T>, change: impl FnOnce(&mut Links<P, T>)) {
        // SAFETY: `&mut self` excludes all other users, and no `change` here uses a tree.
        unsafe { self.interval(link).links.change(change) };
    }
}

impl<P: Platform, T: Send + Sync> Structure for IntervalTree<P, T> {
    type Item = Interval<P, T>;

    unsafe fn insert(&mut self, item: &Interval<P, T>) {
        let place = self.place_for(item.start);
        self.put(item, place);
    }

    /// If both start at the same number, this does not go down from the root.
    unsafe fn insert_near(&mut self, item: &Interval<P, T>, near: &Interval<P, T>) {
        let place = if item.start == near.start {
            Some(self.place_after(Link::to(near)))
        } else {
            self.place_for(item.start)
        };
        self.put(item, place);
    }

    unsafe fn remove(&mut self, item: &Interval<P, T>) {
        self.take_out(Link::to(item));
        self.count -= 1;
    }
}

impl<P: Platform, T: Send + Sync> Search for IntervalTree<P, T> {
    type Query = Overlap;

    /// Calls `found` with the intervals in the order of their starts.
    fn search(&self, query: &Overlap, found: &mut dyn FnMut(&Interval<P, T>)) {
        self.visit(self.root, query, found);
    }

    fn matches(item: &Interval<P, T>, query: &Overlap) -> bool {
        item.start <= query.last && item.last >= query.start
    }

    fn rank(item: &Interval<P, T>) -> u64 {
        item.start
    }
}

impl<P: Platform, T: Send + Sync> Default for IntervalTree<P, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform, T: Send + Sync + fmt::Debug> fmt::Debug for Interval<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval")
            .field("start", &self.start)
            .field("last", &self.last)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

impl<P: Platform, T: Send + Sync> fmt::Debug for IntervalTree<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalTree").field("len", &self.count).finish_non_exhaustive()
    }
}
