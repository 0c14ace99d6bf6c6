//! The MCS queue lock whose waiters park when they have spun for a while.
//!
//! The algorithm is that of [`Mcs`](crate::Mcs); only the wait differs. A waiter that parks
//! leaves its core to others, but the queue still hands the lock to the one who came first,
//! asleep or not, and then the lock idles for as long as waking takes. Strict order together
//! with parking is the worst combination in published comparisons; it is here to show that, and
//! because Malthusian locks are measured against it.

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
