//! Waits on words that belong to threads and not to locks, as those of the locks that they are for.

use std::collections::BTreeSet;

use crate::word_names::WaitKind;
use kilocore_lock_profile::{Frame, Lock};

use super::histograms::spread;
use super::known::KnownWord;

/// What is waited for, and where: the files and the addresses in them.
pub(super) type ParkedAt = (&'static str, Vec<(String, u64)>);

/// Where a word belongs that is not the lock itself, but where threads park that wait for one.
pub(super) fn parking(known: &KnownWord<'_>) -> Option<ParkedAt> {
    let waiter = known.waiter.filter(|waiter| waiter.parks && known.waits.called == 0)?;
    if waiter.kind == WaitKind::GlobalInterpreterLock {
        // There is one, whose words are those of its conditions and its mutex.
        return Some((waiter.what, Vec::new()));
    }
    if known.model().is_lock() {
        return None;
    }
    let place = |frame: &Frame| (frame.module.clone(), frame.offset);
    Some((waiter.what, known.site().iter().map(place).collect()))
}

/// Gives the waits of those who parked to the lock that they waited for, if its word is known by
/// calls of its slow path.
pub(super) fn belongs(waits: &Lock, what: &str, locks: &mut [Lock]) -> bool {
    let first = |lock: &Lock| -> BTreeSet<String> {
        let callers = lock.callers.iter().filter_map(|caller| caller.site.first());
        callers.map(|frame| frame.function.clone()).collect()
    };
    let places = first(waits);
    let same = |lock: &&mut Lock| {
        let known = lock.precision.as_ref().is_some_and(|p| p.acquisitions.is_some());
        known && lock.what.as_deref() == Some(what) && !first(lock).is_disjoint(&places)
    };
    let Some(lock) = locks.iter_mut().find(same) else { return false };
    lock.contended = lock.contended.max(waits.contended.min(lock.acquisitions));
    lock.wait = spread(&[waits.wait.mean().0], lock.contended, waits.wait.sum);
    true
}

/// Two words at which threads wait at the same place, as one lock.
pub(super) fn together(one: Lock, other: Lock) -> Lock {
    if one.acquisitions == 0 {
        return Lock { address: 0, ..other };
    }
    let mut wait = one.wait.clone();
    wait.merge(&other.wait);
    Lock {
        address: 0,
        acquisitions: one.acquisitions + other.acquisitions,
        contended: one.contended + other.contended,
        wait,
        ..one
    }
}
