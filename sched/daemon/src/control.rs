//! How orders are carried out.

use std::fmt;
use std::str::FromStr;

/// How orders are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Control {
    /// By the affinities of threads.
    #[default]
    Affinity,
    /// By cgroups, which threads are moved into.
    Cpuset,
}

impl FromStr for Control {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "affinity" => Ok(Self::Affinity),
            "cpuset" => Ok(Self::Cpuset),
            _ => Err(format!("there is no control '{text}'; choose affinity or cpuset")),
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Affinity => "affinity",
            Self::Cpuset => "cpuset",
        })
    }
}
