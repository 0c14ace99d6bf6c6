//! The cohort lock C-PTL-TKT: ticket locks in the nodes, a partitioned one between them.
//!
//! See [`Cohort`](crate::Cohort). The global lock has as many cache lines as there are nodes, so
//! its release disturbs only the node that is next (Dice, Marathe and Shavit, 'Lock cohorting',
//! TOPC 2015).

use crate::cohort::NODES;
use crate::partitioned::Grants;
use crate::{Cohort, Inflatable, LockInfo, Ticket, Waiting};

/// A cohort lock of a partitioned ticket lock over ticket locks.
pub type CPtlTkt<P> = Inflatable<P, Cohort<P, Grants<P, NODES>, Ticket<P>>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "c-ptl-tkt",
    title: "cohort lock: partitioned ticket lock between nodes, ticket locks within",
    source: "Dice, Marathe and Shavit, TOPC 2015",
    best_at: "many nodes of few cores contending for shared data; fair between nodes",
    worst_at: "more threads than cores; nodes of many cores",
    waiting: Waiting::SpinInQueue,
    aliases: &[],
};
