//! Who schedules, whatever tasks fight for.

use std::str::FromStr;

use kilocore_command_line::Failure;
use kilocore_lab::sched::cache::Contender;
use kilocore_lab::sched::locks::{Choice, UnknownChoice};
use thiserror::Error;

/// Who schedules, in either experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchedulerChoice {
    /// A policy, or a perfect choice of a fixed number of cores.
    Choice(Choice),
    /// The best division of tasks over caches.
    Optimum,
}

/// A text that names neither a policy, nor `best-static`, nor `optimum`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}, or optimum for the best division over caches")]
pub(crate) struct UnknownScheduler(UnknownChoice);

impl FromStr for SchedulerChoice {
    type Err = UnknownScheduler;

    fn from_str(text: &str) -> Result<Self, UnknownScheduler> {
        if text == "optimum" {
            return Ok(Self::Optimum);
        }
        text.parse().map(Self::Choice).map_err(UnknownScheduler)
    }
}

/// Who of these schedules where tasks fight for locks.
pub(super) fn for_locks(all: &[SchedulerChoice]) -> Result<Vec<Choice>, Failure> {
    let choice = |who: &SchedulerChoice| match who {
        SchedulerChoice::Choice(choice) => Ok(*choice),
        SchedulerChoice::Optimum => Err(Failure::new(
            "--scheduler optimum is for --experiment cache; for locks, choose best-static",
        )),
    };
    all.iter().map(choice).collect()
}

/// Who of these schedules where tasks share caches.
pub(super) fn for_caches(all: &[SchedulerChoice]) -> Result<Vec<Contender>, Failure> {
    let contender = |who: &SchedulerChoice| match who {
        SchedulerChoice::Choice(Choice::Policy(policy)) => Ok(Contender::Policy(*policy)),
        SchedulerChoice::Choice(Choice::BestStatic) => Err(Failure::new(
            "--scheduler best-static is for --experiment locks; for caches, choose optimum",
        )),
        SchedulerChoice::Optimum => Ok(Contender::Optimum),
    };
    all.iter().map(contender).collect()
}
