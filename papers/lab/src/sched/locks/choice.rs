//! Who schedules, as one chooses it.

use std::fmt;
use std::str::FromStr;

use kilocore_sched_policy::{PolicyName, UnknownPolicy};
use thiserror::Error;

/// A policy, or a perfect choice of a fixed number of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choice {
    /// A policy of scheduling.
    Policy(PolicyName),
    /// All processes confined to the number of cores with which most is done. All numbers are simulated.
    BestStatic,
}

impl Choice {
    /// Those that say most of locks.
    pub const USUAL: [Choice; 2] =
        [Choice::Policy(PolicyName::Fair), Choice::Policy(PolicyName::LockAware)];

    /// Its name without a number.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Choice::Policy(policy) => policy.policy().name(),
            Choice::BestStatic => BEST_STATIC,
        }
    }

    /// The policies to simulate for it on so many cores.
    pub(crate) fn policies(self, cores: u32) -> Vec<PolicyName> {
        match self {
            Choice::Policy(policy) => vec![policy],
            Choice::BestStatic => (1..=cores).map(PolicyName::Confined).collect(),
        }
    }
}

const BEST_STATIC: &str = "best-static";

/// As on the command line.
impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Policy(policy) => policy.fmt(formatter),
            Choice::BestStatic => formatter.pad(BEST_STATIC),
        }
    }
}

/// A name that nobody has who schedules.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}, or best-static for the best N")]
pub struct UnknownChoice(UnknownPolicy);

impl FromStr for Choice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        if text == BEST_STATIC {
            return Ok(Self::BestStatic);
        }
        text.parse().map(Self::Policy).map_err(UnknownChoice)
    }
}
