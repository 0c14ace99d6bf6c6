//! The hierarchical ticket lock of libslock.
//!
//! There is a ticket lock in each node and one between the nodes. Their waiters back off in
//! proportion to their distance from the front. Apart from that, the lock differs from
//! [`CTktTkt`](crate::CTktTkt) only in a larger bound on the passes within a node (David, Guerraoui
//! and Trigonakis, SOSP 2013).
//!
//! # Where it departs from libslock
//! In libslock, the words of the local ticket lock themselves count what is left of the batch of a
//! node. See [`Cohort`](crate::Cohort) and, for the backoff,
//! [`TicketBackoff`](crate::TicketBackoff).

use crate::{Cohort, Inflatable, LockInfo, TicketBackoff, Waiting};

/// libslock's hierarchical ticket lock.
pub type Hticket<P> = Inflatable<P, Cohort<P, TicketBackoff<P>, TicketBackoff<P>, PASSES>>;

/// How often threads of one node may acquire the lock in a row while others may wait, as in
/// libslock.
const PASSES: u32 = 128;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "hticket",
    title: "hierarchical ticket lock with proportional backoff",
    source: "libslock (David, Guerraoui and Trigonakis, SOSP 2013)",
    best_at: "several nodes contending for shared data with short sections",
    worst_at: "more threads than cores; sections of uneven length",
    waiting: Waiting::SpinInQueue,
    aliases: &["hticket-ls"],
};
