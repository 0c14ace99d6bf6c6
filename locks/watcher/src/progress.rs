//! How often a lock is taken, by the processor time that it takes to come to the next acquisition.
//!
//! Threads that are watched come along slower: hits take time, of the threads themselves and of all
//! who wait for them or for their cores. But what a thread computes from one acquisition to the
//! next stays the same. That processor time is found in windows, less the hits in it. The
//! processor time of the whole run is known exactly, as the system counts it. Their ratio is the
//! number of acquisitions, however long threads waited.

use crate::cost::{COST_DIFFERS, COST_MORE, HitCost, STACK_NS, SWITCH_NS};
use crate::estimate::Estimate;
use crate::pairing::Paired;
use crate::span::Span;
use crate::watched::Watch;

/// The processor time of a process, in seconds a second of the whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Computing {
    /// That of all threads, and of those who were seen to write to a word.
    pub(crate) all: f64,
    pub(crate) writers: f64,
}

/// Which windows, and which threads in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowSet {
    /// Windows in which all threads were watched, or a sample of all.
    All,
    /// Windows in which a few of the writers were.
    Few,
}

/// What the threads of a window did.
#[derive(Debug, Clone, Copy)]
struct Pass {
    acquisitions: f64,
    /// The time in which they ran, and how much of it hits took, in seconds.
    ran: f64,
    hits: f64,
    /// What copies of stacks may have cost besides.
    copies: f64,
}

/// At the best guess, hits are taken to leave at least this share of what threads did.
pub(crate) const LEAST_SHARE: f64 = 0.05;

/// Nobody takes a lock and gives it back in less: two atomic operations, in seconds.
pub(crate) const LEAST_CYCLE: f64 = 20e-9;

/// The rate of acquisitions a second. It is for locks whose waiters sleep: the time for which they
/// spin depends on who holds whom up.
pub(crate) fn by_processor_time(
    windows: &[(&Watch, &Paired, HitCost)],
    of: WindowSet,
    computing: Computing,
) -> Option<Estimate> {
    let passes: Vec<Pass> = windows
        .iter()
        .filter(|(watch, ..)| watch.few == (of == WindowSet::Few))
        .map(|(watch, paired, cost)| Pass::of(watch, paired, *cost))
        .collect();
    let seconds = if of == WindowSet::Few { computing.writers } else { computing.all };
    let sum = |of: fn(&Pass) -> f64| passes.iter().map(of).sum::<f64>();
    let (ran, acquisitions) = (sum(|pass| pass.ran), sum(|pass| pass.acquisitions));
    // What is left may be less than nothing in a window, as the cost is a mean. So only the sum of
    // all has a least value.
    let costing = |cost: f64, copies: f64, least: f64| {
        let left = |pass: &Pass| pass.ran - cost * pass.hits - copies * pass.copies;
        let pairs: Vec<(f64, f64)> =
            passes.iter().map(|pass| (pass.acquisitions, left(pass))).collect();
        Estimate::of_ratio_at_least(&pairs, least).map(|each| each.times(seconds))
    };
    let least = LEAST_SHARE * ran;
    let value = costing(COST_MORE, 0.0, least)?;
    let low = costing(COST_MORE * (1.0 - COST_DIFFERS), 0.0, least)?.low;
    // If hits may have been all that threads did, nothing is known but that the rest took some time.
    let high = costing(COST_MORE * (1.0 + COST_DIFFERS), 1.0, LEAST_CYCLE * acquisitions)?.high;
    Some(Estimate { low, high, ..value })
}

impl Pass {
    fn of(watch: &Watch, paired: &Paired, cost: HitCost) -> Self {
        let mut ran = 0.0;
        for tid in &watch.threads {
            let left = watch.away.get(tid).map_or(0, Vec::len) as f64;
            ran += Span::of(watch.begin, watch.end, *tid, &watch.away).less(left * SWITCH_NS);
        }
        // Hits at other words delay the same threads.
        let hits = watch.history.operations.len() as f64 + watch.elsewhere as f64;
        let copies = if watch.copied { hits * STACK_NS / 1e9 } else { 0.0 };
        let acquisitions = paired.acquisitions as f64;
        Self { acquisitions, ran: ran.max(0.0) / 1e9, hits: hits * cost.middle() / 1e9, copies }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::history::{Operation, PartialValue};
    use crate::ids::{Moment, Tid};
    use crate::pairing::{HeldWhen, exclusive};
    use crate::watched::{Absences, Away};
    use kilocore_figures::Nanoseconds;

    #[test]
    fn hits_and_waits_change_nothing_about_the_time_to_the_next_acquisition() {
        // A thread computes for 100 us and holds for 100 us; each write costs it 50 us more. In the
        // second half of the window it sleeps.
        let operations: Vec<Operation> = (0..40)
            .map(|write| Operation {
                tid: Tid(1),
                actor: 1,
                at: Moment(150_000 * write),
                core: 0,
                old: PartialValue::all((write % 2) as u32),
                new: PartialValue::all(((write + 1) % 2) as u32),
                inferred: PartialValue::default(),
                failed: false,
                hands_over: false,
                ip: 0,
            })
            .collect();
        let paired = exclusive(&operations, HeldWhen::NOT_ZERO);
        let asleep = Away { from: Moment(6_000_000), to: Moment(12_000_000), asleep: true };
        let cost = Nanoseconds((50e3 / COST_MORE) as u64);
        let mut watch = Watch {
            begin: Moment(0),
            end: Moment(12_000_000),
            threads: vec![Tid(1)],
            away: Rc::new(Absences::from([(Tid(1), vec![asleep])])),
            cost: HitCost { hot: cost, cold: cost, after: cost },
            of: 1,
            ..Watch::default()
        };
        watch.history.operations = operations;
        let computing = Computing { all: 0.5, writers: 0.0 };
        let rate = |watch: &Watch| {
            by_processor_time(&[(watch, &paired, watch.cost)], WindowSet::All, computing)
                .expect("there is one")
                .value
        };
        // It would take the lock every 200 us, of half of the time. The one switch costs something.
        let expected = 0.5e9 / 200e3;
        assert!((rate(&watch) / expected - 1.0).abs() < 0.02, "{}", rate(&watch));
        watch.away = Rc::new(Absences::new());
        watch.end = Moment(6_000_000);
        assert!((rate(&watch) / expected - 1.0).abs() < 0.02, "{}", rate(&watch));
        // As many hits at another word take as much again, and are no computing either.
        let slower = Watch { end: Moment(8_000_000), elsewhere: 40, ..watch.clone() };
        assert!((rate(&slower) / expected - 1.0).abs() < 0.02, "{}", rate(&slower));
    }
}
