//! How an interval tree changes its shape.
//!
//! An update changes the tree in one place and then goes up from there ([`IntervalTree::mend`]):
//! each node's summary is made anew, and where one side has become higher by two, it is lifted.

use kilocore_platform::Platform;

use super::{IntervalLink, IntervalTree, Side, Summary};

/// Where a node hangs: its parent and the side of that; nowhere if it is the root.
type Position<P, T> = Option<(IntervalLink<P, T>, Side)>;

impl<P: Platform, T: Send + Sync> IntervalTree<P, T> {
    /// Makes the summaries right and the tree balanced from `from` upwards, where a child has
    /// changed. It stops where a node has nothing new to tell its parent.
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

    /// Takes a node out; one that hangs in the tree.
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

    /// Takes a node out that has two children: the next one in order, which has no left child,
    /// leaves its own place for that of the node.
    fn replace_by_next(
        &mut self,
        node: IntervalLink<P, T>,
        right: IntervalLink<P, T>,
        position: Position<P, T>,
    ) {
        let next = self.leftmost(right);
        let left_behind = self.position(next);
        self.hang(left_behind, self.links(next).child(Side::Right));
        // Read only now: the right child of `node` is another one if it was `next`.
        let links = self.links(node);
        self.change(next, |new| *new = links);
        for child in links.children.into_iter().flatten() {
            self.change(child, |links| links.parent = Some(next));
        }
        self.set_child(position, Some(next));
        // The summary that `next` took over is what its parent has seen, so that mending goes on
        // upwards if it differs from the new one. Mending from below may stop before `next`.
        if let Some((parent, _)) = left_behind
            && parent != node
        {
            self.mend(Some(parent));
        }
        self.mend(Some(next));
    }

    /// Makes the summary of `node` right and lifts its higher child if it is higher by two; those of
    /// the children are right. Gives the node that is there afterwards.
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
            // The inner grandchild would stay as deep as it is.
            if inner > outer {
                self.lift(child, high.other());
            }
        }
        self.lift(node, high)
    }

    /// Lifts the child at `side` above `node`, and gives it. The child's inner subtree, which lies
    /// between the two, changes hands.
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

    /// Makes a node's summary from those of its children. Leaves its line alone if nothing changes.
    fn summarize(&mut self, node: IntervalLink<P, T>) {
        let links = self.links(node);
        let new = self.summary_from(node, links.children.map(|child| self.summary(child)));
        if links.summary != new {
            self.change(node, |links| links.summary = new);
        }
    }

    /// What the summary of a node is, given those of its children.
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

    /// Links a position and what is to hang there, both ways.
    fn hang(&mut self, position: Position<P, T>, node: Option<IntervalLink<P, T>>) {
        self.set_child(position, node);
        if let Some(node) = node {
            self.change(node, |links| links.parent = position.map(|(parent, _)| parent));
        }
    }

    /// Links a position to what is to hang there.
    pub(super) fn set_child(&mut self, position: Position<P, T>, node: Option<IntervalLink<P, T>>) {
        match position {
            Some((parent, side)) => {
                self.change(parent, |links| links.children[side as usize] = node);
            }
            None => self.root = node,
        }
    }
}
