//! What forecasts are compared with: the universal scalability law of each lock, and the belief
//! that throughput stays as it was.
//!
//! Both know only locks that were measured. A lock that was not is taken for the nearest one that
//! was: the given lock of its kind.

use kilocore_figures::usl;

use crate::data::Series;
use crate::split::Split;

/// How a lock waits, as far as it decides which other lock it resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Waiters sleep, at once or after a while.
    Blocking,
    /// Each waiter spins on a line of its own.
    Queue,
    /// All other locks. The waiters of most of them spin on a line that they share.
    Spinning,
}

/// Locks that sleep without saying so in their names.
const BLOCKING: [&str; 4] = ["pthread", "pthreadadapt", "mutexee", "mcs-timepub"];
/// What the names of queue locks contain.
const QUEUES: [&str; 4] = ["mcs", "clh", "malth", "alock"];

impl Kind {
    /// The kind of a lock by its name in the data set.
    #[must_use]
    pub fn of(alias: &str) -> Self {
        if BLOCKING.contains(&alias) || alias.ends_with("_stp") {
            Kind::Blocking
        } else if QUEUES.iter().any(|word| alias.contains(word)) {
            Kind::Queue
        } else {
            Kind::Spinning
        }
    }
}

/// The given lock that stands for another one: itself if it is given, else the first given one of
/// its kind, else the first given one.
#[must_use]
pub fn nearest<'a>(split: &Split<'a>, alias: &str) -> Option<&'a Series> {
    let find = |matches: &dyn Fn(&Series) -> bool| split.given.iter().find(|s| matches(s)).copied();
    find(&|series| series.alias == alias)
        .or_else(|| find(&|series| Kind::of(&series.alias) == Kind::of(alias)))
        .or_else(|| split.given.first().copied())
}

/// What the baselines say of one lock.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// Cores and throughputs that are known of the nearest given lock; ascending.
    known: Vec<(u32, f64)>,
    law: Option<usl::Law>,
}

impl Baseline {
    /// Those of a lock of the data set; nothing if nothing is given.
    #[must_use]
    pub fn new(split: &Split<'_>, alias: &str) -> Option<Self> {
        let series = nearest(split, alias)?;
        let points = series.points.iter().filter(|p| split.gives(&series.alias, p.nodes));
        let known: Vec<(u32, f64)> =
            points.map(|p| (p.nodes * split.machine.cores_per_node, p.throughput)).collect();
        let for_law: Vec<(f64, f64)> = known.iter().map(|&(c, x)| (f64::from(c), x)).collect();
        if known.is_empty() {
            return None;
        }
        Some(Self { law: usl::fit(&for_law), known })
    }

    /// Throughput as at the nearest given count that is not larger, or the smallest.
    #[must_use]
    pub fn stays(&self, cores: u32) -> f64 {
        let below = self.known.iter().rev().find(|&&(known, _)| known <= cores);
        below.or(self.known.first()).map_or(f64::NAN, |&(_, throughput)| throughput)
    }

    /// Throughput by the universal scalability law, or as it was where too few points are given
    /// for a law.
    #[must_use]
    pub fn law(&self, cores: u32) -> f64 {
        self.law.as_ref().map_or_else(|| self.stays(cores), |law| law.at(f64::from(cores)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, MACHINE};
    use crate::split::Setting;

    #[test]
    fn locks_stand_for_others_of_their_kind() {
        let program = sample::program(
            "p",
            &[
                ("backoff", &[9.0; 5]),
                ("clh_spin", &[9.0; 5]),
                ("mcs_spin", &[3.0; 5]),
                ("mcs_stp", &[9.0; 5]),
                ("pthread", &[1.0, 2.0, 4.0, 3.0, 2.0]),
                ("ticket", &[2.0; 5]),
            ],
        );
        let split = Split::new(Setting::A, MACHINE, &program);
        for (alias, stand_in) in
            [("backoff", "ticket"), ("clh_spin", "mcs_spin"), ("mcs_stp", "pthread")]
        {
            assert_eq!(nearest(&split, alias).map(|s| s.alias.as_str()), Some(stand_in), "{alias}");
        }
        let stays = |cores| Baseline::new(&split, "mcs_stp").expect("locks are given").stays(cores);
        assert_eq!([6, 12, 24, 36, 48].map(stays), [1.0, 2.0, 4.0, 4.0, 4.0]);
    }

    #[test]
    fn a_law_goes_beyond_its_points_and_needs_two() {
        let program = sample::program("p", &[("pthread", &[6.0, 12.0, 24.0, 36.0, 48.0])]);
        let split = Split::new(Setting::A, MACHINE, &program);
        let linear = Baseline::new(&split, "pthread").expect("it is given");
        assert!((linear.law(48) / 48.0 - 1.0).abs() < 1e-6, "{}", linear.law(48));
        let split = Split::new(Setting::B, crate::data::MACHINES[1], &program);
        let single = Baseline::new(&split, "pthread").expect("it is given");
        assert_eq!((single.law(48), single.stays(48)), (6.0, 6.0));
    }
}
