//! The adaptive hierarchical MCS lock, AHMCS, with two levels.
//!
//! An HMCS lock charges a thread for each level, which is wasted where nobody of its node
//! competes. Here a thread learns at which level it meets others, and starts there: at the leaf
//! of its node, or at the root (Chabbi and Mellor-Crummey, 'Contention-conscious,
//! locality-preserving locks', PPoPP 2016). A change of level takes several acquisitions in a
//! row that speak for it.
//!
//! # Where it departs from the paper
//! * Two levels, and queues of the K42 kind, as for [`Hmcs`](crate::Hmcs). The paper's second
//!   shortcut, an empty lock taken by one instruction at the root, is the thin lock of
//!   [`Inflatable`](crate::Inflatable).
//! * The paper judges by the neighbours that a thread finds in its queues. A node in a K42 queue
//!   does not know them, so here a thread takes its leaf for deserted when the root did not come
//!   along with it, and for crowded when it came by the root and the holder before it was of its
//!   own node.
//! * A thread keeps one judgement for all locks of the kind, not one for each.

use core::fmt;

use kilocore_platform::Platform;

use crate::cohort::Entry;
use crate::large::{Body, LargeLock};
use crate::{Cohort, Inflatable, LockInfo, Mcs, Waiting};

/// An adaptive hierarchical MCS lock.
pub type Ahmcs<P> = Inflatable<P, AdaptiveTree<P>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "ahmcs",
    title: "adaptive hierarchical MCS lock of two levels",
    source: "Chabbi and Mellor-Crummey, PPoPP 2016",
    best_at: "several nodes with contention that comes and goes; fair between nodes",
    worst_at: "more threads than cores",
    waiting: Waiting::SpinInQueue,
    aliases: &[],
};

/// Acquisitions in a row that must speak for the other level before a thread changes to it.
const EVIDENCE_NEEDED: u32 = 4;

/// Where a thread enters the tree, and what it has lately seen that speaks against it.
#[derive(Debug, Default)]
pub struct AhmcsThread {
    at_the_root: bool,
    evidence: u32,
}

impl AhmcsThread {
    /// Takes in whether an acquisition spoke for the other level.
    #[inline]
    fn learn<P: Platform>(&mut self, for_the_other: bool) {
        self.evidence = if for_the_other { self.evidence + 1 } else { 0 };
        if self.evidence >= if P::CHECKED { 1 } else { EVIDENCE_NEEDED } {
            self.evidence = 0;
            self.at_the_root = !self.at_the_root;
        }
    }
}

/// A tree of MCS locks that can be entered at the leaves and at the root.
pub struct AdaptiveTree<P: Platform> {
    tree: Cohort<P, Mcs<P>, Mcs<P>>,
}

// SAFETY: all is the cohort lock's, which whoever enters at the root shares by holding its global
// lock alone.
unsafe impl<P: Platform> LargeLock<P> for AdaptiveTree<P> {
    type Thread = AhmcsThread;

    fn new() -> Self {
        Self { tree: Cohort::new() }
    }

    #[inline]
    fn acquire(&self, thread: &mut AhmcsThread) {
        if thread.at_the_root {
            let crowded = self.tree.acquire_globally(&mut ()) == Entry::AfterOwnNode;
            thread.learn::<P>(crowded);
        } else {
            let deserted = self.tree.acquire_by_node(&mut ()) == Entry::ByGlobalLock;
            thread.learn::<P>(deserted);
        }
    }

    #[inline]
    unsafe fn release(&self, _thread: &mut AhmcsThread) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.tree.release(&mut ()) };
    }
}

// SAFETY: it is the cohort lock's.
unsafe impl<P: Platform> Body<P> for AdaptiveTree<P> {
    fn departures(&self) -> &P::U64 {
        self.tree.departures()
    }
}

impl<P: Platform> fmt::Debug for AdaptiveTree<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.fmt(f)
    }
}
