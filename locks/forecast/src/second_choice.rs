//! Which read-write lock to put under a program, beside the mutex that was chosen.
//!
//! Mutexes are chosen first, with the program's read-write locks as they are. Then each read-write lock
//! that `run` can put under a program takes their place, beside that mutex. All pairs would be as many
//! simulations as there are mutexes, times as many as there are read-write locks; and the two kinds of
//! lock hardly ever limit a program in the same place.
//!
//! Under glibc's default, a writer that waits keeps no reader out, and a program may rely on that without
//! knowing it. A profile does not show it. So a lock that keeps this promise comes first if it helps, unless
//! the program asked for writers first itself.

use kilocore_figures::Contenders;
use kilocore_locks::RwLockId;
use kilocore_sim::Sim;

use crate::choice::{WORTH_TAKING, by_ends, end};
use crate::{Curve, ForecastGain, ForecastLock, Profiled, Workload};

/// Read-write locks in which less than this share of the threads' time goes are not worth a simulation.
const MATTERS: f64 = 0.01;

/// The share of the threads' time that goes into the read-write locks that can be replaced, at the end
/// of a curve.
pub(crate) fn share(curve: &Curve, locks: &[ForecastLock]) -> f64 {
    let shares = &curve.end().point.lock_share_by_lock;
    locks
        .iter()
        .zip(shares)
        .filter(|(lock, _)| lock.is_replaced_by_rwlock())
        .map(|(_, share)| share)
        .sum()
}

/// Whether the program asked for writers first, of all read-write locks that can be replaced.
fn asked_for_writers_first(locks: &[ForecastLock]) -> bool {
    let mut replaced = locks.iter().filter(|lock| lock.is_replaced_by_rwlock()).peekable();
    replaced.peek().is_some() && replaced.all(|lock| lock.writers_first)
}

/// Whether a writer that waits keeps no reader out under the read-write lock of that name.
pub(crate) fn readers_pass_writers(lock: &str) -> bool {
    lock.parse().is_ok_and(RwLockId::readers_pass_writers::<Sim>)
}

/// Whether read-write locks limit the program so far that others are worth a simulation.
pub(crate) fn matters(under: &Curve, locks: &[ForecastLock]) -> bool {
    share(under, locks) >= MATTERS
}

/// The workload as profiled and the two that bound it, with another read-write lock.
pub(crate) fn with_rw_lock(profiled: &Profiled, rw_lock: RwLockId) -> [Workload; 3] {
    let [well, badly] = &profiled.bounds;
    [&profiled.workload, well, badly].map(|workload| {
        let mut workload = workload.clone();
        for (usage, lock) in workload.locks.iter_mut().zip(&profiled.locks) {
            if lock.is_replaced_by_rwlock() {
                usage.read_write = usage.read_write.map(|_| rw_lock);
            }
        }
        workload
    })
}

/// A choice among read-write locks.
#[derive(Debug)]
pub(crate) struct SecondChoice<'a> {
    /// The curve of the mutex that was chosen, with read-write locks as they are.
    pub(crate) under: &'a Curve,
    /// The curve of the read-write lock to take beside it.
    pub(crate) best: &'a Curve,
    /// Whether the program asked for writers first, of all its read-write locks that can be replaced.
    pub(crate) writers_first: bool,
    /// One that does better, if the one to take is preferred because readers pass writers under it.
    pub(crate) faster: Option<&'a Curve>,
    /// Whether it is worth a change.
    pub(crate) helps: bool,
    /// Others that end nearly as high.
    pub(crate) equals: Vec<&'static str>,
    /// How many were tried.
    pub(crate) tried: usize,
    /// What the best one brings.
    pub(crate) gain: ForecastGain,
}

impl<'a> SecondChoice<'a> {
    /// Chooses among curves; `None` if there are none. A lock under which readers pass writers is taken
    /// if it is worth a change, unless the program asked for writers first. Otherwise, of those that end nearly alike, the first that is worth a
    /// change counts, so that the answer is the same from run to run.
    pub(crate) fn among(
        under: &'a Curve,
        curves: &'a [Curve],
        locks: &[ForecastLock],
    ) -> Option<Self> {
        let mut contenders = Contenders::among(curves, end, WORTH_TAKING)?;
        let highest = contenders.highest();
        let worth = |curve: &Curve| end(curve) >= WORTH_TAKING * end(under);
        let helps = worth(highest);
        contenders.retain(worth);
        let first = contenders.iter().next().unwrap_or(highest);
        let writers_first = asked_for_writers_first(locks);
        let passing = curves
            .iter()
            .filter(|curve| !writers_first && worth(curve) && readers_pass_writers(curve.lock));
        let best = passing.max_by(|a, b| end(a).total_cmp(&end(b))).unwrap_or(first);
        let is_equal = contenders.iter().any(|curve| curve.lock == best.lock);
        let faster = (helps && !is_equal).then_some(first);
        let others = contenders.iter().filter(|curve| is_equal && curve.lock != best.lock);
        let equals = others.map(|curve| curve.lock).collect();
        let gain = by_ends(best, under);
        Some(Self { under, best, writers_first, faster, helps, equals, tried: curves.len(), gain })
    }

    /// Whether the best one would be worth a change, did the profile leave nothing but a gain.
    pub(crate) fn is_open(&self) -> bool {
        !self.helps && self.gain.gain >= WORTH_TAKING
    }

    /// The locks of which whole curves tell something: those that the advice speaks of.
    pub(crate) fn telling(&self) -> Vec<&'static str> {
        [Some(self.best), self.faster].into_iter().flatten().map(|curve| curve.lock).collect()
    }

    /// The same choice, where it is known what the best one brings: it helps only if the profile leaves
    /// nothing but a gain. How likely such a gain is to be measured, nobody knows.
    pub(crate) fn weighed(self, gain: Option<ForecastGain>) -> Self {
        let gain = gain.unwrap_or(self.gain);
        Self { helps: self.helps && gain.low > 1.0, gain, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::tests::curve;

    #[test]
    fn of_those_that_help_alike_the_first_is_taken() {
        let under = curve("futex", 1.0);
        let of = |ends: [f64; 3]| {
            ["writer-first", "phase-fair", "bravo"].into_iter().zip(ends).map(|(l, e)| curve(l, e))
        };
        let curves: Vec<Curve> = of([1.05, 3.0, 3.2]).collect();
        let choice = SecondChoice::among(&under, &curves, &[]).unwrap();
        assert_eq!((choice.best.lock, choice.helps, choice.tried), ("phase-fair", true, 3));
        assert_eq!(choice.equals, ["bravo"]);
        // The first would be as good as the last, and is no gain.
        let curves: Vec<Curve> = of([1.1, 1.0, 1.2]).collect();
        assert_eq!(SecondChoice::among(&under, &curves, &[]).unwrap().best.lock, "bravo");
        let curves: Vec<Curve> = of([1.0, 1.1, 0.9]).collect();
        let none = SecondChoice::among(&under, &curves, &[]).unwrap();
        assert_eq!((none.best.lock, none.helps), ("phase-fair", false));
        assert!(none.equals.is_empty());
        assert!(SecondChoice::among(&under, &[], &[]).is_none());
    }

    #[test]
    fn one_that_keeps_the_promise_of_glibcs_default_is_taken_if_it_helps() {
        let under = curve("futex", 1.0);
        let chosen = |ends: [f64; 3]| {
            let names = ["phase-fair", "reader-first", "per-core"];
            let curves: Vec<Curve> =
                names.into_iter().zip(ends).map(|(l, e)| curve(l, e)).collect();
            let choice = SecondChoice::among(&under, &curves, &[]).unwrap();
            (choice.best.lock, choice.faster.map(|curve| curve.lock), choice.equals)
        };
        assert_eq!(chosen([3.0, 2.9, 1.0]), ("reader-first", None, vec!["phase-fair"]));
        assert_eq!(chosen([1.0, 1.5, 9.0]), ("reader-first", Some("per-core"), vec![]));
        assert_eq!(chosen([1.0, 1.1, 9.0]), ("per-core", None, vec![]));
        assert_eq!(chosen([1.0, 1.1, 1.0]), ("reader-first", None, vec![]));
    }
}
