//! Subtracts the counts of a process at one moment from its counts at a later moment.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;

use crate::{
    Barrier, Caller, Condition, Frame, Histogram, Lock, MostlyBy, Nesting, Process, ReadSide,
};

impl Process {
    /// Leaves only the counts since `before`, which is the same process at an earlier moment. At
    /// that moment, `alive` of its threads existed. Locks must have the same numbers in both.
    pub(crate) fn subtract(&mut self, before: &Self, alive: u64) {
        let threads = &mut self.threads;
        threads.started =
            threads.started.saturating_sub(before.threads.started).saturating_add(alive);
        threads.locking = threads.locking.min(threads.started);
        threads.peak = threads.peak.min(threads.started);
        threads.cpu_time = (threads.cpu_time - before.threads.cpu_time).max(Nanoseconds(0.0));
        threads.think.subtract(&before.threads.think);
        threads.think_asleep =
            (threads.think_asleep - before.threads.think_asleep).max(Nanoseconds(0.0));
        self.locks_not_recorded = self.locks_not_recorded.saturating_sub(before.locks_not_recorded);
        let locks: BTreeMap<u32, &Lock> = before.locks.iter().map(|lock| (lock.id, lock)).collect();
        for lock in &mut self.locks {
            if let Some(before) = locks.get(&lock.id) {
                lock.subtract(before);
            }
        }
        self.locks.retain(Lock::was_used);
        self.locks.sort_by_key(|lock| (std::cmp::Reverse(lock.uses()), lock.id));
        subtract_alike(&mut self.conditions, &before.conditions, Condition::subtract);
        subtract_alike(&mut self.barriers, &before.barriers, Barrier::subtract);
        self.barriers.retain(|barrier| barrier.wait.count > 0);
        // What is recorded of processor time is there at once, the whole of it now and then.
        self.note_counted_time();
    }
}

impl Lock {
    fn was_used(&self) -> bool {
        let failed = self.read.as_ref().map_or(0, |read| read.failed_tries);
        self.uses() > 0 || self.failed_tries > 0 || failed > 0
    }

    fn subtract(&mut self, before: &Self) {
        self.mostly_by = self.leader_since(before);
        for (now, then) in [
            (&mut self.acquisitions, before.acquisitions),
            (&mut self.contended, before.contended),
            (&mut self.failed_tries, before.failed_tries),
            (&mut self.handoffs.same_core, before.handoffs.same_core),
            (&mut self.handoffs.other_core, before.handoffs.other_core),
        ] {
            *now = now.saturating_sub(then);
        }
        if self.address != 0 {
            // Instances follow one another: the present one stays, and those that came in between
            // count.
            self.instances = self.instances.saturating_sub(before.instances).max(1);
        }
        self.hold.subtract(&before.hold);
        self.hold_asleep = (self.hold_asleep - before.hold_asleep).max(Nanoseconds(0.0));
        self.wait.subtract(&before.wait);
        for (now, then) in self.waiters_met.iter_mut().zip(&before.waiters_met) {
            *now = now.saturating_sub(*then);
        }
        self.subtract_nestings(&before.nested_in);
        if let (Some(now), Some(then)) = (&mut self.read, &before.read) {
            now.subtract(then);
        }
        subtract_alike(&mut self.callers, &before.callers, Caller::subtract);
        self.callers.retain(|caller| caller.acquisitions > 0);
    }

    /// A count may have passed from one outer lock to another in between, so that the differences add up to too
    /// much. What they add up to is exact.
    fn subtract_nestings(&mut self, before: &[Nesting]) {
        let sum = |of: &[Nesting]| of.iter().map(|nesting| nesting.count).sum::<u64>();
        let wanted = sum(&self.nested_in).saturating_sub(sum(before)) as f64;
        for nesting in &mut self.nested_in {
            let same = |then: &&Nesting| then.outer == nesting.outer;
            let then = before.iter().find(same).map_or(0, |then| then.count);
            nesting.count = nesting.count.saturating_sub(then);
        }
        let found = sum(&self.nested_in) as f64;
        if found > wanted {
            for nesting in &mut self.nested_in {
                nesting.count = (nesting.count as f64 * wanted / found).round() as u64;
            }
        }
        self.nested_in.retain(|nesting| nesting.count > 0);
    }

    /// Returns the thread that has taken the lock more often than all others together since then,
    /// as far as its leads at both moments tell.
    fn leader_since(&self, before: &Self) -> Option<MostlyBy> {
        let lead = |lock: &Self, thread| match lock.mostly_by {
            Some(most) if most.thread == thread => most.share * lock.uses() as f64,
            Some(most) => -most.share * lock.uses() as f64,
            None => 0.0,
        };
        let thread = self.mostly_by?.thread;
        let taken = self.uses().saturating_sub(before.uses()) as f64;
        let share = (lead(self, thread) - lead(before, thread)) / taken;
        (share > 0.0 && share.is_finite()).then(|| MostlyBy { thread, share: share.min(1.0) })
    }
}

impl ReadSide {
    fn subtract(&mut self, before: &Self) {
        self.acquisitions = self.acquisitions.saturating_sub(before.acquisitions);
        self.contended = self.contended.saturating_sub(before.contended);
        self.failed_tries = self.failed_tries.saturating_sub(before.failed_tries);
        self.hold.subtract(&before.hold);
        self.hold_asleep = (self.hold_asleep - before.hold_asleep).max(Nanoseconds(0.0));
        self.wait.subtract(&before.wait);
    }
}

impl Histogram {
    /// Takes away the durations of another histogram. All of them must be in this one.
    fn subtract(&mut self, before: &Self) {
        for (lower, count) in &before.buckets {
            let same = self.buckets.iter_mut().find(|(own, _)| own == lower);
            if let Some((_, own)) = same {
                *own = own.saturating_sub(*count);
            }
        }
        self.buckets.retain(|(_, count)| *count > 0);
        self.count = self.count.saturating_sub(before.count);
        self.sum = (self.sum - before.sum).max(Nanoseconds(0.0));
        if self.count == 0 {
            *self = Self::default();
        }
    }
}

impl Condition {
    fn subtract(&mut self, before: &Self) {
        self.wait.subtract(&before.wait);
        self.timed_out = self.timed_out.saturating_sub(before.timed_out);
        self.signals = self.signals.saturating_sub(before.signals);
        self.broadcasts = self.broadcasts.saturating_sub(before.broadcasts);
    }
}

impl Barrier {
    fn subtract(&mut self, before: &Self) {
        self.wait.subtract(&before.wait);
        self.rounds = self.rounds.saturating_sub(before.rounds);
    }
}

impl Caller {
    fn subtract(&mut self, before: &Self) {
        self.acquisitions = self.acquisitions.saturating_sub(before.acquisitions);
        self.contended = self.contended.saturating_sub(before.contended);
        self.waited = (self.waited - before.waited).max(Nanoseconds(0.0));
    }
}

/// Something that is told from others by its place, as it has no number.
trait Placed {
    fn place(&self) -> (u64, &[Frame]);
}

impl Placed for Condition {
    fn place(&self) -> (u64, &[Frame]) {
        (self.address, &self.site)
    }
}

impl Placed for Barrier {
    fn place(&self) -> (u64, &[Frame]) {
        (self.address, &self.site)
    }
}

impl Placed for Caller {
    fn place(&self) -> (u64, &[Frame]) {
        (0, &self.site)
    }
}

/// Subtracts from each item the one of `before` at the same place. Each of those is used once.
fn subtract_alike<T: Placed>(now: &mut [T], before: &[T], subtract: impl Fn(&mut T, &T)) {
    let mut left: Vec<&T> = before.iter().collect();
    for one in now {
        if let Some(index) = left.iter().position(|then| then.place() == one.place()) {
            subtract(one, left.swap_remove(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(buckets: &[(f64, u64)]) -> Histogram {
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Nanoseconds(buckets.iter().map(|(lower, count)| lower * *count as f64).sum());
        Histogram { count, sum, buckets: buckets.to_vec() }
    }

    /// A process that has taken its locks so and so often.
    fn process(taken: &[(u32, u64)]) -> Process {
        let locks = taken.iter().map(|&(id, acquisitions)| Lock {
            id,
            address: 64 * u64::from(id + 1),
            instances: 1,
            acquisitions,
            hold: histogram(&[(10.0, acquisitions)]),
            mostly_by: Some(MostlyBy { thread: 1, share: 0.5 }),
            ..Lock::default()
        });
        let mut process = Process { locks: locks.collect(), ..Process::default() };
        process.threads.started = 3;
        process.threads.peak = 3;
        process.threads.cpu_time =
            Nanoseconds(20.0 * taken.iter().map(|(_, count)| *count as f64).sum::<f64>());
        process
    }

    #[test]
    fn what_was_done_since_is_left() {
        let mut now = process(&[(0, 10), (1, 50), (2, 7)]);
        now.subtract(&process(&[(0, 10), (1, 20)]), 2);
        let left: Vec<(u32, u64)> = now.locks.iter().map(|l| (l.id, l.acquisitions)).collect();
        assert_eq!(left, [(1, 30), (2, 7)], "a lock that was not taken since is left out");
        assert_eq!(now.locks[0].hold, histogram(&[(10.0, 30)]));
        assert_eq!(now.locks[0].mostly_by, Some(MostlyBy { thread: 1, share: 0.5 }));
        assert_eq!((now.threads.started, now.threads.cpu_time), (2, Nanoseconds(740.0)));
    }

    #[test]
    fn nothing_since_is_nothing() {
        let mut now = process(&[(0, 10)]);
        now.subtract(&process(&[(0, 10)]), 1);
        assert!(now.locks.is_empty() && now.threads.cpu_time == Nanoseconds(0.0));
    }

    #[test]
    fn what_passed_from_one_outer_lock_to_another_counts_once() {
        let inside = |counts: &[(u32, u64)]| {
            let nesting = |&(outer, count): &(u32, u64)| Nesting { outer, count };
            Lock { nested_in: counts.iter().map(nesting).collect(), ..Lock::default() }
        };
        let mut now = inside(&[(1, 150), (3, 120)]);
        now.subtract(&inside(&[(1, 100), (2, 90)]));
        // 80 in all: of lock 1 there were 50, and of lock 3 no more than 120.
        let counts: Vec<_> = now.nested_in.iter().map(|of| (of.outer, of.count)).collect();
        assert_eq!(counts, [(1, 24), (3, 56)]);
    }
}
