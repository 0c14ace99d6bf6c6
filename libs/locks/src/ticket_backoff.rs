//! The ticket lock whose waiters step back in proportion to their distance.
//!
//! A waiter knows from its number how many are served before it, and looks at the word no sooner
//! than these could possibly be through (Mellor-Crummey and Scott, TOCS 1991). So a release does
//! not send all waiters to the line, only those near the front, at the price of a handover that
//! may find the next in line with its back turned. With this backoff it is the ticket lock of
//! libslock (David, Guerraoui and Trigonakis, 'Everything you always wanted to know about
//! synchronization but were afraid to ask', SOSP 2013).
//!
//! # Where it departs from libslock
//! There, each waiter ahead counts for 512 empty instructions, here for [`TURNS_PER_WAITER`]
//! turns of a spin loop, whose time depends on the processor as well, and the next in line
//! watches the word instead of looking at it now and then. A waiter more than twenty places
//! away there yields its core at every look; here, as in all spinning locks, only who has waited
//! for long.

use crate::{LockInfo, Ticket, Waiting};

/// A ticket lock with proportional backoff.
pub type TicketBackoff<P> = Ticket<P, TURNS_PER_WAITER>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "ticket-backoff",
    title: "ticket lock with backoff proportional to the distance",
    source: "Mellor-Crummey and Scott 1991; libslock (David and others, SOSP 2013)",
    best_at: "a moderate number of waiters and sections of even length; fair; eight bytes",
    worst_at: "sections much shorter or longer than the step back; more threads than cores",
    waiting: Waiting::SpinInTurn,
    aliases: &["ticket-ls"],
};

/// Turns of a spin loop that a waiter passes for each one ahead of it: about the time of a short
/// critical section and a handover.
pub(crate) const TURNS_PER_WAITER: u32 = 8;
