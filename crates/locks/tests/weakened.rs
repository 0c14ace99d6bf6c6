//! The shipped source of every lock on a machine that drops one half of every ordering: loom
//! must catch each of them, or the checks in `loom.rs` would prove nothing about orderings.

mod common;

use common::altered::{Alteration, Altered, NoAcquire, NoRelease, Sound};
use common::{programs, verdict};
use kilocore_locks::{LockId, LockVisitor, RawLock};
use kilocore_platform::Loom;

/// Two threads that increment once each, under loom.
struct TwoIncrement<A>(std::marker::PhantomData<A>);

impl<A: Alteration> LockVisitor<Altered<Loom, A>> for TwoIncrement<A> {
    type Output = Result<(), String>;

    fn visit<L: RawLock<Altered<Loom, A>>>(self) -> Result<(), String> {
        verdict(|| {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(2);
            builder.max_branches = 10_000;
            builder.check(|| {
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
