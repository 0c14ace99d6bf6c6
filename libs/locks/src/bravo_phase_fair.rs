//! BRAVO over [`PhaseFair`](crate::PhaseFair).
//!
//! See [`Bravo`](crate::Bravo).

use crate::{Bravo, LockInfo, PhaseFair, Waiting};

/// A read-write lock with a bias to readers over a [`PhaseFair`].
pub type BravoPhaseFair<P> = Bravo<P, PhaseFair<P>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "bravo-phase-fair",
    title: "BRAVO, in which readers do not write the lock, over readers and writers in turns",
    source: "Dice and Kogan, USENIX ATC 2019",
    best_at: "many cores that read, and both sides to get in soon",
    worst_at: "frequent writes; a writer looks through 4,096 slots",
    waiting: Waiting::RestInTurn,
    aliases: &[],
};
