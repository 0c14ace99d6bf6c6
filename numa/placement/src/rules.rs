//! The policies by name, and what they are told.

use std::fmt;
use std::str::FromStr;

use kilocore_machine::names::{UnknownName, find};
use kilocore_platform::Cycles;
use serde::{Deserialize, Serialize};

use crate::policies::{
    Adjustable, AdjustableOptions, Balanced, BalancedOptions, Carrefour, CarrefourOptions,
    FirstReference, FixedDelay, LinuxBalancing, Never, WithUpdates,
};
use crate::policy::Policy;

/// A policy, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Pages stay where they are.
    Never,
    /// A copy at the first remote reference.
    FirstReference,
    /// A copy after a fixed number of them: Bolosky and others.
    Fixed,
    /// The same, and copies that are updated more than used are given up: Markatos and Chronaki.
    Updates,
    /// The adjustable delay of Lee and Cho.
    Adjustable,
    /// The same, where a copy that has lost is given up.
    AdjustableDropping,
    /// Migration as Linux balances memory.
    Linux,
    /// A choice by samples, like Carrefour.
    Carrefour,
    /// This project's own, by cycles saved and lost.
    Balanced,
    /// The least that the references could have cost. Nobody can have it.
    Optimum,
}

impl Rule {
    /// All policies, in the order of the variants.
    pub const ALL: [Rule; 10] = [
        Rule::Never,
        Rule::FirstReference,
        Rule::Fixed,
        Rule::Updates,
        Rule::Adjustable,
        Rule::AdjustableDropping,
        Rule::Linux,
        Rule::Carrefour,
        Rule::Balanced,
        Rule::Optimum,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::FirstReference => "first-reference",
            Self::Fixed => "fixed",
            Self::Updates => "updates",
            Self::Adjustable => "adjustable",
            Self::AdjustableDropping => "adjustable-dropping",
            Self::Linux => "linux",
            Self::Carrefour => "carrefour",
            Self::Balanced => "balanced",
            Self::Optimum => "optimum",
        }
    }

    /// Whether it has an initial delay.
    #[must_use]
    pub fn has_delay(self) -> bool {
        matches!(self, Self::Fixed | Self::Updates | Self::Adjustable | Self::AdjustableDropping)
    }

    /// The policy. That of the optimum leaves pages where they are; what it would have cost, the
    /// memory says ([`Memory::optimum`](crate::Memory::optimum)).
    #[must_use]
    pub fn make(self, parameters: &PolicyParameters) -> Box<dyn Policy> {
        let PolicyParameters { delay, period, budget, .. } = *parameters;
        let adjustable = AdjustableOptions { delay, period, ..parameters.adjustable };
        match self {
            Self::Never | Self::Optimum => Box::new(Never),
            Self::FirstReference => Box::new(FirstReference),
            Self::Fixed => Box::new(FixedDelay { delay }),
            Self::Updates => Box::new(WithUpdates { delay, budget }),
            Self::Adjustable => Box::new(Adjustable::new(adjustable)),
            Self::AdjustableDropping => {
                Box::new(Adjustable::new(AdjustableOptions { drops: true, ..adjustable }))
            }
            Self::Linux => Box::new(LinuxBalancing::new(period, SCANNED_PAGES)),
            Self::Carrefour => Box::new(Carrefour::new(CarrefourOptions::new(period))),
            Self::Balanced => Box::new(Balanced::new(parameters.balanced)),
        }
    }
}

/// What Linux unmaps at a time, 256 MiB.
const SCANNED_PAGES: u32 = 65_536;

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("policy", name, Self::ALL.map(|rule| (rule.name(), rule)))
    }
}

/// What policies are told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolicyParameters {
    /// Remote references until a copy is brought, at first.
    pub delay: u32,
    /// How often daemons run.
    pub period: Cycles,
    /// Of how many writes a copy is told until it is looked at again.
    pub budget: u32,
    /// What is left open of the adjustable delay. Its delay, period and dropping are not used.
    pub adjustable: AdjustableOptions,
    /// What the balanced policy starts from.
    pub balanced: BalancedOptions,
}

impl Default for PolicyParameters {
    /// A delay of 1,000, daemons every million cycles, and a look at a copy every 1,000 writes.
    fn default() -> Self {
        let delay = 1000;
        Self {
            delay,
            period: Cycles(1_000_000),
            budget: 1000,
            adjustable: AdjustableOptions::new(delay),
            balanced: BalancedOptions::default(),
        }
    }
}
