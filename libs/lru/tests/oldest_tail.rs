//! How far reclaim from the oldest tail is from the order of one list.

use std::collections::BTreeMap;

use kilocore_locks::Ttas;
use kilocore_lru::{Class, Fate, FrameId, Index, Layout, Options, PageLists, Policy, Striped};
use kilocore_platform::Native;
use proptest::prelude::*;

type Lists = Striped<Native, Ttas<Native>>;

fn balanced(frames: u32, layout: Layout, batch: u32, sorted: bool) -> Lists {
    let options = Options { layout, batch, sorted };
    Lists::with_policy(frames, 1, options, Policy::BALANCED).expect("the options are in range")
}

fn reclaim(lists: &Lists, target: u32) -> Vec<u32> {
    let mut order = Vec::new();
    lists.reclaim(Class::File, target, &mut |frame| {
        order.push(frame.0);
        Fate::Reclaim
    });
    order
}

/// What is given up, and how many pages were added between an older page that stayed and it, at most.
fn furthest(lists: &Lists, rounds: &[(u32, u32)]) -> u32 {
    let mut free: Vec<u32> = (0..lists.frames()).rev().collect();
    // By the number of its addition, the frame of each page that is there.
    let mut there: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut added, mut furthest) = (0, 0);
    for (adds, target) in rounds {
        for _ in 0..*adds {
            // Freed frames are used anew in no order, so that stripes fill unevenly.
            let Some(frame) = free.pop() else { break };
            lists.add(FrameId(frame), Class::File).unwrap();
            there.insert(added, frame);
            added += 1;
        }
        for frame in reclaim(lists, *target) {
            let number = *there.iter().find(|(_, other)| **other == frame).unwrap().0;
            let oldest = *there.first_key_value().unwrap().0;
            furthest = furthest.max(number - oldest);
            there.remove(&number);
            free.push(frame);
            let middle = free.len() / 2;
            free.swap(middle, 0);
        }
    }
    furthest
}

proptest! {
    /// The bound of one core: fewer pages than a batch, for any number of stripes.
    #[test]
    fn no_page_goes_a_batch_or_more_before_an_older_one(
        factor in 1..=256_u32,
        hashed in any::<bool>(),
        group_bits in 0..=5_u32,
        batch in 1..=31_u32,
        sorted in any::<bool>(),
        rounds in prop::collection::vec((0..200_u32, 0..100_u32), 1..40),
    ) {
        let index = if hashed { Index::Hashed } else { Index::Modulo };
        let layout = Layout { index, group_bits, ..Layout::finer(factor) };
        let lists = balanced(300, layout, batch, sorted);
        let furthest = furthest(&lists, &rounds);
        prop_assert!(furthest < batch, "{} pages, with batches of {}", furthest, batch);
    }
}

#[test]
fn a_thousand_pages_in_256_stripes_go_in_order() {
    let rounds = [(1_000, 100), (100, 50), (50, 300), (300, 300)].repeat(20);
    for batch in [1, 15, 31] {
        let layout = Layout { index: Index::Hashed, ..Layout::finer(256) };
        let lists = balanced(1_000, layout, batch, true);
        assert!(furthest(&lists, &rounds) < batch, "batches of {batch}");
    }
}

/// The test above can fail: stripes in turn are far from the order of one list.
#[test]
fn in_turn_pages_go_out_of_order() {
    let options = Options { layout: Layout::finer(16), batch: 15, sorted: true };
    let lists = Lists::new(1_000, 1, options).unwrap();
    let rounds = [(1_000, 100), (100, 50), (50, 300), (300, 300)].repeat(20);
    assert!(furthest(&lists, &rounds) > 100);
}

#[test]
fn a_page_that_was_rotated_goes_first() {
    let lists = balanced(64, Layout::finer(8), 1, false);
    for frame in 0..64 {
        lists.add(FrameId(frame), Class::File).unwrap();
    }
    lists.rotate(FrameId(60));
    assert_eq!(reclaim(&lists, 3), [60, 0, 1]);
}

/// Of one use again, and of two stripes: the page that was used least lately goes.
#[test]
fn active_pages_become_inactive_in_their_order() {
    let layout = Layout { group_bits: 0, ..Layout::finer(4) };
    let lists = balanced(8, layout, 1, false);
    for frame in 0..8 {
        lists.add(FrameId(frame), Class::File).unwrap();
        lists.touch(FrameId(frame));
    }
    for frame in [5, 2, 7, 0, 1, 3, 4, 6] {
        lists.touch(FrameId(frame));
    }
    assert_eq!(reclaim(&lists, 3), [5, 2, 7]);
}
