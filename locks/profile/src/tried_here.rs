//! A program that was run with other locks on the cores that are here, in turn with itself as it is.

use kilocore_figures::{Nanoseconds, Spread};
use serde::Serialize;

use crate::TimedRun;
use crate::scaling::SHORT;

/// Rounds that were not disturbed, from which on something is concluded.
const ENOUGH: usize = 3;

/// The program as it is and with other locks, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialRound {
    /// As it is.
    pub as_it_is: TimedRun,
    /// With the other locks.
    pub with_them: TimedRun,
}

/// Why a program could not be timed with other locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialFailure {
    /// It took many times as long as without them, and was ended.
    DidNotEnd,
    /// It ended with an error.
    Failed,
}

/// A program that was run with other locks here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedHere {
    /// The lock in the place of its mutexes, if they were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<&'static str>,
    /// The lock in the place of its read-write locks, if they were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwlock: Option<&'static str>,
    /// The rounds, in order.
    pub rounds: Vec<TrialRound>,
    /// Why there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<TrialFailure>,
}

/// What other locks bring on the cores that are here, as measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TriedGain {
    /// The number of cores.
    pub cores: u32,
    /// The rounds that count.
    pub rounds: usize,
    /// The throughput with the other locks, as a multiple of that without: the median over the rounds.
    pub gain: f64,
    /// The least of the rounds.
    pub low: f64,
    /// The most of the rounds.
    pub high: f64,
}

impl TriedHere {
    /// What the other locks bring, or `None` if the rounds do not tell: fewer than three were quiet, or the
    /// runs are so short that they show how the program starts.
    #[must_use]
    pub fn gain(&self) -> Option<TriedGain> {
        let both = |round: &TrialRound| [round.as_it_is.clone(), round.with_them.clone()];
        let quiet: Vec<&TrialRound> =
            self.rounds.iter().filter(|round| both(round).iter().all(TimedRun::is_quiet)).collect();
        let shortest = quiet.iter().flat_map(|round| both(round)).map(|run| run.wall_time);
        if quiet.len() < ENOUGH
            || shortest.fold(Nanoseconds(f64::INFINITY), Nanoseconds::min) < SHORT
        {
            return None;
        }
        let gains =
            quiet.iter().map(|round| round.with_them.throughput() / round.as_it_is.throughput());
        let Spread { median: gain, low, high } = Spread::of(gains)?;
        Some(TriedGain { cores: quiet[0].with_them.cores, rounds: quiet.len(), gain, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interference;

    fn round(number: u32, with_them: f64, others: f64) -> TrialRound {
        let run = |seconds: f64| TimedRun {
            round: number,
            cores: 2,
            wall_time: Nanoseconds(seconds * 1e9),
            cpu_time: Nanoseconds(seconds * 2e9),
            work: 1.0,
            interference: Some(Interference {
                others: Nanoseconds(others * 1e9),
                ..Interference::default()
            }),
            limit: None,
            cores_lost: 0,
            waiting: None,
        };
        TrialRound { as_it_is: run(1.0), with_them: run(with_them) }
    }

    fn tried(rounds: Vec<TrialRound>) -> TriedHere {
        TriedHere { lock: Some("mcs"), rwlock: None, rounds, failure: None }
    }

    #[test]
    fn rounds_that_others_disturbed_do_not_count() {
        let four = [(0.5, 0.0), (0.4, 0.0), (4.0, 1.0), (0.8, 0.0)];
        let rounds = |count| {
            four.iter().enumerate().take(count).map(|(i, &(s, others))| round(i as u32, s, others))
        };
        let gain = tried(rounds(4).collect()).gain().expect("three are quiet");
        assert_eq!((gain.rounds, gain.cores), (3, 2));
        assert_eq!((gain.gain, gain.low, gain.high), (2.0, 1.25, 2.5));
        assert_eq!(tried(rounds(3).collect()).gain(), None);
        let short = (0..3).map(|i| round(i, 0.01, 0.0)).collect();
        assert_eq!(tried(short).gain(), None);
    }
}
