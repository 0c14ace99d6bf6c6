//! How an interval tree changes its shape.
//!
//! An update changes the tree in one place. It then goes up from there ([`IntervalTree::mend`]) and
//! computes each node's summary again. If one child of a node has become higher than the other by
//! two, that child is lifted above the node.

use kilocore_platform::Platform;

use super::{IntervalLink, IntervalTree, Side, Summary};

/// The position of a node: its parent and the side on which it is, or `None` if it is the root.
type Position<P, T> = Option<(IntervalLink<P, T>, Side)>;

impl<P: Platform, T: Send + Sync> IntervalTree<P, T> {
    /// Corrects the summaries and the balance from `from` upwards. A child of `from` has changed.
    /// This stops at the first node whose summary stays the same.
    pub(super) fn mend(&mut self, mut from: Option<IntervalLink<P, T>>) {
        while let Some(node) = from {
            let before = self.links(node).summary;
            let top = self.balance(node);
            let links = self.links(top);
            if links.summary == before {
                break;
            }
            from = links.parent;
        }
    }

    /// Takes a node out of the tree.
    pub(super) fn take_out(&mut self, node: IntervalLink<P, T>) {
        let position = self.position(node);
        match self.links(node).children {
            [child, None] | [None, child] => {
                self.hang(position, child);
                self.mend(position.map(|(parent, _)| parent));
            }
            [Some(_), Some(right)] => self.replace_by_next(node, right, position),
        }
    }

    /// Takes out a node that has two children. The next node in order, which has no left child,
    /// moves to the place of the node.
    fn replace_by_next(
        &mut self,
        node: IntervalLink<P, T>,
        right: IntervalLink<P, T>,
        position: Position<P, T>,
    ) {
        let next = self.leftmost(right);
        let left_behind = self.position(next);
        self.hang(left_behind, self.links(next).child(Side::Right));
        // The links are read only now. If `next` was the right child of `node`, the step above has
        // changed that child.
        let links = self.links(node);
        self.change(next, |new| *new = links);
        for child in links.children.into_iter().flatten() {
            self.change(child, |links| links.parent = Some(next));
        }
        self.set_child(position, Some(next));
        // `next` took over the summary that its new parent knows. So if the new summary differs
        // from it, the second call of `mend` goes on upwards. The first call, which starts further
        // down, may stop before it comes to `next`.
        if let Some((parent, _)) = left_behind
            && parent != node
        {
            self.mend(Some(parent));
        }
        self.mend(Some(next));
    }

    /// Corrects the summary of `node`, whose children have correct summaries. If one child is
    /// higher than the other by two, that child is lifted. Returns the node that is in this place
    /// afterwards.
    fn balance(&mut self, node: IntervalLink<P, T>) -> IntervalLink<P, T> {
        let links = self.links(node);
        let [left, right] = links.children.map(|child| self.summary(child).height);
        let high = if left > right + 1 {
            Side::Left
        } else if right > left + 1 {
            Side::Right
        } else {
            self.summarize(node);
            return node;
        };
        if let Some(child) = links.child(high) {
            let links = self.links(child);
            let [outer, inner] =
                [high, high.other()].map(|side| self.summary(links.child(side)).height);
            // Lifting the child would leave the inner grandchild as deep as it is. So if that one
            // is the higher one, it has to become the child first.
            if inner > outer {
                self.lift(child, high.other());
            }
        }
        self.lift(node, high)
    }

    /// Lifts the child at `side` above `node`, and returns the child. The child's inner subtree,
    /// which is between the two in order, becomes a subtree of `node`.
    fn lift(&mut self, node: IntervalLink<P, T>, side: Side) -> IntervalLink<P, T> {
        let Some(child) = self.links(node).child(side) else {
            debug_assert!(false, "what is to be lifted is not there");
            return node;
        };
        let position = self.position(node);
        self.hang(Some((node, side)), self.links(child).child(side.other()));
        self.hang(position, Some(child));
        self.hang(Some((child, side.other())), Some(node));
        self.summarize(node);
        self.summarize(child);
        child
    }

    /// Computes a node's summary from those of its children. If the summary stays the same, the
    /// node's cache line is not written.
    fn summarize(&mut self, node: IntervalLink<P, T>) {
        let links = self.links(node);
        let new = self.summary_from(node, links.children.map(|child| self.summary(child)));
        if links.summary != new {
            self.change(node, |links| links.summary = new);
        }
    }

    /// Returns the summary of a node, given those of its children.
    pub(super) fn summary_from(
        &self,
        node: IntervalLink<P, T>,
        [left, right]: [Summary; 2],
    ) -> Summary {
        Summary {
            max_last: self.interval(node).last.max(left.max_last).max(right.max_last),
            height: 1 + left.height.max(right.height),
        }
    }

    fn position(&self, node: IntervalLink<P, T>) -> Position<P, T> {
        let parent = self.links(node).parent?;
        let is_left = self.links(parent).child(Side::Left) == Some(node);
        Some((parent, if is_left { Side::Left } else { Side::Right }))
    }

    /// Puts `node` into a position, and sets the links in both directions.
    fn hang(&mut self, position: Position<P, T>, node: Option<IntervalLink<P, T>>) {
        self.set_child(position, node);
        if let Some(node) = node {
            self.change(node, |links| links.parent = position.map(|(parent, _)| parent));
        }
    }

    /// Sets the link from a position to `node`.
    pub(super) fn set_child(&mut self, position: Position<P, T>, node: Option<IntervalLink<P, T>>) {
        match position {
            Some((parent, side)) => {
                self.change(parent, |links| links.children[side as usize] = node);
            }
            None => self.root = node,
        }
    }
}
