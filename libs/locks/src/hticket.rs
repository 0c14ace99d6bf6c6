//! The hierarchical ticket lock of libslock.
//!
//! Ticket locks in the nodes and one between them, whose waiters step back in proportion to
//! their distance, and a larger bound on the passes within a node than that of
//! [`CTktTkt`](crate::CTktTkt), which it resembles otherwise (David, Guerraoui and Trigonakis,
//! SOSP 2013).
//!
//! # Where it departs from libslock
//! There, what is left of a node's batch is counted in the local ticket's own words. See
//! [`Cohort`](crate::Cohort) and, for the step back, [`TicketBackoff`](crate::TicketBackoff).

use crate::{Cohort, Inflatable, LockInfo, TicketBackoff, Waiting};

/// libslock's hierarchical ticket lock.
pub type Hticket<P> = Inflatable<P, Cohort<P, TicketBackoff<P>, TicketBackoff<P>, PASSES>>;

/// Acquisitions of one node in a row while others may wait: libslock's figure.
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
