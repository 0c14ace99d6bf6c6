//! The hierarchical MCS lock, HMCS, with two levels: nodes and root.
//!
//! This is a tree of MCS locks that follows the machine. A thread queues at its leaf. The first one
//! there queues at the parent, and so on up to the root. A release hands the lock over at the
//! lowest level at which another thread waits and the number of passes in a row allows it (Chabbi,
//! Fagan and Mellor-Crummey, 'High performance locks for multi-level NUMA systems', PPoPP 2015).
//!
//! # Where it departs from the paper
//! * The tree has two levels, NUMA nodes and root. This is the form measured in the comparisons
//!   that name the lock. With two levels it is a [`Cohort`](crate::Cohort) of MCS locks.
//! * The queues are of the K42 kind of [`Mcs`](crate::Mcs): a thread that holds a lock of the tree
//!   has no node in its queue. The number of passes is therefore stored beside the lock of the leaf
//!   and not in the successor's node, and a leaf can be released before the root.

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
