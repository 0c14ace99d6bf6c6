//! Tests that need the inside of an interval tree: those that corrupt its links, and those that
//! count the nodes that a search looks at.

use alloc::vec::Vec;

use kilocore_platform::Native;

use super::*;
use crate::adapters::Invalid;

type Tree = IntervalTree<Native, u32>;

/// Returns a tree of seven intervals: 3 at the top, 1 and 5 below it, and 0, 2, 4 and 6 at the
/// bottom. Interval `i` is from `10 * i` to `10 * i + 9`.
fn seven() -> (Vec<Interval<Native, u32>>, Tree) {
    let intervals = mappings(7);
    let tree = tree_of(&intervals);
    assert_eq!((tree.validate(), tree.depth()), (Ok(()), 3));
    (intervals, tree)
}

/// Returns adjacent intervals that do not overlap, like the mappings of an address space.
fn mappings(count: u32) -> Vec<Interval<Native, u32>> {
    let start = |index| u64::from(index) * 10;
    (0..count).map(|index| Interval::new(start(index), start(index) + 9, index)).collect()
}

fn tree_of(intervals: &[Interval<Native, u32>]) -> Tree {
    let mut tree = Tree::new();
    for interval in intervals {
        // SAFETY: each interval is inserted once, and outlives the tree in all tests.
        unsafe { tree.insert(interval) };
    }
    tree
}

#[test]
fn validate_sees_a_wrong_parent() {
    let (intervals, mut tree) = seven();
    tree.change(Link::to(&intervals[4]), |links| links.parent = Some(Link::to(&intervals[3])));
    assert_eq!(tree.validate(), Err(Invalid::BackLink));
}

#[test]
fn validate_sees_a_root_with_a_parent() {
    let (intervals, mut tree) = seven();
    tree.change(Link::to(&intervals[3]), |links| links.parent = Some(Link::to(&intervals[5])));
    assert_eq!(tree.validate(), Err(Invalid::BackLink));
}

#[test]
fn validate_sees_children_exchanged() {
    let (intervals, mut tree) = seven();
    tree.change(Link::to(&intervals[1]), |links| links.children.swap(0, 1));
    assert_eq!(tree.validate(), Err(Invalid::Order));
}

#[test]
fn validate_sees_a_wrong_height() {
    for (index, height) in [(3, 4), (3, 2), (1, 3), (0, 2), (6, 0), (3, 255)] {
        let (intervals, mut tree) = seven();
        tree.change(Link::to(&intervals[index]), |links| links.summary.height = height);
        assert_eq!(tree.validate(), Err(Invalid::Height), "interval {index} of height {height}");
    }
}

#[test]
fn validate_sees_a_wrong_end() {
    for (index, max_last) in [(3, 70), (3, 68), (1, 30), (6, 68)] {
        let (intervals, mut tree) = seven();
        tree.change(Link::to(&intervals[index]), |links| links.summary.max_last = max_last);
        assert_eq!(tree.validate(), Err(Invalid::MaxLast), "interval {index}, end {max_last}");
    }
}

#[test]
fn validate_sees_a_side_that_is_higher_by_two() {
    let (intervals, mut tree) = seven();
    // Without the left subtree, the summaries are still correct, but the balance is not.
    tree.change(Link::to(&intervals[3]), |links| links.children[0] = None);
    assert_eq!(tree.validate(), Err(Invalid::Balance));
}

#[test]
fn validate_sees_a_lost_and_a_doubled_item() {
    let (intervals, mut tree) = seven();
    tree.change(Link::to(&intervals[5]), |links| links.children[0] = None);
    assert_eq!(tree.validate(), Err(Invalid::Count { reached: 6, said: 7 }));
    tree.count = 6;
    assert_eq!(tree.validate(), Ok(()), "interval 4 is not needed for the rest");
    tree.count = 5;
    assert_eq!(tree.validate(), Err(Invalid::Count { reached: 6, said: 5 }));
}

/// `validate` ends even if the links form circles.
#[test]
fn validate_comes_back_from_circles() {
    for (from, to) in [(0, 3), (0, 1), (2, 2), (4, 5), (6, 0)] {
        for parent in [true, false] {
            let (intervals, mut tree) = seven();
            let [from, to] = [from, to].map(|index| Link::to(&intervals[index]));
            tree.change(from, |links| links.children = [Some(to); 2]);
            if parent {
                tree.change(to, |links| links.parent = Some(from));
            }
            assert!(tree.validate().is_err());
        }
    }
}

/// Returns an upper bound of the number of nodes that a search looks at.
/// `found_ones_and_ancestors` is the number of nodes that are found or have such a node below them.
/// A search goes on below a node only if the node is one of these, or if it is on the way to the
/// first interval that starts beyond the query; there are no more of the latter than the tree is
/// high. The search looks at the root and at most at both children of each node below which it goes
/// on.
fn bound(tree: &Tree, found_ones_and_ancestors: usize) -> usize {
    2 * (tree.depth() + found_ones_and_ancestors) + 1
}

/// Returns how many nodes a search looks at, and how many intervals it finds.
fn cost(tree: &Tree, start: u64, last: u64) -> (usize, usize) {
    let mut found = 0;
    let looked_at = tree.visit(tree.root, &Overlap { start, last }, &mut |_| found += 1);
    (looked_at, found)
}

/// Neighbours share their ancestors: an ancestor of one of them is itself one of them, or an
/// ancestor of the first or of the last.
#[test]
fn finding_neighbours_costs_the_height_and_their_number() {
    let intervals = mappings(1 << 14);
    let tree = tree_of(&intervals);
    for start in (0..1_u64 << 14).step_by(97) {
        for count in [1, 2, 10, 100, 1000] {
            let (looked_at, found) = cost(&tree, start * 10 + 3, (start + count - 1) * 10 + 3);
            assert_eq!(found as u64, count.min((1 << 14) - start));
            assert!(looked_at <= bound(&tree, found + 2 * tree.depth()), "{looked_at} for {found}");
        }
    }
    let (looked_at, found) = cost(&tree, 10 << 14, u64::MAX);
    assert_eq!((looked_at, found), (1, 0), "the root knows that nothing ends there");
}

/// Long intervals between short ones do not share all their ancestors. But on each level of the
/// tree they have no more ancestors than the level has nodes.
#[test]
fn finding_strewn_ones_costs_the_height_for_each_at_most() {
    for apart in [1, 3, 64, 128, 1000, 1 << 13] {
        let intervals: Vec<_> = (0..1_u32 << 14)
            .map(|index| {
                let start = u64::from(index);
                let last = if index % apart == 0 { u64::MAX } else { start };
                Interval::new(start, last, index)
            })
            .collect();
        let tree = tree_of(&intervals);
        let (looked_at, found) = cost(&tree, 1 << 20, 1 << 21);
        assert_eq!(found, (1_usize << 14).div_ceil(apart as usize));
        let ancestors = (0..tree.depth()).map(|level| found.min(1 << level)).sum();
        assert!(looked_at <= bound(&tree, ancestors), "{looked_at} nodes for {found} found");
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "cannot end")]
fn an_interval_does_not_end_before_it_starts() {
    let _ = Interval::<Native, ()>::new(2, 1, ());
}

#[test]
fn what_goes_in_beside_another_is_where_it_would_be_from_the_top() {
    // As in forks of forks, each new interval is a copy of one that is in. Three of four copies are
    // inserted beside the original.
    let copies: Vec<Interval<Native, u32>> = (0..600)
        .map(|number| {
            Interval::new(u64::from(number % 5) * 10, 9 + u64::from(number % 5) * 10, number)
        })
        .collect();
    let late = Interval::new(35, 90, 600);
    let mut tree = tree_of(&copies[..5]);
    for (number, copy) in copies.iter().enumerate().skip(5) {
        let near = &copies[number % 5 + 5 * (number * 7919 % (number / 5))];
        // SAFETY: each interval is inserted once and outlives the tree, and the one beside it is
        // in.
        unsafe {
            if number % 4 == 0 {
                tree.insert(copy)
            } else {
                tree.insert_near(copy, near)
            };
        }
        assert_eq!(tree.validate(), Ok(()), "after {number}");
    }
    let mut found = Vec::new();
    tree.search(&Overlap { start: 20, last: 29 }, &mut |interval| found.push(interval.value));
    found.sort_unstable();
    let expected: Vec<u32> = (0..600).filter(|number| number % 5 == 2).collect();
    assert_eq!(found, expected);
    // If the starts differ, the interval nevertheless goes to its own place.
    // SAFETY: `late` outlives the tree, and the other interval is in.
    unsafe { tree.insert_near(&late, &copies[0]) };
    assert_eq!(tree.validate(), Ok(()));
}
