//! What a watchpoint costs the thread that runs into it.
//!
//! It is measured the way it occurs: a thread of this process writes to a word of its own that is
//! watched, and computes in between, on data that fills a part of its cache. The time between two
//! hits, less what the same computing takes without, is the cost of one: not only the trap itself,
//! but also that the thread goes on with colder caches.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::ids::{Moment, Tid};
use crate::samples::{ParsedRecord, RecordContent, take};
use crate::watchpoints::{Spot, Watchpoints};
use kilocore_figures::Nanoseconds;

/// How many writes are measured, after a first one: some right after the one before, and some that
/// follow a stretch of work.
const HOT: usize = 5;
const COLD: usize = 5;

/// How many lines of memory are worked on.
const LINES: usize = 512;
/// How often, between writes that come one after the other, and between others.
const SHORT: u64 = 1;
const LONG: u64 = 48;

/// Threads of programs with known sections paid a little more for a hit than this process's own
/// thread: from nothing to a sixth, and it differs from program to program.
pub(crate) const COST_MORE: f64 = 1.05;
pub(crate) const COST_DIFFERS: f64 = 0.12;

/// What a recorded switch costs the program, and one with a copy of the stack, in nanoseconds. With
/// half of it, a server that switches 50,000 times a second lost twice the share that was meant.
pub(crate) const SWITCH_NS: f64 = 3_500.0;
pub(crate) const STACK_NS: f64 = 8_000.0;

/// What a record of a place in the kernel costs it.
pub(crate) const TRACE_NS: f64 = 1_000.0;

/// What a hit costs a thread, including what it costs it later to have colder caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HitCost {
    /// If it follows another one at once.
    pub(crate) hot: Nanoseconds,
    /// If it follows a stretch of computing as long as `after` or longer.
    pub(crate) cold: Nanoseconds,
    /// How long that is.
    pub(crate) after: Nanoseconds,
}

impl HitCost {
    /// The cost of a hit so long after the one before.
    pub(crate) fn at(self, gap: Nanoseconds) -> f64 {
        let (hot, cold) = (self.hot.0 as f64, self.cold.0 as f64);
        let part = gap.0 as f64 / self.after.0.max(1) as f64;
        hot + (cold - hot) * part.min(1.0)
    }

    /// The mean of both ends.
    pub(crate) fn middle(self) -> f64 {
        f64::midpoint(self.hot.0 as f64, self.cold.0 as f64)
    }
}

/// Data to compute on.
struct Data([u64; LINES * 8]);

impl Data {
    /// Some hundred nanoseconds of work for each round.
    fn work(&mut self, rounds: u64) {
        let mut sum = 0u64;
        for round in 0..rounds {
            for line in 0..LINES {
                let place = line * 8;
                sum = sum.rotate_left(7).wrapping_add(self.0[place] ^ round);
                self.0[place] = sum;
            }
        }
        std::hint::black_box(&self.0);
    }

    /// How long that takes, at the median, with nothing in between.
    fn undisturbed(&mut self, rounds: u64) -> u64 {
        let mut times: Vec<u64> = (0..5)
            .map(|_| {
                let before = Moment::now();
                self.work(rounds);
                (Moment::now() - before).0
            })
            .collect();
        median(&mut times).unwrap_or(0)
    }
}

fn median(times: &mut [u64]) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Measures the cost of a hit now, if this thread may be watched.
pub(crate) fn of_a_hit() -> Option<HitCost> {
    // A word of its own line, so that nothing else is near it.
    let word = Box::new(AtomicU32::new(0));
    let address = word.as_ptr() as u64;
    // SAFETY: takes no argument.
    let own = Tid(unsafe { libc::gettid() } as u32);
    let mut watchpoints = Watchpoints::open(&[Spot::Word(address..address + 4)], &[own], 0).ok()?;
    let mut data = Box::new(Data([1; LINES * 8]));
    data.work(LONG);
    let (short, long) = (data.undisturbed(SHORT), data.undisturbed(LONG));
    for value in 0..=(HOT + COLD) as u32 {
        word.store(value, Ordering::SeqCst);
        data.work(if value < COLD as u32 { LONG } else { SHORT });
    }
    watchpoints.stop();
    let mut bytes = Vec::new();
    watchpoints.drain(&mut bytes);
    let times: Vec<u64> = kilocore_linux::perf_events::records(&bytes)
        .map_while(Result::ok)
        .filter_map(|record| match take(record) {
            ParsedRecord::RecordContent(origin, RecordContent::Sample { .. }) => Some(origin.at.0),
            _ => None,
        })
        .collect();
    let mut between: Vec<u64> =
        times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    if between.len() != HOT + COLD {
        return None;
    }
    let (cold, hot) = between.split_at_mut(COLD);
    Some(HitCost {
        hot: Nanoseconds(median(hot)?.saturating_sub(short)),
        cold: Nanoseconds(median(cold)?.saturating_sub(long)),
        after: Nanoseconds(long),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_grows_with_the_gap_up_to_its_cold_value() {
        let (hot, cold, after) = (Nanoseconds(10), Nanoseconds(20), Nanoseconds(100));
        let cost = HitCost { hot, cold, after };
        assert_eq!(cost.at(Nanoseconds(0)), 10.0);
        assert_eq!(cost.at(Nanoseconds(50)), 15.0);
        assert_eq!(cost.at(Nanoseconds(500)), 20.0);
    }
}
