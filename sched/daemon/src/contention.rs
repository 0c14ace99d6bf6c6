//! From where waits for the kernel's own locks begin and end to how long each thread spun and slept for which.
//!
//! The kernel says that a wait begins whenever a thread begins to spin, and again when it gives that up and
//! sleeps. Within one wait there may be others: a thread that goes to sleep for a read-write lock takes the spin
//! lock of its queue. So a wait lasts until its thread has all locks that it waited for, belongs to the
//! outermost of them, and no time of a thread counts twice.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_sched_policy::Nanos;

use crate::waits::Wait;

/// So many locks are remembered at most.
const MOST_LOCKS: usize = 4096;

/// A thread begins to wait for a lock, or has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Nanos,
    pub(crate) tid: u32,
    pub(crate) lock: u64,
    /// How the wait begins, if it does.
    pub(crate) begins: Option<Begin>,
}

/// How a wait begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Begin {
    /// Whether the thread spins, or else sleeps.
    pub(crate) spins: bool,
    /// The kernel's stack, innermost first.
    pub(crate) stack: Vec<u64>,
}

/// What was recorded for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    /// In any order.
    pub(crate) steps: Vec<Step>,
    pub(crate) since: Nanos,
    /// Until when all is known.
    pub(crate) until: Nanos,
    /// Whether the next slice begins where this one ends.
    pub(crate) goes_on: bool,
}

/// A place in the kernel at which waits begin that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlaceId(pub(crate) usize);

/// Of which thread waits are, for which lock and where.
pub(crate) type Of = (u32, u64, PlaceId);

/// The waits in a slice.
pub(crate) type SliceWaits = BTreeMap<Of, Wait>;

/// A wait of a thread that has begun.
#[derive(Debug)]
struct Open {
    /// The lock that it was for at first.
    lock: u64,
    /// Where that was, if it counts.
    place: Option<PlaceId>,
    /// The locks that it is for by now, the latest last, and whether the thread spins for them.
    locks: Vec<(u64, bool)>,
    /// Until when it has been counted.
    counted: Nanos,
}

/// How a lock was waited for last.
#[derive(Debug, Clone, Copy)]
struct Known {
    spins: bool,
    place: Option<PlaceId>,
}

/// The waits that go on from slice to slice.
#[derive(Debug, Default)]
pub(crate) struct Contention {
    open: BTreeMap<u32, Open>,
    known: BTreeMap<u64, Known>,
    /// Whether waits are seen only since the slice's beginning.
    after_gap: bool,
}

impl Contention {
    /// How long these threads waited in a slice. Of waits that begin, `place` says where, if they count.
    pub(crate) fn slice(
        &mut self,
        mut slice: Slice,
        members: &BTreeSet<u32>,
        place: &mut dyn FnMut(&Begin) -> Option<PlaceId>,
    ) -> SliceWaits {
        slice.steps.retain(|step| members.contains(&step.tid));
        // Those of one moment stay in the order in which their core wrote them.
        slice.steps.sort_by_key(|step| step.at);
        self.open.retain(|tid, _| members.contains(tid));
        let mut waits = SliceWaits::new();
        let mut met = BTreeSet::new();
        let bounds = (slice.since, slice.until);
        for step in slice.steps {
            let is_first = met.insert(step.tid);
            match step.begins {
                Some(begin) => {
                    let known = Known { spins: begin.spins, place: place(&begin) };
                    self.begin(step.tid, step.lock, step.at, known);
                    if let Some(open) = self.open.get_mut(&step.tid) {
                        open.count(step.tid, step.at, bounds, &mut waits);
                        open.enter(step.lock, begin.spins);
                    }
                }
                None if self.open.contains_key(&step.tid) => {
                    self.end(&step, bounds, &mut waits);
                }
                // It has waited since before anything was seen.
                None if is_first && self.after_gap => {
                    if let Some(known) = self.known.get(&step.lock).copied() {
                        self.begin(step.tid, step.lock, slice.since, known);
                        self.end(&step, bounds, &mut waits);
                    }
                }
                None => {}
            }
        }
        for (tid, open) in &mut self.open {
            open.count(*tid, slice.until, bounds, &mut waits);
        }
        if !slice.goes_on {
            self.open.clear();
        }
        self.after_gap = !slice.goes_on;
        waits
    }

    fn begin(&mut self, tid: u32, lock: u64, at: Nanos, known: Known) {
        if self.known.len() >= MOST_LOCKS && !self.known.contains_key(&lock) {
            self.known.clear();
        }
        self.known.insert(lock, known);
        self.open.entry(tid).or_insert_with(|| Open {
            lock,
            place: known.place,
            locks: vec![(lock, known.spins)],
            counted: at,
        });
    }

    fn end(&mut self, step: &Step, bounds: (Nanos, Nanos), waits: &mut SliceWaits) {
        let Some(open) = self.open.get_mut(&step.tid) else { return };
        open.count(step.tid, step.at, bounds, waits);
        open.locks.retain(|(lock, _)| *lock != step.lock);
        if open.locks.is_empty() {
            self.open.remove(&step.tid);
        }
    }
}

impl Open {
    /// Counts the time until a moment, as far as it is within these bounds.
    fn count(
        &mut self,
        tid: u32,
        at: Nanos,
        (since, until): (Nanos, Nanos),
        waits: &mut SliceWaits,
    ) {
        let time = at.min(until).0.saturating_sub(self.counted.max(since).0);
        self.counted = self.counted.max(at);
        let Some(place) = self.place.filter(|_| time > 0) else { return };
        let wait = waits.entry((tid, self.lock, place)).or_default();
        let spins = self.locks.last().is_some_and(|(_, spins)| *spins);
        if spins { wait.spun.0 += time } else { wait.slept.0 += time }
    }

    /// From now on it is for this lock.
    fn enter(&mut self, lock: u64, spins: bool) {
        self.locks.retain(|(of, _)| *of != lock);
        self.locks.push((lock, spins));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn begin(at: u64, tid: u32, lock: u64, spins: bool) -> Step {
        let begins = Some(Begin { spins, stack: vec![lock] });
        Step { at: Nanos(at), tid, lock, begins }
    }

    fn end(at: u64, tid: u32, lock: u64) -> Step {
        Step { at: Nanos(at), tid, lock, begins: None }
    }

    fn slice(since: u64, until: u64, steps: &[Step]) -> Slice {
        let steps = steps.to_vec();
        Slice { steps, since: Nanos(since), until: Nanos(until), goes_on: true }
    }

    /// Thread, lock, spun, slept.
    type Seen = (u32, u64, u64, u64);

    fn seen(contention: &mut Contention, slice: Slice) -> Vec<Seen> {
        // Lock 99 counts as little as a futex's bucket.
        let mut place = |begin: &Begin| (begin.stack != [99]).then_some(PlaceId(0));
        let waits = contention.slice(slice, &(0..10).collect(), &mut place);
        let seen = |((tid, lock, _), wait): (Of, Wait)| (tid, lock, wait.spun.0, wait.slept.0);
        waits.into_iter().map(seen).collect()
    }

    #[test]
    fn a_mutex_is_spun_for_first_and_slept_for_then() {
        let steps = [begin(10, 1, 7, true), begin(30, 1, 7, false), end(80, 1, 7)];
        assert_eq!(seen(&mut Contention::default(), slice(0, 100, &steps)), [(1, 7, 20, 50)]);
    }

    #[test]
    fn waits_within_a_wait_do_not_count_twice() {
        let steps = [
            begin(10, 1, 7, false),
            begin(20, 1, 8, true),
            end(25, 1, 8),
            end(60, 1, 7),
            // It has it, and waits no more.
            begin(70, 1, 8, true),
            end(71, 1, 8),
        ];
        let waits = seen(&mut Contention::default(), slice(0, 100, &steps));
        assert_eq!(waits, [(1, 7, 5, 45), (1, 8, 1, 0)]);
    }

    #[test]
    fn waits_go_on_from_slice_to_slice() {
        let mut contention = Contention::default();
        let first = slice(0, 100, &[begin(40, 1, 7, false), begin(50, 30, 7, false)]);
        assert_eq!(seen(&mut contention, first), [(1, 7, 0, 60)], "30 is none of ours");
        assert_eq!(seen(&mut contention, slice(100, 200, &[])), [(1, 7, 0, 100)]);
        let last = slice(200, 300, &[end(210, 1, 7)]);
        assert_eq!(seen(&mut contention, last), [(1, 7, 0, 10)]);
        assert_eq!(seen(&mut contention, slice(300, 400, &[end(310, 1, 7)])), [], "it is over");
    }

    #[test]
    fn what_lies_in_a_gap_is_unknown_and_waits_that_end_after_it_are_seen_from_its_end() {
        let mut contention = Contention::default();
        let steps = [begin(10, 1, 7, false), begin(20, 2, 7, false), end(90, 2, 7)];
        let first = Slice { goes_on: false, ..slice(0, 50, &steps) };
        assert_eq!(seen(&mut contention, first), [(1, 7, 0, 40), (2, 7, 0, 30)]);
        let steps = [end(120, 1, 7), begin(130, 2, 7, false), end(150, 2, 7), end(160, 2, 7)];
        let second = slice(100, 200, &steps);
        assert_eq!(seen(&mut contention, second), [(1, 7, 0, 20), (2, 7, 0, 20)]);
    }

    #[test]
    fn what_does_not_count_does_not_with_all_that_is_within_it() {
        let steps = [begin(10, 1, 99, true), begin(20, 1, 7, true), end(30, 1, 7), end(40, 1, 99)];
        assert_eq!(seen(&mut Contention::default(), slice(0, 100, &steps)), []);
    }

    fn any_step() -> impl Strategy<Value = Step> {
        (0_u64..130, 0_u32..3, 5_u64..8, any::<bool>(), any::<bool>()).prop_map(
            |(at, tid, lock, begins, spins)| {
                if begins { begin(at, tid, lock, spins) } else { end(at, tid, lock) }
            },
        )
    }

    proptest! {
        #[test]
        fn no_thread_waits_for_longer_than_the_slice(
            slices in prop::collection::vec((prop::collection::vec(any_step(), 0..20), any::<bool>()), 1..4),
        ) {
            let mut contention = Contention::default();
            for (steps, goes_on) in slices {
                let slice = Slice { goes_on, ..slice(20, 100, &steps) };
                for tid in 0..3 {
                    let mut copy = Contention::default();
                    let all = seen(&mut copy, slice.clone());
                    let of: u64 = all.iter().filter(|wait| wait.0 == tid).map(|wait| wait.2 + wait.3).sum();
                    prop_assert!(of <= 80, "{of}");
                }
                let all = seen(&mut contention, slice);
                for tid in 0..3 {
                    let of: u64 = all.iter().filter(|wait| wait.0 == tid).map(|wait| wait.2 + wait.3).sum();
                    prop_assert!(of <= 80, "{of}");
                }
            }
        }
    }
}
