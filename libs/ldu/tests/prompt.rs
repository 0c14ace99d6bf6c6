//! Checks of what a [`PromptLdu`] promises beyond an `Ldu`, and that an `Ldu`, or a lock that does not
//! tell whether it is held, is caught.

use crate::common;

use std::ptr::NonNull;

use common::programs::{self, Step};
use common::prompt::{self, Before};
use common::{Census, IN_HAND, UNSEEN, ledger};
use kilocore_checking::planted::{Error, Source, plant};
use kilocore_checking::{
    Altered, Sequential, Sound, Thorough, Threads, explore_part, model, verdict,
};
use kilocore_ldu::raw::{Inserted, InsertionLog, Node, Removed};
use kilocore_ldu::{Global, Ldu, Limits, PromptLdu};
use kilocore_locks::{CentralRw, RawRwLock, Rwsem};
use kilocore_platform::{CpuId, Loom, Native, NodeId, Shuttle};

use Step::{Insert, InsertDirectly, Look, Remove};

type Machine = Altered<Loom, Thorough>;
/// The loads of this one are sequentially consistent, as in what ships.
type Shipped = Altered<Loom, Sequential>;

type Prompt<P, L = CentralRw<P>> = PromptLdu<P, Census, L>;

const WIDE: Limits = Limits { nodes: 4096, age: None };
/// Each insertion that counts finds the log full.
const TIGHT: Limits = Limits { nodes: 0, age: None };

fn together(_: u32) {
    Loom::place(CpuId(0), NodeId(0));
}

#[test]
fn an_insertion_is_seen_by_reads_that_are_under_way() {
    for before in Before::ALL {
        for limits in [WIDE, TIGHT] {
            model(Some(3), move || prompt::inserted::<Machine, Prompt<_>>((), limits, before));
            model(Some(3), move || prompt::inserted::<Shipped, Prompt<_>>((), limits, before));
        }
    }
}

#[test]
fn an_insertion_need_not_wait_for_a_removal() {
    for limits in [WIDE, TIGHT] {
        model(Some(2), move || prompt::inserted_beside_a_removal::<Machine, Prompt<_>>((), limits));
        model(Some(2), move || prompt::inserted_beside_a_removal::<Shipped, Prompt<_>>((), limits));
    }
}

#[test]
fn an_insertion_into_a_full_log_is_seen() {
    let narrow = Limits { nodes: 2, age: None };
    model(Some(2), move || prompt::inserted_into_a_full_log::<Machine, Prompt<_>>((), narrow));
    model(Some(2), move || prompt::inserted_into_a_full_log::<Shipped, Prompt<_>>((), narrow));
}

#[test]
fn a_full_log_and_an_insertion_exclude_each_other() {
    const NODE: Source = Source {
        file: "libs/ldu/src/node/insertion.rs",
        text: include_str!("../src/node/insertion.rs"),
    };
    let narrow = Limits { nodes: 2, age: None };
    let run = move || prompt::inserted_into_a_full_log::<Machine, Prompt<_>>((), narrow);
    let planted = || verdict(|| model(Some(2), run));
    let found = plant(NODE, "compare_exchange(CANCELLED, 0", Error::InTwoSteps, planted);
    assert!(found.is_err(), "loom finds nothing wrong with a node that leaves in two steps");
}

#[test]
fn a_full_log_keeps_what_is_pending() {
    let (log, lock) = (InsertionLog::<Native>::new(), CentralRw::<Native>::new());
    let mut kept = Vec::new();
    let mut swept = 0;
    let mut is_full = 0;
    for number in 0..1000 {
        let node = NonNull::from(Box::leak(Box::new(Node::<Native>::new())));
        // SAFETY: the node is this thread's, and stays until it is out of the log.
        unsafe {
            assert!(log.adopt(node.as_ref()));
            let (how, released) = log.insert(&lock, node, 64, |_| panic!("few are pending"));
            is_full += u32::from(how == Inserted::Swept);
            released.free_all(|node| {
                swept += 1;
                drop(Box::from_raw(node.as_ptr()));
            });
            if number % 100 == 0 {
                kept.push(node);
            } else {
                assert!(log.cancel(node.as_ref()));
                assert!(!node.as_ref().give_up(), "the log has it");
            }
        }
    }
    // Queues count their nodes only now and then, and the less so the more this thread is moved to other cores.
    assert!(is_full > 0 && swept > 500, "full {is_full} times, and {swept} left it");
    let mut found = Vec::new();
    lock.acquire();
    // SAFETY: acquired above, and as above.
    unsafe {
        let released = log.apply(|node| found.push(node));
        lock.release();
        released.free_all(|node| {
            swept += 1;
            drop(Box::from_raw(node.as_ptr()));
        });
        assert_eq!(found.len() + swept, 1000);
        found.sort();
        kept.sort();
        assert_eq!(found, kept);
        found.into_iter().for_each(|node| drop(Box::from_raw(node.as_ptr())));
    }
}

#[test]
fn a_removed_object_is_in_nobodys_hand() {
    for before in Before::ALL {
        for limits in [WIDE, TIGHT] {
            model(Some(3), move || prompt::removed::<Machine, Prompt<_>>((), limits, before));
            model(Some(3), move || prompt::removed::<Shipped, Prompt<_>>((), limits, before));
        }
    }
}

#[test]
fn a_log_of_removals_is_caught() {
    type Logged = Ldu<Machine, Census, Global<Machine>, CentralRw<Machine>>;
    let run = || prompt::inserted::<Machine, Logged>((), WIDE, Before::New);
    let found = verdict(|| model(Some(3), run));
    assert!(found.as_ref().is_err_and(|found| found.contains(UNSEEN)), "{found:?}");
    let run = || prompt::removed::<Machine, Logged>((), WIDE, Before::New);
    let found = verdict(|| model(Some(3), run));
    assert!(found.as_ref().is_err_and(|found| found.contains(IN_HAND)), "{found:?}");
}

/// What loom finds if one call of the source goes wrong.
fn planted<P: Threads>(source: Source, call: &str, error: Error) -> Result<(), String> {
    plant(source, call, error, || {
        verdict(|| {
            for before in Before::ALL {
                model(Some(3), move || prompt::inserted::<P, Prompt<P>>((), WIDE, before));
                model(Some(3), move || prompt::removed::<P, Prompt<P>>((), WIDE, before));
            }
        })
    })
}

const LOG: Source =
    Source { file: "libs/ldu/src/insertion_log.rs", text: include_str!("../src/insertion_log.rs") };

#[test]
fn a_reader_that_does_not_say_so_is_caught() {
    let found = planted::<Machine>(LOG, "fetch_add(1, Ordering::SeqCst)", Error::Lost);
    assert!(found.as_ref().is_err_and(|found| found.contains(UNSEEN)), "{found:?}");
}

#[test]
fn a_claim_and_a_removal_exclude_each_other() {
    const NODE: Source = Source {
        file: "libs/ldu/src/node/insertion.rs",
        text: include_str!("../src/node/insertion.rs"),
    };
    for call in ["compare_exchange(PENDING", "compare_exchange(seen"] {
        let found = planted::<Machine>(NODE, call, Error::InTwoSteps);
        assert!(found.is_err(), "loom finds nothing wrong with {call} in two steps");
    }
}

#[test]
fn histories_are_linearizable() {
    const PROGRAMS: [(&[&[Step]], usize); 4] = [
        (&[&[Insert, Remove]], 4),
        (&[&[Insert, Remove, Insert, Remove]], 3),
        (&[&[Insert, Remove], &[Insert]], 2),
        (&[&[InsertDirectly, Remove, Insert]], 3),
    ];
    for recorded in [false, true] {
        for (steps, preemptions) in PROGRAMS {
            model(Some(preemptions), move || {
                programs::updates_and_reads::<Machine, Prompt<_>>((), steps, 1, together, recorded);
            });
        }
        model(Some(3), move || {
            programs::passed_on::<Machine, Prompt<_>>((), together, recorded);
        });
    }
}

#[test]
fn no_read_is_torn() {
    model(Some(3), || programs::one_within_the_other::<Machine, Prompt<_>>((), together));
    model(Some(3), || programs::a_push_before_a_garbage_log::<Machine, Prompt<_>>((), together));
}

#[test]
fn entries_that_only_the_log_orders() {
    model(Some(3), ledger::entries_of_prompt::<Machine, CentralRw<Machine>>);
}

/// More threads than loom can handle, and the lock that is the default.
#[test]
fn larger_programs() {
    type Large = Altered<Shuttle, Sound>;
    fn check<L: RawRwLock<Large, Reader = ()>>() {
        const STEPS: &[Step] = &[Insert, Look, Remove, Insert, Look];
        let on_two = |thread| Shuttle::place(CpuId(thread % 2), NodeId(0));
        let (schedules, depth) = (1_500, 4);
        for limits in [WIDE, TIGHT] {
            for before in Before::ALL {
                let run = move || prompt::inserted::<Large, Prompt<_, L>>((), limits, before);
                explore_part(run, schedules, depth);
                let run = move || prompt::removed::<Large, Prompt<_, L>>((), limits, before);
                explore_part(run, schedules, depth);
            }
        }
        let run = move || {
            programs::updates_and_reads::<_, Prompt<_, L>>((), &[STEPS; 2], 2, on_two, false);
        };
        explore_part(run, schedules, depth);
        explore_part(|| programs::moved::<Large, Prompt<_, L>>(()), schedules, depth);
        explore_part(|| programs::outlived::<Large, Prompt<_, L>>(()), schedules, depth);
        explore_part(
            move || programs::crowded::<Large, Prompt<_, L>>((), on_two),
            schedules,
            depth,
        );
    }
    check::<CentralRw<Large>>();
    check::<Rwsem<Large>>();
}

/// What C relies on, which looks at a log that it shares with Rust: `linux/tree/include/linux/i_mmap_ldu.h`.
#[test]
fn another_language_sees_whether_a_log_is_empty() {
    let (log, lock) = (InsertionLog::<Native>::new(), CentralRw::<Native>::new());
    let first = || {
        // SAFETY: it begins with a pointer.
        unsafe { (&raw const log).cast::<*const ()>().read_volatile() }
    };
    assert_eq!((size_of_val(&log), size_of::<Node<Native>>()), (32, 24));
    // SAFETY: the word is there, as Linux's C has it: how many look.
    let looking = || unsafe { (&raw const log).cast::<[u32; 8]>().read_volatile() }[6];
    log.begin_looking();
    assert_eq!(looking(), 1);
    log.end_looking();
    assert_eq!(looking(), 0);
    // SAFETY: its words are zero, which is the node of an object that never was in a structure.
    let node: Node<Native> = unsafe { std::mem::zeroed() };
    assert!(node.is_settled() && first().is_null());
    let mut found = Vec::new();
    // SAFETY: nobody else has the node, which stays here until the log is empty.
    unsafe {
        assert!(log.adopt(&node));
        let (how, _) = log.insert(&lock, NonNull::from(&node), 512, |_| panic!("nobody is inside"));
        assert_eq!(how, Inserted::Logged);
        assert!(!first().is_null());
        lock.acquire();
        log.apply(|node| found.push(node)).free_all(|_| panic!("it was not given up"));
        lock.release();
    }
    assert_eq!(found, [NonNull::from(&node)]);
    assert!(first().is_null() && log.is_empty());
    // SAFETY: as above.
    assert!(!unsafe { log.cancel(&node) }, "it is in, and has to be taken out");
}

/// A reader that has entered by itself and finds the log not empty.
#[test]
fn who_enters_by_itself_catches_up() {
    let (log, lock, node) =
        (InsertionLog::<Native>::new(), CentralRw::<Native>::new(), Node::new());
    let mut inside = 0;
    // SAFETY: nobody else has the node, which is taken out before it ends.
    unsafe {
        assert!(log.adopt(&node));
        log.insert(&lock, NonNull::from(&node), 512, |_| ()).1.free_all(|_| ());
        log.begin_looking();
        lock.acquire_shared();
        assert!(!log.is_empty());
        log.catch_up(&lock, |_| inside += 1).free_all(|_| ());
        assert!(log.is_empty() && !lock.try_acquire() && lock.try_acquire_shared().is_some());
        lock.release_shared(());
        log.leave(&lock);
        assert_eq!(log.remove(&lock, NonNull::from(&node), |_| inside -= 1), Removed::Directly);
        // With somebody else inside, it cannot without waiting.
        log.insert(&lock, NonNull::from(&node), 512, |_| ()).1.free_all(|_| ());
        lock.acquire_shared();
        assert!(!log.try_enter(&lock, |_| inside += 1).0);
        lock.release_shared(());
        let (entered, _) = log.try_enter(&lock, |_| inside += 1);
        assert!(entered && inside == 1);
        log.leave(&lock);
        log.remove(&lock, NonNull::from(&node), |_| inside -= 1);
        // Nobody looks any more, so it does not matter that somebody is inside.
        lock.acquire_shared();
        let (how, _) = log.insert(&lock, NonNull::from(&node), 512, |_| ());
        assert_eq!((how, log.cancel(&node)), (Inserted::Logged, true));
        lock.release_shared(());
        log.synchronize(&lock, |_| ()).free_all(|_| ());
    }
    assert_eq!((inside, node.is_settled()), (0, true));
}
