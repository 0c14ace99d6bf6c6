//! The cohort lock C-BO-MCS whose local waiters spin for a while and then park.
//!
//! See [`CBoMcs`](crate::CBoMcs). Only the waiters in the queues of the nodes park. In each node,
//! one thread may wait for the global lock; it backs off, as there.

use crate::signal::Parking;
use crate::{Backoff, Cohort, Inflatable, LockInfo, Mcs, Waiting};

/// A cohort lock of a backoff lock over MCS locks whose waiters spin, then park.
pub type CBoMcsPark<P> = Inflatable<P, Cohort<P, Backoff<P>, Mcs<P, Parking>>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "c-bo-mcs-park",
    title: "cohort lock: backoff lock between nodes, parking MCS queues within",
    source: "Dice, Marathe and Shavit 2012 with the waiting of Karlin and others 1991",
    best_at: "long sections on several nodes, saving energy",
    worst_at: "short sections with many waiters: each handover waits for a wake-up",
    waiting: Waiting::ParkInQueue,
    aliases: &["c-bo-mcs_stp"],
};
