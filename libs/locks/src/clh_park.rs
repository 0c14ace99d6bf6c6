//! The CLH queue lock whose waiters spin for a while and then park.
//!
//! The algorithm is that of [`Clh`](crate::Clh); only the wait differs. As in
//! [`McsPark`](crate::McsPark), the queue hands the lock to the thread that came first, even if it
//! sleeps. With more threads than cores, the lock therefore idles through one wake-up after the
//! other.

use crate::signal::Parking;
use crate::{LockInfo, Waiting};

/// A CLH lock whose waiters spin, then park.
pub type ClhPark<P> = crate::clh::Clh<P, Parking>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "clh-park",
    title: "CLH queue lock, spin then park",
    source: "Craig 1993 with the waiting of Karlin and others 1991",
    best_at: "long sections on many cores, saving energy; fair",
    worst_at: "short sections with more threads than cores: each handover waits for a wake-up",
    waiting: Waiting::ParkInQueue,
    aliases: &["clh_stp"],
};
