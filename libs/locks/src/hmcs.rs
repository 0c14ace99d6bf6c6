//! The hierarchical MCS lock, HMCS, with two levels: nodes and root.
//!
//! A tree of MCS locks that follows the machine. A thread queues at its leaf; whoever is first
//! there queues at the parent, and so on to the root. A release passes the lock on at the lowest
//! level at which somebody waits and the number of passes in a row allows it (Chabbi, Fagan and
//! Mellor-Crummey, 'High performance locks for multi-level NUMA systems', PPoPP 2015).
//!
//! # Where it departs from the paper
//! * The tree has two levels, NUMA nodes and root, which is the form that was measured in the
//!   comparisons that name it. With two levels it is a [`Cohort`](crate::Cohort) of MCS locks.
//! * The queues are of the K42 kind of [`Mcs`](crate::Mcs): who holds a lock of the tree has no
//!   node in its queue. The number of passes therefore lies beside the leaf's lock and not in
//!   the successor's node, and a leaf can be let go before the root.

use crate::{Cohort, Inflatable, LockInfo, Mcs, Waiting};

/// A hierarchical MCS lock.
pub type Hmcs<P> = Inflatable<P, Cohort<P, Mcs<P>, Mcs<P>>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "hmcs",
    title: "hierarchical MCS lock of two levels",
    source: "Chabbi, Fagan and Mellor-Crummey, PPoPP 2015",
    best_at: "many cores on several nodes contending for shared data; fair between nodes",
    worst_at: "more threads than cores",
    waiting: Waiting::SpinInQueue,
    aliases: &[],
};
