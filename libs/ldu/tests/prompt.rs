//! Checks of what a [`PromptLdu`] promises beyond an `Ldu`, and that an `Ldu`, or a lock that does not
//! tell whether it is held, is caught.

use crate::common;
use crate::common::enters_by_inner;

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
use kilocore_locks::{CentralRw, RawRwLock, Rwsem, TellsHeld};
use kilocore_platform::{CpuId, Loom, Native, NodeId, Ordering, Platform, Shuttle};

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

/// A lock that says nobody is inside.
struct NeverHeld<L>(L);

enters_by_inner!([P: Platform, L: RawRwLock<P, Reader = ()>] NeverHeld<L>, P, L);

// SAFETY: it does not keep the promise, which is what the test is about. What goes wrong is that a read
// misses an object.
unsafe impl<P: Platform, L: RawRwLock<P, Reader = ()>> TellsHeld<P> for NeverHeld<L> {
    fn is_held(&self) -> bool {
        false
    }
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

#[test]
fn an_insertion_that_does_not_look_at_the_lock_is_caught() {
    type Blind = Prompt<Machine, NeverHeld<CentralRw<Machine>>>;
    for before in Before::ALL {
        let run = move || prompt::inserted::<Machine, Blind>((), WIDE, before);
        let found = verdict(|| model(Some(3), run));
        assert!(found.as_ref().is_err_and(|found| found.contains(UNSEEN)), "{before:?}: {found:?}");
    }
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

#[test]
fn both_looks_have_to_be_sequentially_consistent() {
    const LOG: Source =
        Source { file: "libs/ldu/src/global.rs", text: include_str!("../src/global.rs") };
    let weaker = Error::Weakened(Ordering::Acquire);
    let found = planted::<Shipped>(LOG, "load(Ordering::SeqCst)", weaker);
    assert!(found.as_ref().is_err_and(|found| found.contains(UNSEEN)), "{found:?}");
    let found =
        planted::<Shipped>(LOG, "load(Ordering::SeqCst)", Error::Weakened(Ordering::SeqCst));
    assert_eq!(found, Ok(()));
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
    fn check<L: TellsHeld<Large, Reader = ()>>() {
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
    assert_eq!((size_of_val(&log), size_of::<Node<Native>>()), (24, 24));
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
        lock.acquire_shared();
        assert!(!log.is_empty());
        log.catch_up(&lock, |_| inside += 1).free_all(|_| ());
        assert!(log.is_empty() && lock.is_held() && lock.try_acquire_shared().is_some());
        lock.release_shared(());
        lock.release_shared(());
        assert_eq!(log.remove(&lock, NonNull::from(&node), |_| inside -= 1), Removed::Directly);
        // With somebody else inside, it cannot without waiting.
        log.insert(&lock, NonNull::from(&node), 512, |_| ()).1.free_all(|_| ());
        lock.acquire_shared();
        lock.acquire_shared();
        assert!(!log.try_catch_up(&lock, |_| inside += 1).0);
        lock.release_shared(());
        let (entered, _) = log.try_enter(&lock, |_| inside += 1);
        assert!(entered && inside == 1);
        lock.release_shared(());
        log.remove(&lock, NonNull::from(&node), |_| inside -= 1);
    }
    assert_eq!((inside, node.is_settled()), (0, true));
}
