//! Who decides where tasks run.

use std::fmt;
use std::str::FromStr;

use kilocore_sched_policy::{PolicyName, UnknownPolicy};
use serde::{Serialize, Serializer};

/// A policy, or the offline optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contender {
    /// A policy that learns what it has to know while tasks run.
    Policy(PolicyName),
    /// Somebody who knew everything beforehand: the best division of the tasks into sets that share a
    /// cache, run as planned.
    Optimum,
}

impl Contender {
    /// Those that have to do with caches, fair sharing first.
    pub const ALL: [Contender; 7] = [
        Contender::Policy(PolicyName::Fair),
        Contender::Policy(PolicyName::Pinned),
        Contender::Policy(PolicyName::DistributedIntensity),
        Contender::Policy(PolicyName::Intensity),
        Contender::Policy(PolicyName::Complement),
        Contender::Policy(PolicyName::Companions),
        Contender::Optimum,
    ];

    /// Its name without a number.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy(policy) => policy.policy().name(),
            Self::Optimum => OPTIMUM,
        }
    }

    /// Fair sharing, with which all are compared.
    pub const FAIR: Contender = Contender::Policy(PolicyName::Fair);
}

const OPTIMUM: &str = "optimum";

impl fmt::Display for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(name) => name.fmt(formatter),
            Self::Optimum => formatter.pad(OPTIMUM),
        }
    }
}

impl FromStr for Contender {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        if text == OPTIMUM { Ok(Self::Optimum) } else { text.parse().map(Self::Policy) }
    }
}

impl Serialize for Contender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
