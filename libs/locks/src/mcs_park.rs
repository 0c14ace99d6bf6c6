//! The MCS queue lock whose waiters spin for a while and then park.
//!
//! The algorithm is that of [`Mcs`](crate::Mcs); only the wait differs. A waiter that parks leaves
//! its core to others. But the queue still hands the lock to the thread that came first, even if it
//! sleeps, and then the lock idles until that thread is awake. In published comparisons, strict
//! order together with parking is the worst combination. The lock is here to show this, and because
//! Malthusian locks are measured against it.

use crate::signal::Parking;
use crate::{LockInfo, Waiting};

/// An MCS lock whose waiters spin, then park.
pub type McsPark<P> = crate::mcs::Mcs<P, Parking>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "mcs-park",
    title: "MCS queue lock, spin then park",
    source: "Mellor-Crummey and Scott 1991 with the waiting of Karlin and others 1991",
    best_at: "long sections on many cores, saving energy; fair",
    worst_at: "short sections with more threads than cores: each handover waits for a wake-up",
    waiting: Waiting::ParkInQueue,
    aliases: &["mcs_stp"],
};
