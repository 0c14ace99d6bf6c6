//! By how much hits slow a lock down: a closed queue of its threads, solved with their cost and
//! without.
//!
//! The cost is not known exactly, and of a short section it is nearly all. What it may be more or
//! less by is then all that is known of the section, and the factor is open.

use std::collections::BTreeSet;

use crate::cores::usable_cores;
use crate::cost::COST_DIFFERS;
use crate::estimate::Estimate;
use crate::ids::Tid;
use crate::progress::{LEAST_CYCLE, LEAST_SHARE};
use crate::watched::Watch;

/// The threads that take a lock in turn: they think, and then they queue for the one server that
/// the lock is. Times are nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Queue {
    pub(crate) threads: f64,
    pub(crate) cores: f64,
    pub(crate) think: f64,
    pub(crate) hold: f64,
    /// What the hits of a cycle cost, inside and outside of the section.
    pub(crate) cost_inside: f64,
    pub(crate) cost_outside: f64,
    /// What copies of stacks may have cost besides.
    pub(crate) copies: f64,
}

impl Queue {
    /// As many threads as wrote in a window, on this machine's cores.
    pub(crate) fn of_threads(watches: &[&Watch]) -> Self {
        let active = |watch: &&Watch| {
            let operations = watch.history.operations.iter();
            operations.map(|operation| operation.tid).collect::<BTreeSet<Tid>>().len() as f64
        };
        let threads = watches.iter().map(active).sum::<f64>() / watches.len().max(1) as f64;
        Self { threads: threads.max(1.0), cores: usable_cores(), ..Self::default() }
    }

    /// The share of a cycle that is the cost of hits.
    pub(crate) fn share_of_hits(self) -> f64 {
        let cost = self.cost_inside + self.cost_outside;
        cost / (cost + self.think + self.hold).max(1.0)
    }

    /// By how much more often the lock is taken where nobody watches, if it was taken so often in a
    /// second while it was watched.
    pub(crate) fn factor(self, watched: f64) -> Estimate {
        let (slow_hold, slow_think) =
            (self.hold + self.cost_inside, self.think + self.cost_outside);
        let with = self.throughput(slow_hold, slow_think);
        let costing = |differs: f64, copies: f64, share: f64| {
            let hold = self.hold - differs * self.cost_inside;
            let think = self.think - differs * self.cost_outside - copies;
            let without =
                self.throughput(hold.max(share * slow_hold), think.max(share * slow_think));
            if with > 0.0 && without.is_finite() { (without / with).max(1.0) } else { 1.0 }
        };
        let value = costing(0.0, 0.0, LEAST_SHARE);
        // The queue is a model, so the factor lies between 1 and twice as far at best.
        let low = costing(-COST_DIFFERS, 0.0, LEAST_SHARE).min(1.0 + 0.5 * (value - 1.0));
        let high = costing(COST_DIFFERS, self.copies, 0.0).max(1.0 + 1.5 * (value - 1.0));
        // Threads that are held up go to sleep and are woken. If that, of which the queue knows
        // nothing, slowed the lock down, nobody knows how much of it there is without hits.
        let slower = if watched > 0.0 { (1e9 * with / watched).max(1.0) } else { 1.0 };
        Estimate { value, low, high: high * slower }
    }

    /// Cycles per nanosecond: the mean value analysis of one queue and one delay, bounded by what
    /// the cores can do.
    fn throughput(self, hold: f64, think: f64) -> f64 {
        let least = 1e9 * LEAST_CYCLE;
        let mut waiting = 0.0;
        let mut rate = 0.0;
        for threads in 1..=self.threads.round() as u32 {
            let response = hold * (1.0 + waiting);
            rate = f64::from(threads) / (think + response).max(least);
            waiting = rate * response;
        }
        rate.min(self.cores / (think + hold).max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(threads: f64, think: f64, hold: f64, cost: f64) -> Queue {
        let (cost_inside, cost_outside) = (cost, cost);
        let (cores, copies) = (64.0, 0.0);
        Queue { threads, cores, think, hold, cost_inside, cost_outside, copies }
    }

    /// The factor, if the lock was as slow as the queue says.
    fn factor(queue: Queue) -> Estimate {
        let (hold, think) = (queue.hold + queue.cost_inside, queue.think + queue.cost_outside);
        queue.factor(1e9 * queue.throughput(hold, think))
    }

    #[test]
    fn the_cost_of_hits_slows_what_it_is_part_of() {
        // One thread: its cycle is longer by both.
        assert!((factor(queue(1.0, 70.0, 10.0, 10.0)).value - 100.0 / 80.0).abs() < 1e-9);
        // Many threads at a lock that is never free: only what is inside counts.
        assert!((factor(queue(50.0, 10.0, 90.0, 10.0)).value - 100.0 / 90.0).abs() < 0.01);
    }

    #[test]
    fn hits_have_their_share_of_a_cycle() {
        assert!((queue(1.0, 60.0, 20.0, 10.0).share_of_hits() - 0.2).abs() < 1e-9);
        assert_eq!(queue(1.0, 0.0, 0.0, 10.0).share_of_hits(), 1.0);
    }

    #[test]
    fn where_the_cost_is_nearly_all_the_factor_is_open() {
        let long = factor(queue(1.0, 70_000.0, 10_000.0, 100.0));
        assert!(long.high / long.low < 1.01, "{long:?}");
        // The two costs may differ by 2.4 us, so the cycle lasts between nothing and that.
        let short = factor(queue(1.0, 100.0, 10.0, 10_000.0));
        assert!(short.low < 10.0 && short.high > 500.0, "{short:?}");
        assert!((short.value - 20.0).abs() < 1e-9, "{short:?}");
    }

    #[test]
    fn what_the_queue_does_not_explain_is_left_open() {
        let queue = queue(1.0, 70_000.0, 10_000.0, 100.0);
        let (as_said, slower) = (factor(queue), queue.factor(1e9 / 2.0 / 80_200.0));
        assert!((slower.high / as_said.high - 2.0).abs() < 1e-9, "{slower:?}");
        assert_eq!((slower.value, slower.low), (as_said.value, as_said.low));
    }
}
