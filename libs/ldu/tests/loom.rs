//! Checks of logs under loom: all executions of two threads, and the executions of three threads
//! with a bounded number of preemptions. The root's lock is a simple spin lock here, because the
//! locks are checked elsewhere.

use crate::common;

use common::Census;
use common::ledger;
use common::programs::{self, SetCore, Step};
use kilocore_checking::{Altered, Thorough, model};
use kilocore_ldu::{Adaptive, Always, Global, Ldu, PerCore, Slots};
use kilocore_locks::{CentralRw, NoSharing, Ttas};
use kilocore_platform::{CpuId, Loom, NodeId};

use Step::{Insert, InsertDirectly, Remove, RemoveDirectly};

type Machine = Altered<Loom, Thorough>;
type One = NoSharing<Machine, Ttas<Machine>>;
type Shared = CentralRw<Machine>;

/// The logs that are checked.
type AtTheRoot<L = One> = Ldu<Machine, Census, Global<Machine>, L>;
type OnCores = Ldu<Machine, Census, PerCore<Machine>, One>;

fn together(_: u32) {
    Loom::place(CpuId(0), NodeId(0));
}

fn apart(thread: u32) {
    Loom::place(CpuId(thread), NodeId(0));
}

/// Each program runs with and without recording its history; see [`common::history`] for the
/// reason.
const BOTH: [bool; 2] = [false, true];

fn two(preemptions: Option<usize>, steps: &'static [&'static [Step]], reads: u32) {
    for recorded in BOTH {
        model(preemptions, move || {
            programs::updates_and_reads::<Machine, AtTheRoot>((), steps, reads, together, recorded);
        });
    }
}

fn two_per_core(
    preemptions: Option<usize>,
    steps: &'static [&'static [Step]],
    reads: u32,
    place: SetCore,
) {
    for recorded in BOTH {
        model(preemptions, move || {
            let slots = Slots::new(2, 1);
            programs::updates_and_reads::<Machine, OnCores>(slots, steps, reads, place, recorded);
        });
    }
}

#[test]
fn a_pair_beside_a_read() {
    two(Some(5), &[&[Insert, Remove]], 1);
}

#[test]
fn two_pairs_beside_a_read() {
    two(Some(4), &[&[Insert, Remove, Insert, Remove]], 1);
}

#[test]
fn a_pair_beside_two_reads() {
    two(Some(4), &[&[Insert, Remove]], 2);
}

#[test]
fn two_updaters_beside_a_read() {
    two(Some(2), &[&[Insert, Remove], &[Insert]], 1);
}

#[test]
fn direct_and_logged_updates() {
    two(Some(3), &[&[Insert, RemoveDirectly, Insert, Remove, InsertDirectly]], 1);
}

#[test]
fn an_object_passed_on() {
    for recorded in BOTH {
        model(Some(4), move || {
            programs::passed_on::<Machine, AtTheRoot>((), together, recorded);
        });
    }
}

#[test]
fn readers_that_share() {
    for recorded in BOTH {
        model(Some(2), move || {
            programs::updates_and_reads::<Machine, AtTheRoot<Shared>>(
                (),
                &[&[Insert, Remove]],
                1,
                together,
                recorded,
            );
        });
    }
}

#[test]
fn per_core_a_pair_beside_a_read() {
    two_per_core(Some(4), &[&[Insert, Remove]], 1, apart);
}

#[test]
fn per_core_two_updaters_beside_a_read() {
    two_per_core(Some(2), &[&[Insert], &[Insert]], 1, apart);
}

#[test]
fn per_core_on_the_same_core() {
    two_per_core(Some(2), &[&[Insert], &[Insert]], 1, together);
}

#[test]
fn per_core_slot_conflict() {
    for place in [together as SetCore, apart] {
        for recorded in BOTH {
            model(Some(3), move || {
                let slots = Slots::new(2, 1);
                programs::two_roots::<Machine, OnCores>(slots, place, recorded);
            });
        }
    }
}

#[test]
fn one_object_within_another() {
    model(Some(3), || programs::one_within_the_other::<Machine, AtTheRoot>((), together));
    for place in [together as SetCore, apart] {
        model(Some(2), move || {
            programs::one_within_the_other::<Machine, OnCores>(Slots::new(2, 1), place);
        });
    }
}

#[test]
fn a_push_before_a_garbage_log() {
    model(Some(3), || programs::a_push_before_a_garbage_log::<Machine, AtTheRoot>((), together));
}

#[test]
fn per_core_a_push_before_a_garbage_log() {
    for place in [together as SetCore, apart] {
        model(Some(3), move || {
            programs::a_push_before_a_garbage_log::<Machine, OnCores>(Slots::new(2, 1), place);
        });
    }
}

/// Entries whose amounts are ordered only by the log.
#[test]
fn entries_that_only_the_log_orders() {
    model(Some(3), || ledger::entries::<Machine, Global<Machine>, One, Always>(()));
    model(Some(3), || ledger::entries::<Machine, Global<Machine>, Shared, Always>(()));
}

#[test]
fn per_core_entries_that_only_the_log_orders() {
    model(Some(2), || {
        Loom::place(CpuId(0), NodeId(0));
        ledger::entries::<Machine, PerCore<Machine>, One, Always>(Slots::new(2, 1));
    });
}

#[test]
fn entries_of_a_log_that_adapts() {
    model(Some(2), || {
        ledger::entries::<Machine, Global<Machine>, One, Adaptive<Machine>>(());
    });
}

#[test]
fn an_adaptive_log_beside_a_read() {
    type Adapting = Ldu<Machine, Census, Global<Machine>, One, Adaptive<Machine>>;
    for recorded in BOTH {
        model(Some(2), move || {
            let steps: &[&[Step]] = &[&[Insert, Remove]];
            programs::updates_and_reads::<Machine, Adapting>((), steps, 1, together, recorded);
        });
    }
}
