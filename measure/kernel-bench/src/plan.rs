//! What is to be measured, and in which order.

use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cpus::Pin;
use crate::place::Scratch;
use crate::{Benchmark, Kind};

/// What is to be measured.
pub struct Plan {
    /// The benchmarks, in their order.
    pub benchmarks: Vec<&'static dyn Benchmark>,
    /// Numbers of cores.
    pub cores: Vec<u32>,
    /// The kind of tasks, if not each benchmark's own.
    pub kind: Option<Kind>,
    /// How tasks are tied to processors.
    pub pin: Pin,
    /// Samples of each benchmark on each number of cores.
    pub repeats: u32,
    /// How long each is counted.
    pub measure: Duration,
    /// How long tasks run before that.
    pub warm_up: Duration,
    /// How long everything may take, if there is such a bound: then rounds are left out that would
    /// not fit. One round of each benchmark is always taken.
    pub budget: Option<Duration>,
    /// What the order of the samples comes from.
    pub seed: u64,
    /// Where scratch files go.
    pub scratch: Scratch,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.benchmarks.iter().map(|b| b.info().name).collect();
        f.debug_struct("Plan").field("benchmarks", &names).finish_non_exhaustive()
    }
}

/// The core counts in the order of their samples: each count once in every round, in an order of
/// its own, so that what changes slowly on the host falls on all counts alike.
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
