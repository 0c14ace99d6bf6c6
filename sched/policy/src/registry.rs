//! Policies by name.
//!
//! # How to add a policy
//! * One file beside this one, which opens with the idea and its source, and implements `Policy`.
//!   It may use neither floating point nor the standard library.
//! * A variant of `PolicyName` here, with its name and what it does in a few words. `kilocore steer`
//!   and `kilocore-lab sched` then offer it.
//! * One line in `policies()` of `tests/any.rs` tests what holds for every policy: no order is empty or outside
//!   of an allowance, and the same windows make the same orders. What is its own goes beside
//!   `tests/lock_aware.rs`, whose machine in closed form policies can steer.
//! * A line in `Contender::ALL` (`papers/lab/src/sched/cache/contender.rs`) if it has to do with
//!   caches.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::companions::Companions;
use crate::confined::Confined;
use crate::distributed_intensity::DistributedIntensity;
use crate::fair::Fair;
use crate::lock_aware::LockAware;
use crate::malthusian::Malthusian;
use crate::pinned::Pinned;
use crate::policy::Policy;
use crate::resource_aware::ResourceAware;

/// A policy that somebody may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyName {
    /// [`Fair`]: the operating system decides
    Fair,
    /// [`Pinned`]: a core for each task, for good
    Pinned,
    /// [`Confined`], to so many cores
    Confined(u32),
    /// [`Malthusian`]: just enough cores to keep a lock busy
    Malthusian,
    /// [`LockAware`]: as many cores as serve a lock best
    LockAware,
    /// [`DistributedIntensity`]: tasks that miss most, spread over the caches
    DistributedIntensity,
    /// [`ResourceAware::intensity`]: heavy users of shared caches beside light ones
    Intensity,
    /// [`ResourceAware::complement`]: tasks beside those under which they suffer least
    Complement,
    /// [`Companions`]: tasks beside those with whom they get most done
    Companions,
}

impl PolicyName {
    /// All policies without a number of their own.
    pub const ALL: [PolicyName; 8] = [
        PolicyName::Fair,
        PolicyName::Pinned,
        PolicyName::Malthusian,
        PolicyName::LockAware,
        PolicyName::DistributedIntensity,
        PolicyName::Intensity,
        PolicyName::Complement,
        PolicyName::Companions,
    ];

    /// Those of [`ALL`](Self::ALL) that can decide by what is seen of a program from outside.
    pub fn steering() -> impl Iterator<Item = PolicyName> {
        Self::ALL.into_iter().filter(|policy| !policy.needs_scheduler())
    }

    /// A new policy of this name.
    #[must_use]
    pub fn policy(self) -> Box<dyn Policy> {
        match self {
            Self::Fair => Box::new(Fair),
            Self::Pinned => Box::new(Pinned::default()),
            Self::Confined(cores) => Box::new(Confined::new(cores)),
            Self::Malthusian => Box::new(Malthusian::default()),
            Self::LockAware => Box::new(LockAware::default()),
            Self::DistributedIntensity => Box::new(DistributedIntensity::default()),
            Self::Intensity => Box::new(ResourceAware::intensity()),
            Self::Complement => Box::new(ResourceAware::complement()),
            Self::Companions => Box::new(Companions::default()),
        }
    }

    /// Whether it knows nothing without what processors count ([`Counters`](crate::Counters)).
    #[must_use]
    pub const fn needs_counters(self) -> bool {
        match self {
            Self::Fair | Self::Pinned | Self::Confined(_) | Self::Malthusian | Self::LockAware => {
                false
            }
            Self::DistributedIntensity | Self::Intensity | Self::Complement | Self::Companions => {
                true
            }
        }
    }

    /// Whether only a driver inside a scheduler can tell it what it decides by.
    #[must_use]
    pub const fn needs_scheduler(self) -> bool {
        matches!(self, Self::Companions)
    }

    /// What it does, in a few words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fair => "leaves all to the operating system",
            Self::Pinned => "a core for each task, for good",
            Self::Confined(_) => "tasks that use locks on a fixed number of cores",
            Self::Malthusian => "tasks that fight for a lock on just enough cores to keep it busy",
            Self::LockAware => "tasks that fight for a lock on as many cores as serve them best",
            Self::DistributedIntensity => "tasks that miss most spread over the caches",
            Self::Intensity => "heavy users of shared caches beside light ones",
            Self::Complement => "tasks beside those under which they are seen to suffer least",
            Self::Companions => "tasks beside those with whom they get most done, pair by pair",
        }
    }
}

/// As on the command line: `lock-aware`, `confined=4`.
impl fmt::Display for PolicyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fair => formatter.pad("fair"),
            Self::Pinned => formatter.pad("pinned"),
            Self::Confined(cores) => write!(formatter, "confined={cores}"),
            Self::Malthusian => formatter.pad("malthusian"),
            Self::LockAware => formatter.pad("lock-aware"),
            Self::DistributedIntensity => formatter.pad("distributed-intensity"),
            Self::Intensity => formatter.pad("intensity"),
            Self::Complement => formatter.pad("complement"),
            Self::Companions => formatter.pad("companions"),
        }
    }
}

/// A name that no policy has, and the policies to choose from instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPolicy {
    name: String,
    offered: Vec<PolicyName>,
}

impl UnknownPolicy {
    fn new(name: &str) -> Self {
        Self { name: name.to_string(), offered: PolicyName::ALL.to_vec() }
    }

    /// The same error where only these policies may be chosen, and [`PolicyName::Confined`].
    #[must_use]
    pub fn offering(mut self, offered: impl Iterator<Item = PolicyName>) -> Self {
        self.offered = offered.collect();
        self
    }
}

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "there is no policy '{}'; choose", self.name)?;
        for policy in &self.offered {
            write!(formatter, " {policy},")?;
        }
        write!(formatter, " or confined=N with a number of cores from 1")
    }
}

impl core::error::Error for UnknownPolicy {}

impl FromStr for PolicyName {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        if let Some(cores) = text.strip_prefix("confined=") {
            let cores = cores.parse().ok().filter(|&cores| cores > 0);
            return cores.map(Self::Confined).ok_or_else(|| UnknownPolicy::new(text));
        }
        let known = Self::ALL.into_iter().find(|policy| policy.to_string() == text);
        known.ok_or_else(|| UnknownPolicy::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::PolicyName;
    use alloc::string::ToString;

    #[test]
    fn a_policy_is_found_by_the_name_that_it_has() {
        for name in PolicyName::ALL.into_iter().chain([PolicyName::Confined(3)]) {
            assert_eq!(name.to_string().parse(), Ok(name));
            assert!(name.to_string().starts_with(name.policy().name()));
        }
    }

    #[test]
    fn a_name_that_no_policy_has_is_refused_with_those_there_are() {
        for text in ["", "lock", "confined", "confined=0", "confined=x"] {
            let error = text.parse::<PolicyName>().unwrap_err().to_string();
            assert!(error.contains("lock-aware") && error.contains("confined=N"), "{error}");
            assert!(error.contains("companions"), "{error}");
            let steering = text.parse::<PolicyName>().unwrap_err().offering(PolicyName::steering());
            assert!(!steering.to_string().contains("companions"), "{steering}");
        }
    }
}
