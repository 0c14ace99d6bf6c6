//! The plan of a run: what is measured, and in which order.

use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cpus::Pin;
use crate::resources::Scratch;
use crate::{Benchmark, Kind};

/// The plan of a run.
pub struct Plan {
    /// The benchmarks, in the order in which they run.
    pub benchmarks: Vec<&'static dyn Benchmark>,
    /// The numbers of cores to measure on.
    pub cores: Vec<u32>,
    /// The kind of tasks, or `None` for the default of each benchmark.
    pub kind: Option<Kind>,
    /// How tasks are pinned to processors.
    pub pin: Pin,
    /// How many samples are taken of each benchmark on each number of cores.
    pub repeats: u32,
    /// For how long the operations of a sample are counted.
    pub measure: Duration,
    /// For how long the tasks of a sample run before that.
    pub warm_up: Duration,
    /// How long everything may take, or `None` for no bound. Rounds that would not fit are left
    /// out, but one round of each benchmark is always taken.
    pub budget: Option<Duration>,
    /// The seed from which the order of the samples is drawn.
    pub seed: u64,
    /// The place of scratch files.
    pub scratch: Scratch,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.benchmarks.iter().map(|b| b.info().name).collect();
        f.debug_struct("Plan").field("benchmarks", &names).finish_non_exhaustive()
    }
}

/// Returns the core counts in the order in which their samples are taken. Every round has each
/// count once, in a random order of its own. A slow change on the host then affects all counts
/// alike.
pub(crate) fn rounds(cores: &[u32], repeats: u32, seed: u64) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order = Vec::with_capacity(cores.len() * repeats as usize);
    for _ in 0..repeats {
        let from = order.len();
        order.extend_from_slice(cores);
        let round: &mut [u32] = &mut order[from..];
        for left in (1..round.len()).rev() {
            round.swap(left, (random.next_u64() % (left as u64 + 1)) as usize);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_every_count_and_orders_differ() {
        let order = rounds(&[1, 2, 4, 8], 50, 7);
        let rounds_of: Vec<&[u32]> = order.chunks(4).collect();
        for round in &rounds_of {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [1, 2, 4, 8]);
        }
        assert!(rounds_of.iter().any(|round| round != &rounds_of[0]));
        assert_eq!(order, rounds(&[1, 2, 4, 8], 50, 7));
        assert_ne!(order, rounds(&[1, 2, 4, 8], 50, 8));
        // Each count is first about as often as any other.
        let first = |count| rounds_of.iter().filter(|round| round[0] == count).count();
        assert!([1, 2, 4, 8].into_iter().all(|count| first(count) > 3));
    }
}
