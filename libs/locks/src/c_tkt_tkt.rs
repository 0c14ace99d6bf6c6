//! The cohort lock C-TKT-TKT: ticket locks in the nodes and between them.
//!
//! See [`Cohort`](crate::Cohort). All waiters of a ticket lock watch one cache line. This is cheap
//! within a node, and between nodes there are few waiters (Dice, Marathe and Shavit, PPoPP 2012).

use crate::{Cohort, Inflatable, LockInfo, Ticket, Waiting};

/// A cohort lock of a ticket lock over ticket locks.
pub type CTktTkt<P> = Inflatable<P, Cohort<P, Ticket<P>, Ticket<P>>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "c-tkt-tkt",
    title: "cohort lock: ticket locks between nodes and within",
    source: "Dice, Marathe and Shavit, PPoPP 2012",
    best_at: "several nodes of few cores contending for shared data; fair between nodes",
    worst_at: "more threads than cores; nodes of many cores",
    waiting: Waiting::SpinInQueue,
    aliases: &[],
};
