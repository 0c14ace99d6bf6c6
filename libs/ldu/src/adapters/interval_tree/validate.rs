//! Whether everything holds in an interval tree that should.

use kilocore_platform::Platform;

use super::super::Invalid;
use super::super::invalid::Tally;
use super::{IntervalLink, IntervalTree, Summary};

/// What a walk through a tree, in order, remembers.
struct Walk {
    tally: Tally,
    /// The start of the interval before.
    start: u64,
}

impl<P: Platform, T: Send + Sync> IntervalTree<P, T> {
    /// Looks at all links, the order, the balance and the summaries.
    ///
    /// # Errors
    /// What is wrong with them, which nothing should be.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut walk = Walk { tally: Tally::of(self.count), start: 0 };
        self.check(self.root, None, &mut walk)?;
        walk.tally.finish()
    }

    /// Checks a subtree and gives its summary. Goes down only where heights decrease, so that it
    /// comes back from any tangle.
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
