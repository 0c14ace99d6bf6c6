//! An interval tree: finds all intervals that overlap a given one. Intrusive.
//!
//! A balanced search tree by the intervals' starts, in which each node also knows the largest end
//! in its subtree, so that a search passes over subtrees that end before it begins (Cormen and
//! others, 'Introduction to Algorithms', chapter on augmenting data structures). An operating
//! system keeps such trees of the mappings of a file.
//!
//! # Why an AVL tree
//! Heights of siblings differ by at most one (Adelson-Velsky and Landis, 1962), so n intervals have
//! a height below 1.45 · log2(n + 2), whatever is put in and in whatever order: nothing is left to
//! chance, as it would be in a treap, and no run differs from another. A red-black tree moves less
//! upon a removal and is up to a third higher; here each update goes up the tree anyway, for the
//! largest ends, and finds the heights in the lines that it has to read for those.
//!
//! # What a search costs
//! With h the height and k the intervals found, the nodes that it looks at are at most h on the way
//! to the first start beyond the query; and the found ones and their ancestors, and the children of
//! all these. Found ones that are neighbours in the order of starts share their ancestors, as the
//! mappings of an address space do: h + k, up to a factor. At worst they are strewn over the tree,
//! between intervals that are too short to be found, and have h − log2(k) ancestors each to
//! themselves.

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
    /// The last number in it; not below `start`.
    pub last: u64,
    /// What the user keeps in it.
    pub value: T,
    links: LinkCell<P, Links<P, T>>,
}

type IntervalLink<P, T> = Link<Interval<P, T>>;

struct Links<P: Platform, T: Send + Sync + 'static> {
    parent: Option<IntervalLink<P, T>>,
    /// Left and right, see [`Side`].
    children: [Option<IntervalLink<P, T>>; 2],
    summary: Summary,
}

/// What a node tells its parent about the subtree below it.
#[derive(Clone, Copy, PartialEq)]
struct Summary {
    /// The largest end.
    max_last: u64,
    /// Nodes on the longest way down.
    height: u8,
}

impl Summary {
    /// Of no subtree.
    const NONE: Self = Self { max_last: 0, height: 0 };
}

/// A child's side of its parent.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// Not later.
    Left = 0,
    /// Not earlier.
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
    /// Of a node without children.
    fn leaf(parent: Option<IntervalLink<P, T>>, last: u64) -> Self {
        Self { parent, children: [None, None], summary: Summary { max_last: last, height: 1 } }
    }

    fn child(&self, side: Side) -> Option<IntervalLink<P, T>> {
        self.children[side as usize]
    }
}

impl<P: Platform, T: Send + Sync> Interval<P, T> {
    /// An item that is in no tree.
    #[must_use]
    pub fn new(start: u64, last: u64, value: T) -> Self {
        debug_assert!(start <= last, "an interval from {start} cannot end at {last}");
        Self { start, last, value, links: LinkCell::new(Links::leaf(None, last)) }
    }
}

/// A tree of intervals that are somewhere else.
///
/// Any number of them may be equal.
pub struct IntervalTree<P: Platform, T: Send + Sync + 'static> {
    root: Option<IntervalLink<P, T>>,
    count: usize,
}

/// Asks an [`IntervalTree`] for all intervals that have a number in common with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The first number of interest.
    pub start: u64,
    /// The last number of interest; not below `start`.
    pub last: u64,
}

impl<P: Platform, T: Send + Sync> IntervalTree<P, T> {
    /// A tree without intervals.
    #[must_use]
    pub const fn new() -> Self {
        Self { root: None, count: 0 }
    }

    /// How many intervals are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no interval is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The interval that starts first, or one of them.
    #[must_use]
    pub fn first(&self) -> Option<&Interval<P, T>> {
        self.root.map(|root| self.interval(self.leftmost(root)))
    }

    /// How many intervals are on the longest way down.
    #[doc(hidden)]
    #[must_use]
    pub fn depth(&self) -> usize {
        self.summary(self.root).height.into()
    }

    /// Shows what overlaps `query` below `next`, by start, and says how many nodes it looked at.
    ///
    /// It calls itself for left children only, so no deeper than the tree is high.
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

    /// Where a new interval goes: after those that start at the same number.
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

    /// Where a new interval goes that starts where one that is in does: just after that one.
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

    /// Hangs a new interval into its place.
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
        // SAFETY: by the rule of links, since all links here come from this tree, or name the item
        // of an operation under way.
        unsafe { link.follow() }
    }

    #[inline(always)]
    fn links(&self, link: IntervalLink<P, T>) -> Links<P, T> {
        // SAFETY: links are written through `&mut self` only.
        unsafe { self.interval(link).links.get() }
    }

    #[inline(always)]
    fn change(&mut self, link: IntervalLink<P, T>, change: impl FnOnce(&mut Links<P, T>)) {
        // SAFETY: `&mut self` keeps all others away, and no `change` here looks at a tree.
        unsafe { self.interval(link).links.change(change) };
    }
}

impl<P: Platform, T: Send + Sync> Structure for IntervalTree<P, T> {
    type Item = Interval<P, T>;

    unsafe fn insert(&mut self, item: &Interval<P, T>) {
        let place = self.place_for(item.start);
        self.put(item, place);
    }

    /// Where both start at the same number no way down from the root is needed.
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

    /// Shows them in the order of their starts.
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
