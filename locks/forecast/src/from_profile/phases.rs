//! Barriers that a profile shows.
//!
//! Barriers of the C library are recorded as such. Other barriers are made of a condition variable.
//! It is hardly ever signalled. One thread broadcasts it once for all, and all other threads wait
//! on it. (Some barriers first let all threads out and then let them in again, so that there are
//! two broadcasts to a round.) A pool of threads that all get their work at once looks the same,
//! and behaves the same.
//!
//! # What the waits say
//! A thread waits for one of two reasons. Other threads may have more to do; such a wait differs
//! from round to round. Or one thread may do what no other can do meanwhile; such a wait lasts
//! about as long each time. The first is an imbalance of work, which more threads divide further.
//! The second is a serial part. The shortest waits tell the two apart: if there is a serial part,
//! every wait lasts at least as long as that part.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Condition, Histogram, Process};

/// A condition is not a barrier if its signals are more than this share of its broadcasts.
const SIGNALLED: f64 = 0.1;
/// How many rounds there may be to a broadcast: two broadcasts to a round, or one.
const ROUNDS_TO_A_BROADCAST: std::ops::RangeInclusive<f64> = 0.4..=1.25;
/// A lock is there for more than a barrier if it is taken this much more often than the barrier
/// takes it, as a logarithm.
const MUCH_ELSE: f64 = 0.5;
/// Fewer rounds than this show nothing.
const FEWEST_ROUNDS: f64 = 5.0;
/// The rank of the wait that stands for the shortest ones, as a share of all that waited.
const SHORT: f64 = 0.1;
/// How long the wait of that rank lasts, as a share of the mean, if waits are exponentially
/// distributed: -ln(1 - 0.1).
const SHORT_IF_RANDOM: f64 = 0.105;
/// What a thread that slept at a barrier takes to run again after it is woken, on
/// the machines that profiles are taken on. It is part of each wait.
const WAKE: Nanoseconds<f64> = Nanoseconds(20_000.0);

/// All barriers of a process, treated as one barrier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Phases {
    /// How many times threads met.
    pub(super) rounds: f64,
    /// How many threads met, on average.
    pub(super) parties: f64,
    /// Waits of the threads that were not the last to arrive.
    waits: f64,
    /// How long these threads waited.
    pub(super) waited: Nanoseconds<f64>,
    /// How much of that time they waited because their parts were unequal.
    uneven: Nanoseconds<f64>,
    /// The lock that most rounds went through; `None` for the C library's barriers.
    pub(super) lock: Option<u32>,
}

impl Phases {
    /// The barriers of a process, if it has any, and the time that threads waited on conditions
    /// that are not barriers.
    pub(super) fn of(process: &Process) -> (Option<Self>, Nanoseconds<f64>) {
        let mut found = Vec::new();
        for barrier in &process.barriers {
            let (rounds, parties) = (barrier.rounds as f64, f64::from(barrier.parties));
            if rounds >= FEWEST_ROUNDS && parties >= 2.0 {
                let last = 1.0 / parties;
                found.push(Self::new(rounds, parties, &barrier.wait, last, None));
            }
        }
        let mut on_conditions = Nanoseconds(0.0);
        for condition in &process.conditions {
            match rounds_of(condition, process) {
                Some((rounds, parties)) => {
                    found.push(Self::new(rounds, parties, &condition.wait, 0.0, condition.lock));
                }
                None => on_conditions += condition.wait.sum,
            }
        }
        (Self::together(&found), on_conditions)
    }

    /// `last` is the share of the waits that are those of the last to come, and take no time.
    fn new(rounds: f64, parties: f64, wait: &Histogram, last: f64, lock: Option<u32>) -> Self {
        let waits = rounds * (parties - 1.0);
        let mean = wait.sum / waits;
        let short = wait.quantile(last + SHORT * (1.0 - last));
        let same = (short - mean * SHORT_IF_RANDOM) / (1.0 - SHORT_IF_RANDOM);
        let same = same.max(Nanoseconds(0.0)).min(mean);
        let uneven = (mean - same) * waits;
        Self { rounds, parties, waits, waited: wait.sum, uneven, lock }
    }

    fn together(all: &[Self]) -> Option<Self> {
        let most = all.iter().max_by(|a, b| a.rounds.total_cmp(&b.rounds))?;
        let sum = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>();
        let rounds = sum(|phases| phases.rounds);
        Some(Self {
            rounds,
            parties: sum(|phases| phases.rounds * phases.parties) / rounds,
            waits: sum(|phases| phases.waits),
            waited: all.iter().map(|phases| phases.waited).sum(),
            uneven: all.iter().map(|phases| phases.uneven).sum(),
            lock: most.lock,
        })
    }

    /// Whether each thread had a core to itself. If not, waits are long because threads take turns.
    fn on_cores_of_their_own(&self, cores: u32) -> bool {
        self.parties <= f64::from(cores)
    }

    /// Returns the time that threads waited because their parts were unequal. Waking up and waits
    /// for a serial part are not included. Returns zero if threads had to share cores.
    pub(super) fn uneven(&self, cores: u32) -> Nanoseconds<f64> {
        if self.on_cores_of_their_own(cores) { self.uneven } else { Nanoseconds(0.0) }
    }

    /// Time in which threads had been woken and did not run yet. It is at most all of their waits.
    pub(super) fn waking(&self) -> Nanoseconds<f64> {
        (WAKE * self.waits).min(self.waited)
    }

    /// Returns the standard deviation of the threads' parts of a round, as a share of their mean.
    /// All threads together computed for `busy` between barriers. Sections that vary at random
    /// explain a deviation of `by_chance`, also as a share of the mean. It is not included in the
    /// result.
    pub(super) fn imbalance(&self, cores: u32, busy: Nanoseconds<f64>, by_chance: f64) -> f64 {
        let part = busy.0 / (self.rounds * self.parties);
        let behind = self.uneven(cores).0 / (self.rounds * self.parties);
        // Sums of many random times are normally distributed.
        let chance = by_chance * part * longest_of(self.parties);
        let rest = (behind * behind - chance * chance).max(0.0).sqrt();
        // The longest of so many exponentially distributed parts exceeds their mean by this many
        // standard deviations.
        let excess: f64 = (2..=self.parties.round() as u32).map(|k| 1.0 / f64::from(k)).sum();
        (rest / (excess * part).max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// Acquisitions of the lock that the barriers are made of: at each arrival, and after each
    /// wait.
    pub(super) fn acquisitions(&self) -> u64 {
        (self.rounds * self.parties + self.waits).round() as u64
    }
}

/// The mean of the largest of `parties` normally distributed values, in standard deviations.
fn longest_of(parties: f64) -> f64 {
    const STEP: f64 = 0.05;
    let beyond = |step: u32| {
        let below = 0.5 * libm::erfc(-STEP * f64::from(step) / std::f64::consts::SQRT_2);
        1.0 - below.powf(parties) - (1.0 - below).powf(parties)
    };
    (0..160).map(|step| STEP * f64::midpoint(beyond(step), beyond(step + 1))).sum()
}

/// How many times a condition let all its threads go on, and how many there are, if that is what
/// it is for.
fn rounds_of(condition: &Condition, process: &Process) -> Option<(f64, f64)> {
    let Condition { wait, timed_out, signals, broadcasts, .. } = condition;
    let broadcasts = *broadcasts as f64;
    let waits = wait.count as f64;
    if broadcasts < FEWEST_ROUNDS
        || *signals as f64 > SIGNALLED * broadcasts
        || *timed_out as f64 > SIGNALLED * waits
    {
        return None;
    }
    let threads = &process.threads;
    // All threads, or all but one that waits for their end; as many as there are at a time.
    let all = threads.peak.min(threads.started.max(1));
    let candidates = [all, all.saturating_sub(1), threads.locking.min(all)];
    let lock = process.locks.iter().find(|lock| Some(lock.id) == condition.lock);
    let taken = lock.map_or(0, |lock| lock.acquisitions) as f64;
    let misfit = |&parties: &u64| {
        let rounds = waits / (parties as f64 - 1.0);
        let off = |part: f64, whole: f64| libm::log(part / whole.max(1.0)).abs();
        let broadcast = off(rounds, broadcasts).min(off(2.0 * rounds, broadcasts));
        // A lock that is there for the barrier is taken at each arrival and after each wait.
        broadcast + off(rounds * parties as f64 + waits, taken).min(MUCH_ELSE)
    };
    let parties = candidates
        .into_iter()
        .filter(|parties| *parties >= 2)
        .min_by(|a, b| misfit(a).total_cmp(&misfit(b)))?;
    let rounds = waits / (parties as f64 - 1.0);
    (rounds >= FEWEST_ROUNDS && ROUNDS_TO_A_BROADCAST.contains(&(rounds / broadcasts)))
        .then_some((rounds, parties as f64))
}

#[cfg(test)]
mod tests {
    use super::longest_of;

    #[test]
    fn the_largest_of_normal_values_is_where_tables_have_it() {
        for (parties, expected) in [(1.0, 0.0), (2.0, 0.5642), (4.0, 1.0294), (48.0, 2.234)] {
            let found = longest_of(parties);
            assert!((found - expected).abs() < 0.02, "{parties}: {found}");
        }
    }
}
