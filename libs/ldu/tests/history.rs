//! Tests of the check of histories: some are linearizable, and some are not.

use crate::common;

use common::history::Operation::{Insert, Read, Remove};
use common::history::{Event, Operation, is_linearizable};

/// Returns whether a history is linearizable. Each event contains when an operation was called,
/// when it returned, and what it was.
fn holds(events: &[(u64, u64, Operation)]) -> bool {
    let event = |&(called, returned, operation)| Event { called, returned, operation };
    is_linearizable(&events.iter().map(event).collect::<Vec<_>>())
}

const NONE: Operation = Read(0);
const FIRST: Operation = Read(0b01);
const SECOND: Operation = Read(0b10);
const BOTH: Operation = Read(0b11);

#[test]
fn one_after_the_other() {
    assert!(holds(&[]));
    assert!(holds(&[
        (0, 1, NONE),
        (2, 3, Insert(0)),
        (4, 5, FIRST),
        (6, 7, Remove(0)),
        (8, 9, NONE)
    ]));
    assert!(holds(&[(0, 1, Insert(1)), (2, 3, Insert(0)), (4, 5, BOTH), (6, 7, Remove(1))]));
}

#[test]
fn a_read_that_misses_what_has_returned() {
    assert!(!holds(&[(0, 1, Insert(0)), (2, 3, NONE)]));
    assert!(!holds(&[(0, 1, Insert(0)), (2, 3, Remove(0)), (4, 5, FIRST)]));
}

#[test]
fn a_read_that_sees_what_was_not_called() {
    assert!(!holds(&[(0, 1, FIRST), (2, 3, Insert(0))]));
    assert!(!holds(&[(0, 1, SECOND), (2, 3, Insert(0))]));
}

#[test]
fn a_read_beside_an_update_sees_it_or_not() {
    for found in [NONE, FIRST] {
        assert!(holds(&[(0, 3, Insert(0)), (1, 2, found)]));
        assert!(holds(&[(1, 2, Insert(0)), (0, 3, found)]));
        assert!(holds(&[(0, 2, Insert(0)), (1, 3, found)]));
    }
    assert!(!holds(&[(0, 3, Insert(0)), (1, 2, SECOND)]));
}

#[test]
fn reads_beside_an_update_agree_on_when_it_was() {
    let update = (0, 9, Insert(0));
    assert!(holds(&[update, (1, 2, NONE), (3, 4, FIRST)]));
    assert!(!holds(&[update, (1, 2, FIRST), (3, 4, NONE)]));
    // If the reads overlap, they need not agree.
    assert!(holds(&[update, (1, 4, FIRST), (2, 3, NONE)]));
}

/// A log without epochs allows such a read. The second update is called after the first has
/// returned. The reader overlaps both, and has passed the first update's node before that update
/// was made.
#[test]
fn a_read_that_misses_an_earlier_update_and_sees_a_later_one() {
    let updates = [(1, 2, Insert(0)), (3, 4, Insert(1))];
    let with = |read| holds(&[updates[0], updates[1], (0, 5, read)]);
    assert!(with(NONE));
    assert!(with(FIRST));
    assert!(with(BOTH));
    assert!(!with(SECOND));
    // If the updates overlap, either may be first.
    assert!(holds(&[(1, 3, Insert(0)), (2, 4, Insert(1)), (0, 5, SECOND)]));
}

#[test]
fn two_reads_that_see_two_updates_in_opposite_orders() {
    let updates = [(0, 9, Insert(0)), (0, 9, Insert(1))];
    let with = |first, second| holds(&[updates[0], updates[1], (1, 4, first), (2, 5, second)]);
    assert!(!with(FIRST, SECOND));
    assert!(with(FIRST, BOTH));
    assert!(with(FIRST, FIRST));
}

#[test]
fn a_pair_that_cancels_is_seen_in_between_or_not() {
    let pair = [(1, 2, Insert(0)), (3, 4, Remove(0))];
    for found in [NONE, FIRST] {
        assert!(holds(&[pair[0], pair[1], (0, 5, found)]));
    }
    assert!(!holds(&[pair[0], pair[1], (0, 5, FIRST), (6, 7, FIRST)]));
}

#[test]
fn operations_on_an_object_that_do_not_alternate() {
    assert!(!holds(&[(0, 1, Remove(0))]));
    assert!(!holds(&[(0, 1, Insert(0)), (2, 3, Insert(0))]));
    assert!(holds(&[(0, 3, Remove(0)), (1, 2, Insert(0))]));
}

/// The search has to go back, because the order that it tries first leads nowhere.
#[test]
fn an_order_that_has_to_be_found() {
    let updates: Vec<_> = (0..6).map(|id| (0, 20, Insert(id))).collect();
    let reads = [(1, 2, Read(0b10_0000)), (3, 4, Read(0b11_0000)), (5, 6, Read(0b11_1000))];
    let mut events = [&updates[..], &reads[..]].concat();
    assert!(holds(&events));
    events.push((7, 8, Read(0b11_0000)));
    assert!(!holds(&events));
}
