//! BRAVO over [`WriterFirst`](crate::WriterFirst).
//!
//! See [`Bravo`](crate::Bravo).

use crate::{Bravo, LockInfo, Waiting, WriterFirst};

/// A read-write lock with a bias to readers over a [`WriterFirst`].
pub type BravoWriterFirst<P> = Bravo<P, WriterFirst<P>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "bravo-writer-first",
    title: "BRAVO, in which readers do not write the lock, over writers before readers",
    source: "Dice and Kogan, USENIX ATC 2019",
    best_at: "many cores that read, and writers that must not wait for long",
    worst_at: "frequent writes; a writer looks through 4,096 slots",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};
