//! The ticket lock whose waiters back off in proportion to their distance from the front.
//!
//! A waiter knows from its number how many threads are served before it. It looks at the word no
//! earlier than these could possibly have finished (Mellor-Crummey and Scott, TOCS 1991). After a
//! release, not all waiters fetch the line, but only those near the front. The price is that a
//! handover may have to wait for a waiter that is still backing off. With this backoff, it is the
//! ticket lock of libslock (David, Guerraoui and Trigonakis, 'Everything you always wanted to know
//! about synchronization but were afraid to ask', SOSP 2013).
//!
//! # Where it departs from libslock
//! In libslock, a waiter backs off for 512 empty instructions for each waiter ahead. Here, it backs
//! off for [`TURNS_PER_WAITER`] turns of a spin loop, whose time also depends on the processor, and
//! the next in line watches the word all the time. In libslock, a waiter more than twenty places
//! away yields its core at every look. Here, as in all spinning locks, a waiter yields only after
//! it has waited for long.

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

/// Turns of a spin loop for which a waiter backs off for each waiter ahead of it. They take about
/// the time of a short critical section and a handover.
pub(crate) const TURNS_PER_WAITER: u32 = 8;
