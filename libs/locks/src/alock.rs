//! Anderson's array lock: each waiter watches a cache line of its own, in an array.
//!
//! A newcomer draws a number, which is its place in an array of cache lines. A release writes to
//! the next place, which at most one thread watches (Anderson, 'The performance of spin lock
//! alternatives for shared-memory multiprocessors', TPDS 1990; called `alock` in libslock).
//!
//! # Where it departs from the paper
//! In the paper, the array has a place for every thread that can ever wait. A lock inside an
//! unknown program cannot know their number. Here, the array has [`PLACES`] places. A place
//! contains the number that may enter and not a flag, so that several waiters can share a place;
//! the lock stays correct and becomes a little slower. It is thus a [partitioned ticket
//! lock](crate::Partitioned) with a long array and, like that one, the body of an
//! [`Inflatable`](crate::Inflatable).

use crate::partitioned::Grants;
use crate::{Inflatable, LockInfo, Waiting};

/// Anderson's array lock: each waiter watches a cache line of its own.
pub type Alock<P> = Inflatable<P, Grants<P, PLACES>>;

/// Number of places in the array: one for each core of the machines on which the lock is compared.
const PLACES: usize = 64;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "alock",
    title: "array lock: a line for each waiter",
    source: "Anderson 1990; libslock (David and others, SOSP 2013)",
    best_at: "many cores contending, no more threads than cores; fair",
    worst_at: "more threads than cores; eight kilobytes for each lock that is waited for",
    waiting: Waiting::SpinInQueue,
    aliases: &["alock-ls"],
};
