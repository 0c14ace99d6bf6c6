//! What a forecast is asked for.

use kilocore_locks::{LockId, RwLockId};
use kilocore_machine::Description;
use kilocore_points::PointSource;

use crate::RunSize;

/// Three workloads are simulated for a point with its band: the one profiled, and the two that bound it.
pub(crate) const VARIANTS: usize = 3;

/// How much of a forecast is simulated. The verdict and the advice do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What the verdict and the advice need. Most locks are simulated on the most cores alone, or not at
    /// all if none can be worth a change.
    Needed,
    /// Every lock on every number of cores.
    Every,
}

/// The forecast that is wanted.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The machine to forecast for.
    pub machine: &'a Description,
    /// Numbers of cores, ascending, at least one. At each of them, the program is assumed to run
    /// one thread a core.
    pub cores: Vec<u32>,
    /// The locks to compare with the lock that stands for the program as it is.
    pub locks: Vec<LockId>,
    /// The read-write locks to compare with the program's own, if those matter.
    pub rw_locks: Vec<RwLockId>,
    /// How much is simulated for each point.
    pub size: RunSize,
    /// Which points are simulated.
    pub extent: Extent,
    /// Where points come from. The answer does not depend on it.
    pub source: &'a PointSource,
}

/// The lock that stands for the program as it is: glibc's mutex.
pub const TODAY: LockId = LockId::Futex;

impl Question<'_> {
    /// The number of simulations that the answer may take, which is what a progress bar counts to. It takes
    /// fewer where locks turn out not to matter, and more where read-write locks do.
    #[must_use]
    pub fn simulations(&self) -> usize {
        let others = self.other_locks().count();
        let curve = self.cores.len() * VARIANTS;
        match self.extent {
            Extent::Every => (1 + others) * curve,
            Extent::Needed => (1 + others.min(1)) * curve + others,
        }
    }

    /// The mutexes asked for, without that of the program as it is.
    pub(crate) fn other_locks(&self) -> impl Iterator<Item = LockId> {
        self.locks.iter().copied().filter(|&lock| lock != TODAY)
    }
}
