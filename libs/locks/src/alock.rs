//! Anderson's array lock: each waiter watches a line of its own, in an array.
//!
//! An arriving thread draws a number, which is its place in an array of lines; a release writes
//! to the next place, where at most one thread watches (Anderson, 'The performance of spin lock
//! alternatives for shared-memory multiprocessors', TPDS 1990; in libslock `alock`).
//!
//! # Where it departs from the paper
//! There, the array has a place for every thread that can ever wait, which a lock under an
//! unknown program cannot have. Here it has [`PLACES`], and a place holds the number that may
//! enter, not a flag, so that more waiters than places share places and all is well but a little
//! slower: it is a [partitioned ticket lock](crate::Partitioned) with a long array. Like that
//! one it is the body of an [`Inflatable`](crate::Inflatable).

use crate::partitioned::Grants;
use crate::{Inflatable, LockInfo, Waiting};

/// Anderson's array lock.
pub type Alock<P> = Inflatable<P, Grants<P, PLACES>>;

/// Places in the array: one for each core of the machines that the lock is compared on.
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
