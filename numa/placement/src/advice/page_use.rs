//! Which nodes have used a page, and where its best home would have been.
//!
//! A page's references are counted by node. When the page is gone, or at the end, that tells what they
//! would have cost with the page on any node: a copy is never made, and the page never moves again. So
//! the best home is known only afterwards, as somebody knows it who has seen this report.

use crate::{Burst, Costs, Node, Nodes};

use crate::advice::regions::RowId;

/// Whose a page is: a row's, and which of the row's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Owner {
    pub(crate) row: RowId,
    /// The number of the block, from 1; 0 if it is no block's.
    pub(crate) block: u64,
}

/// References of a node to a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

impl Count {
    pub(crate) fn add(&mut self, burst: Burst) {
        self.reads += u64::from(burst.reads);
        self.writes += u64::from(burst.writes);
    }
}

/// What is known of a page besides the counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PageUse {
    /// Where it was used first.
    pub(crate) home: Node,
    /// Who has used it. None if it is not in use.
    pub(crate) nodes: Nodes,
    /// The row and the block that the page belongs to.
    pub(crate) owner: Owner,
    /// The state of the ledger in which that was last looked up.
    pub(crate) seen: u32,
}

/// Where a page should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BestHome {
    pub(crate) node: Node,
    /// How many cycles fewer its references would have taken, less what it costs to bring it there. It
    /// is 0 if the node is the one where it was used first.
    pub(crate) gain: u64,
}

/// What the references to a page cost if it lies on a node.
fn cost(costs: &Costs, counts: &[Count], home: Node) -> u64 {
    let nodes = counts.len() as u32;
    let of_node = |(node, count): (usize, &Count)| {
        let node = Node(node as u8);
        if node == home {
            (count.reads + count.writes) * costs.local.0
        } else {
            count.reads * costs.read(nodes, node, home).0 + count.writes * costs.remote_write.0
        }
    };
    counts.iter().enumerate().map(of_node).sum()
}

/// The best home of a page that was at home on one node first; `counts` are by node.
pub(crate) fn best_home(costs: &Costs, counts: &[Count], home: Node) -> BestHome {
    let stays = cost(costs, counts, home);
    let bringing = costs.bringing().0;
    let gain_on = |node: u8| {
        let node = Node(node);
        let moved = cost(costs, counts, node) + if node == home { 0 } else { bringing };
        BestHome { node, gain: stays.saturating_sub(moved) }
    };
    let best = (0..counts.len() as u8).map(gain_on).max_by_key(|best| best.gain);
    best.filter(|best| best.gain > 0).unwrap_or(BestHome { node: home, gain: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_belongs_where_most_cycles_are_saved() {
        let costs = Costs::lee_and_cho();
        let count = |reads, writes| Count { reads, writes };
        // Node 1 reads 100 times at 100 cycles instead of 5: 9,500 less 4,596, and node 0 has to write
        // 10 times at 10 instead of 5.
        let counts = [count(0, 10), count(100, 0)];
        let best = best_home(&costs, &counts, Node(0));
        assert_eq!(best, BestHome { node: Node(1), gain: 9500 - 4596 - 50 });
        // It is used as much at home.
        let counts = [count(100, 10), count(100, 0)];
        assert_eq!(best_home(&costs, &counts, Node(0)), BestHome { node: Node(0), gain: 0 });
        // It does not pay to bring it.
        let counts = [count(0, 1), count(48, 0)];
        assert_eq!(best_home(&costs, &counts, Node(0)).gain, 0);
    }
}
