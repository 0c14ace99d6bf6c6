//! Large folios, in all lists.

use std::collections::BTreeMap;

use kilocore_locks::Ttas;
use kilocore_lru::{
    AlreadyAdded, Class, Fate, FolioOrder, FrameId, Index, Layout, List, MultiGeneration, Options,
    PageHash, PageLists, Policy, S3Fifo, S3FifoOptions, Striped,
};
use kilocore_platform::Native;
use proptest::prelude::*;

type Lock = Ttas<Native>;

const FRAMES: u32 = 256;
const BATCH: u32 = 4;

fn order(order: u8) -> FolioOrder {
    FolioOrder::new(order).expect("it is at most the largest")
}

fn striped(layout: Layout, policy: Policy) -> Striped<Native, Lock> {
    let options = Options { layout, batch: BATCH, sorted: true };
    Striped::with_policy(FRAMES, 1, options, policy).expect("the options are in range")
}

/// Calls a function with each kind of lists.
macro_rules! with_all_lists {
    ($check:expr) => {
        $check("stock", striped(Layout::STOCK, Policy::PLAIN));
        $check("first", striped(Layout::first_finer(8), Policy::PLAIN));
        $check("finer", striped(Layout::finer(5), Policy::PLAIN));
        $check("balanced", striped(Layout::finer(8), Policy::BALANCED));
        $check("resistant", striped(Layout::finer(8), Policy::RESISTANT));
        $check("lazy", striped(Layout::finer(8), Policy::LAZY));
        $check("s3-fifo", s3_fifo());
        $check("generations", generations());
    };
}

fn s3_fifo() -> S3Fifo<Native, Lock> {
    let options = S3FifoOptions { batch: BATCH, ..S3FifoOptions::PAPER };
    S3Fifo::new(FRAMES, 1, options).expect("the options are in range")
}

fn generations() -> MultiGeneration<Native, Lock> {
    MultiGeneration::new(FRAMES, 1, BATCH).expect("the options are in range")
}

fn listed(lists: &impl PageLists<Native>) -> u32 {
    List::ALL.into_iter().map(|list| lists.len(list)).sum()
}

fn add(lists: &impl PageLists<Native>, head: u32, order: FolioOrder) {
    let name = Some(PageHash(head.into()));
    lists.add_folio(FrameId(head), order, Class::File, name).expect("it is no member");
}

#[test]
fn a_folio_counts_with_all_its_frames_and_does_not_wait() {
    fn check(name: &str, lists: impl PageLists<Native>) {
        add(&lists, 0, FolioOrder::PAGE);
        assert_eq!(listed(&lists), 0, "{name}: a single page waits");
        add(&lists, 64, order(6));
        assert_eq!(listed(&lists), 65, "{name}: the folio takes the page along");
        let again = lists.add_folio(FrameId(64), order(6), Class::File, None);
        assert_eq!(again, Err(AlreadyAdded(FrameId(64))), "{name}");
    }
    with_all_lists!(check);
}

#[test]
fn folios_wait_if_they_may() {
    let lists = striped(Layout::finer(8), Policy::PLAIN).letting_wait(order(3));
    for head in (0..8 * (BATCH - 1)).step_by(8) {
        add(&lists, head, order(3));
    }
    assert_eq!(listed(&lists), 0);
    add(&lists, 64, order(3));
    assert_eq!(listed(&lists), 8 * BATCH, "the batch is full");
    add(&lists, 72, order(3));
    add(&lists, 128, order(4));
    assert_eq!(listed(&lists), 8 * BATCH + 24, "this one is too large to wait");
}

#[test]
fn a_folio_goes_as_a_whole() {
    fn check(name: &str, lists: impl PageLists<Native>) {
        for head in (0..FRAMES).step_by(16) {
            add(&lists, head, order(4));
        }
        let mut gone = Vec::new();
        let reclaimed = lists.reclaim(Class::File, 17, &mut |frame| {
            gone.push(frame.0);
            Fate::Reclaim
        });
        assert_eq!(gone.len(), 2, "{name}: 17 frames are part of two folios");
        assert_eq!((reclaimed, listed(&lists)), (32, FRAMES - 32), "{name}");
        // Their frames may be pages now.
        for frame in gone.into_iter().flat_map(|head| head..head + 16) {
            add(&lists, frame, FolioOrder::PAGE);
        }
        lists.drain();
        assert_eq!(listed(&lists), FRAMES, "{name}");
    }
    with_all_lists!(check);
}

#[test]
fn a_folio_that_is_used_again_or_isolated_moves_as_a_whole() {
    fn check(name: &str, lists: impl PageLists<Native>) {
        add(&lists, 0, order(3));
        add(&lists, 8, order(3));
        (0..2).for_each(|_| lists.touch(FrameId(0)));
        lists.set_evictable(FrameId(8), false);
        assert_eq!(lists.len(List::Unevictable), 8, "{name}");
        let isolated = lists.isolate(FrameId(0)).expect("it is on a list");
        assert_eq!(listed(&lists), 8, "{name}");
        drop(isolated);
        assert_eq!(listed(&lists), 16, "{name}: it did not wait");
        lists.isolate(FrameId(8)).expect("it is on a list").remove();
        assert_eq!((listed(&lists), lists.len(List::Unevictable)), (8, 0), "{name}");
        assert!(lists.isolate(FrameId(1)).is_none(), "{name}: only the head is a member");
    }
    with_all_lists!(check);
}

#[test]
fn a_folio_that_does_not_fit_is_refused() {
    let lists = striped(Layout::finer(8), Policy::PLAIN);
    for (head, size) in [(1, 1), (8, 4), (FRAMES, 0), (256, 3), (0, 9), (u32::MAX, 0)] {
        let add = || lists.add_folio(FrameId(head), order(size), Class::File, None);
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(add));
        assert!(refused.is_err(), "order {size} at {head}");
    }
}

/// Folios of any sizes, which leave by reclaim alone. Returns how many folios were added between an older
/// one that stayed and one that went, at most.
fn furthest(lists: &impl PageLists<Native>, rounds: &[(u8, u32, u32)]) -> u32 {
    // By head, the number of its addition and its size.
    let mut there: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let (mut added, mut furthest) = (0, 0);
    for &(size, adds, target) in rounds {
        let size = order(size);
        let heads = (0..FRAMES).step_by(size.frames() as usize);
        let skipped = added % 3;
        let is_free = |head: u32, there: &BTreeMap<u32, (u32, u32)>| {
            let below = there.range(..head + size.frames()).next_back();
            below.is_none_or(|(other, (_, frames))| other + frames <= head)
        };
        for head in heads.rev().filter(|head| head % 3 != skipped).take(adds as usize) {
            if is_free(head, &there) {
                add(lists, head, size);
                there.insert(head, (added, size.frames()));
                added += 1;
            }
        }
        let mut gone = Vec::new();
        let reclaimed = lists.reclaim(Class::File, target, &mut |head| {
            gone.push(head.0);
            Fate::Reclaim
        });
        let mut frames = 0;
        for head in gone {
            let oldest = there.values().map(|(number, _)| *number).min().expect("one is there");
            let (number, size) = there.remove(&head).expect("it was added");
            assert!(frames < target, "it stops when it has enough");
            frames += size;
            furthest = furthest.max(number - oldest);
        }
        assert_eq!(reclaimed, frames);
    }
    furthest
}

proptest! {
    /// The bound of one core, in folios.
    #[test]
    fn no_folio_goes_a_batch_or_more_before_an_older_one(
        factor in 1..=64_u32,
        hashed in any::<bool>(),
        largest in 0..=6_u8,
        rounds in prop::collection::vec((0..=6_u8, 0..60_u32, 0..100_u32), 1..40),
    ) {
        let index = if hashed { Index::Hashed } else { Index::Modulo };
        let layout = Layout { index, ..Layout::finer(factor) };
        let mut lists = striped(layout, Policy::BALANCED).letting_wait(order(largest));
        let furthest = furthest(&lists, &rounds);
        lists.validate();
        prop_assert!(furthest < BATCH, "{} folios, with batches of {}", furthest, BATCH);
    }

    #[test]
    fn all_lists_give_up_as_many_frames_as_they_say(
        rounds in prop::collection::vec((0..=6_u8, 0..60_u32, 0..100_u32), 1..40),
    ) {
        with_all_lists!(|_, lists| furthest(&lists, &rounds));
    }
}
