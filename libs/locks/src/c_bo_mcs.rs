//! The cohort lock C-BO-MCS: MCS queues in the nodes, and a backoff lock between them.
//!
//! See [`Cohort`](crate::Cohort). The global lock is unfair, but small. Its weaknesses matter
//! little, because few nodes contend for it and a node keeps it for a batch (Dice, Marathe and
//! Shavit, PPoPP 2012).

use crate::{Backoff, Cohort, Inflatable, LockInfo, Mcs, Waiting};

/// A cohort lock of a backoff lock over MCS locks.
pub type CBoMcs<P> = Inflatable<P, Cohort<P, Backoff<P>, Mcs<P>>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "c-bo-mcs",
    title: "cohort lock: backoff lock between nodes, MCS queues within",
    source: "Dice, Marathe and Shavit, PPoPP 2012",
    best_at: "many cores on several nodes contending for shared data",
    worst_at: "more threads than cores; fairness between nodes",
    waiting: Waiting::SpinInQueue,
    aliases: &["c-bo-mcs_spin"],
};
