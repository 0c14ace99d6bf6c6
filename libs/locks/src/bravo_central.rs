//! BRAVO over [`CentralRw`](crate::CentralRw).
//!
//! See [`Bravo`](crate::Bravo).

use crate::{Bravo, CentralRw, LockInfo, Waiting};

/// A read-write lock with a bias to readers over a [`CentralRw`].
pub type BravoCentral<P> = Bravo<P, CentralRw<P>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "bravo-central",
    title: "BRAVO, in which readers do not write the lock, over one counter, readers first",
    source: "Dice and Kogan, USENIX ATC 2019",
    best_at: "many cores that read and hardly ever write",
    worst_at: "frequent writes; a writer looks through 4,096 slots",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};
