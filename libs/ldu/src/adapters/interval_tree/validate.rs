//! Checks of an interval tree's invariants.

use kilocore_platform::Platform;

use super::super::Invalid;
use super::super::invalid::Tally;
use super::{IntervalLink, IntervalTree, Summary};

/// The state of a walk through a tree in order.
struct Walk {
    tally: Tally,
    /// The start of the previous interval.
    start: u64,
}

impl<P: Platform, T: Send + Sync> IntervalTree<P, T> {
    /// Checks all links, the order, the balance and the summaries.
    ///
    /// # Errors
    /// Returns the first violation that it finds. A correct program has none.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut walk = Walk { tally: Tally::of(self.count), start: 0 };
        self.check(self.root, None, &mut walk)?;
        walk.tally.finish()
    }

    /// Checks a subtree and returns its summary. It goes down only while the recorded heights
    /// decrease, so it ends even if the links form a circle.
    fn check(
        &self,
        node: Option<IntervalLink<P, T>>,
        parent: Option<IntervalLink<P, T>>,
        walk: &mut Walk,
    ) -> Result<Summary, Invalid> {
        let Some(node) = node else {
            return Ok(Summary::NONE);
        };
        walk.tally.step()?;
        let links = self.links(node);
        if links.parent != parent {
            return Err(Invalid::BackLink);
        }
        let [left, right] = links.children;
        if [left, right].iter().any(|&child| self.summary(child).height >= links.summary.height) {
            return Err(Invalid::Height);
        }
        let left = self.check(left, Some(node), walk)?;
        let start = self.interval(node).start;
        if start < walk.start {
            return Err(Invalid::Order);
        }
        walk.start = start;
        let right = self.check(right, Some(node), walk)?;
        let summary = self.summary_from(node, [left, right]);
        if summary.height != links.summary.height {
            Err(Invalid::Height)
        } else if left.height.abs_diff(right.height) > 1 {
            Err(Invalid::Balance)
        } else if summary.max_last != links.summary.max_last {
            Err(Invalid::MaxLast)
        } else {
            Ok(summary)
        }
    }
}
