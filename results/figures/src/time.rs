//! Time, with its unit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A duration in nanoseconds, or a moment as the nanoseconds since one that the holder names.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanoseconds(pub u64);

impl From<Duration> for Nanoseconds {
    /// A duration that is too long to be counted so becomes the longest one.
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}
