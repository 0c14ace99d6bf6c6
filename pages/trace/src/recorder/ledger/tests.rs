use crate::{About, Trace};

use super::*;
use crate::recorder::page_record::ThreadKey;

const PROGRAM: ThreadKey = ThreadKey { process: 5, thread: 5 };
const STRANGER: ThreadKey = ThreadKey { process: 9, thread: 9 };

/// A ledger of process 5, what it is to enter, and what comes of it.
fn balance(steps: &[(ThreadKey, bool, Happened)]) -> (Vec<(u32, EventKind)>, Unseen) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("x.pages");
    let mut ledger = Ledger::new(Family::of(5), Writer::create(&path).expect("there is room"));
    ledger.begin(100);
    for (index, &(who, in_interrupt, happened)) in steps.iter().enumerate() {
        let what = Fact::Block { who, happened, in_interrupt };
        ledger.enter(PageRecord { at: 100 + index as u64, cpu: 1, what }).expect("it can happen");
    }
    let Balance { writer, unseen, .. } = ledger.close();
    writer.finish(About::default()).expect("there is room");
    let trace = Trace::read(&path).expect("it was written");
    (trace.events.iter().map(|event| (event.thread.0, event.kind)).collect(), unseen)
}

fn allocated(frame: u64, order: u8) -> Happened {
    Happened::Allocated { frame: Frame(frame), order, zeroed: true, movable: true }
}

fn released(frame: u64, order: u8) -> Happened {
    Happened::Released { frame: Frame(frame), order }
}

fn order(number: u8) -> Order {
    Order::new(number).expect("an order")
}

fn allocates(page: u32, number: u8) -> EventKind {
    EventKind::Allocate { page: Page(page), order: order(number), zeroed: true, movable: true }
}

fn releases(page: u32, number: u8) -> EventKind {
    EventKind::Release { page: Page(page), order: order(number) }
}

#[test]
fn the_programs_blocks_count_whoever_releases_them() {
    let (events, unseen) = balance(&[
        (STRANGER, false, allocated(7, 0)),
        (PROGRAM, false, allocated(5 * 1024 + 3, 0)),
        (PROGRAM, false, allocated(2, 0)),
        (STRANGER, false, released(7, 0)),
        (STRANGER, false, released(5 * 1024 + 3, 0)),
        (PROGRAM, true, released(2, 0)),
    ]);
    let expected = [
        (1, allocates(3, 0)),
        (1, allocates(1024 + 2, 0)),
        (0, releases(3, 0)),
        (0, releases(1024 + 2, 0)),
    ];
    assert_eq!((events, unseen), (expected.to_vec(), Unseen::default()));
}

#[test]
fn what_interrupts_allocate_is_not_the_programs() {
    let (events, unseen) = balance(&[
        (PROGRAM, true, allocated(7, 0)),
        (STRANGER, true, allocated(8, 0)),
        (PROGRAM, false, released(7, 0)),
    ]);
    assert!(events.is_empty());
    assert_eq!((unseen.in_interrupts, unseen.released_unallocated), (1, 1));
}

#[test]
fn blocks_go_back_in_parts_and_what_is_no_longer_held_does_not_go_back_twice() {
    let (events, unseen) = balance(&[
        (PROGRAM, false, allocated(8, 3)),
        (PROGRAM, false, released(10, 0)),
        (PROGRAM, false, released(8, 3)),
    ]);
    let parts = [releases(10, 0), releases(8, 1), releases(11, 0), releases(12, 2)];
    let kinds: Vec<EventKind> = events.iter().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds, [&[allocates(8, 3)][..], &parts].concat());
    assert_eq!(unseen, Unseen::default());
}

#[test]
fn who_allocates_a_held_block_shows_that_a_release_was_missed() {
    for who in [PROGRAM, STRANGER] {
        let (events, unseen) =
            balance(&[(PROGRAM, false, allocated(6, 0)), (who, false, allocated(4, 2))]);
        assert_eq!(events[1], (0, releases(6, 0)));
        assert_eq!(events.len(), if who == PROGRAM { 3 } else { 2 });
        assert_eq!(unseen.releases_inferred, 1);
    }
}

#[test]
fn blocks_that_a_trace_cannot_have_are_several() {
    let (events, _) = balance(&[(PROGRAM, false, allocated(4096, 12))]);
    assert_eq!(events.len(), 4);
    assert_eq!(events[3].1.block(), (Page(3 * 1024), order(10)));
    let (events, _) = balance(&[(PROGRAM, false, allocated(4097, 1))]);
    assert_eq!(events.len(), 2);
}

#[test]
fn what_was_before_the_beginning_does_not_count_and_times_never_go_back() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("x.pages");
    let mut ledger = Ledger::new(Family::of(5), Writer::create(&path).expect("there is room"));
    ledger.begin(100);
    for (at, frame) in [(99, 1), (110, 2), (105, 3)] {
        let happened = allocated(frame, 0);
        let what = Fact::Block { who: PROGRAM, happened, in_interrupt: false };
        ledger.enter(PageRecord { at, cpu: 0, what }).expect("it can happen");
    }
    ledger.close().writer.finish(About::default()).expect("there is room");
    let trace = Trace::read(&path).expect("it was written");
    let times: Vec<u64> = trace.events.iter().map(|event| event.at.0).collect();
    assert_eq!(times, [10, 10]);
}
