//! What a kernel's locks may be.

use std::fmt;
use std::str::FromStr;

use kilocore_locks::LockId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// A lock algorithm, as the kernel of the thesis would have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KernelLock {
    /// The ticket spin lock of Linux 2.6.25 to 4.1, with preemption off from the ticket to the release.
    Spin,
    /// A mutex whose waiters sleep at once.
    Mutex,
    /// A mutex whose waiters spin for a while and then sleep. The kernel's spins while the owner runs,
    /// and this one for about as long as that has been worth it lately.
    Adaptive,
    /// The requester-based lock: a ticket lock whose waiters rest at low power, with preemption off.
    Requester,
}

impl KernelLock {
    /// All locks of the kernel, in the order of the variants.
    pub const ALL: [KernelLock; 4] =
        [KernelLock::Spin, KernelLock::Mutex, KernelLock::Adaptive, KernelLock::Requester];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            KernelLock::Spin => "spin",
            KernelLock::Mutex => "mutex",
            KernelLock::Adaptive => "adaptive",
            KernelLock::Requester => "requester",
        }
    }

    /// The code that ships and is simulated for it.
    #[must_use]
    pub const fn code(self) -> LockId {
        match self {
            KernelLock::Spin => LockId::Ticket,
            KernelLock::Mutex => LockId::Futex,
            KernelLock::Adaptive => LockId::Adaptive,
            KernelLock::Requester => LockId::Requester,
        }
    }

    /// Whether waiters and holders keep their cores.
    #[must_use]
    pub const fn keeps_core(self) -> bool {
        matches!(self, KernelLock::Spin | KernelLock::Requester)
    }
}

impl fmt::Display for KernelLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for KernelLock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for KernelLock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// A name that no such lock has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no kernel lock '{0}'; choose spin, mutex, adaptive or requester")]
pub struct UnknownLock(String);

impl FromStr for KernelLock {
    type Err = UnknownLock;

    fn from_str(text: &str) -> Result<Self, UnknownLock> {
        let known = Self::ALL.into_iter().find(|lock| lock.name() == text);
        known.ok_or_else(|| UnknownLock(text.to_owned()))
    }
}
