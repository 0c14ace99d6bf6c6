//! The shipped source of every lock on a machine that drops one half of every ordering, and with
//! single orderings weakened: loom must catch each of them, or the checks in `loom.rs` would prove
//! nothing about orderings. `make weaken` tries every ordering by itself (`docs/evidence/orderings`).

use crate::common;

use common::altered::planted::{Error, Source, plant};
use common::altered::{Alteration, Altered, NoAcquire, NoRelease, Sequential, Sound, Thorough};
use common::read_write::{Read, Write, program};
use common::{model, programs, verdict};
use kilocore_locks::{BravoWriterFirst, LockId, LockVisitor, RawLock};
use kilocore_platform::{Loom, Ordering};

/// Two threads that increment once each, under loom.
struct TwoIncrement<A>(std::marker::PhantomData<A>);

impl<A: Alteration> LockVisitor<Altered<Loom, A>> for TwoIncrement<A> {
    type Output = Result<(), String>;

    fn visit<L: RawLock<Altered<Loom, A>>>(self) -> Result<(), String> {
        verdict(|| {
            model(Some(2), || {
                programs::exclusion::<Altered<Loom, A>, L>(2, 1, programs::all_together);
            });
        })
    }
}

fn verdicts<A: Alteration>() -> Vec<(LockId, Result<(), String>)> {
    LockId::ALL
        .iter()
        .map(|&lock| (lock, lock.visit(TwoIncrement::<A>(std::marker::PhantomData))))
        .collect()
}

/// A race on the data is what a missing ordering amounts to; anything else that goes wrong
/// would be another error, which the test must not take for this one.
fn assert_all_race<A: Alteration>() {
    for (lock, verdict) in verdicts::<A>() {
        let message = verdict.expect_err(&format!("loom finds nothing wrong with {lock}"));
        assert!(message.contains("Causality violation"), "{lock}: {message}");
    }
}

#[test]
fn without_release_every_lock_races() {
    assert_all_race::<NoRelease>();
}

#[test]
fn without_acquire_every_lock_races() {
    assert_all_race::<NoAcquire>();
}

#[test]
fn with_both_every_lock_passes_the_same_program() {
    for (lock, verdict) in verdicts::<Sound>() {
        assert_eq!(verdict, Ok(()), "{lock}");
    }
}

/// What loom says of a lock with one ordering weakened.
fn weakened(lock: LockId, source: Source, call: &str, order: Ordering) -> Result<(), String> {
    let two = TwoIncrement::<Thorough>(std::marker::PhantomData);
    plant(source, call, Error::Weakened(order), || lock.visit(two))
}

macro_rules! source {
    ($name:literal) => {
        Source {
            file: concat!("libs/locks/src/", $name),
            text: include_str!(concat!("../src/", $name)),
        }
    };
}

#[test]
fn one_ordering_that_a_lock_depends_on_is_enough() {
    let cases = [
        (LockId::Tas, source!("tas.rs"), "store(FREE, Ordering::Release)"),
        (LockId::Futex, source!("futex.rs"), "swap(FREE, Ordering::Release)"),
        (LockId::Cna, source!("cna.rs"), "store(passed_over, Ordering::Release)"),
        (LockId::Clh, source!("clh.rs"), "swap(node, Ordering::AcqRel)"),
        (LockId::Requester, source!("requester.rs"), "fetch_add(1, Ordering::Release)"),
    ];
    for (lock, source, call) in cases {
        let message = weakened(lock, source, call, Ordering::Relaxed)
            .expect_err(&format!("loom finds nothing wrong with {lock} without {call}"));
        assert!(message.contains("Causality violation"), "{lock}: {message}");
    }
}

/// A reader shows itself, then looks at the bias. The look comes too early if it is not sequentially
/// consistent, as it is in what ships.
#[test]
fn a_biased_lock_depends_on_what_is_sequentially_consistent() {
    type Machine = Altered<Loom, Sequential>;
    let check = || {
        model(Some(3), || {
            program::<Machine, BravoWriterFirst<Machine>>(&[&[Read, Read], &[Write]]);
        });
    };
    check();
    let weaker = Error::Weakened(Ordering::Acquire);
    let look = "load(Ordering::SeqCst)\n        } else";
    let message = plant(source!("bravo.rs"), look, weaker, || verdict(check))
        .expect_err("loom finds nothing wrong with a weaker look");
    assert!(message.contains("Causality violation"), "{message}");
}

#[test]
fn an_ordering_that_is_as_strong_as_before_is_no_error() {
    let source = source!("tas.rs");
    let verdict =
        weakened(LockId::Tas, source, "store(FREE, Ordering::Release)", Ordering::Release);
    assert_eq!(verdict, Ok(()));
}
