//! The adaptive hierarchical MCS lock, AHMCS, with two levels.
//!
//! An HMCS lock costs a thread something at each level. At the lower level this is wasted if no
//! other thread of its node competes. Here, a thread learns at which level it meets others, and
//! starts there: at the leaf of its node or at the root (Chabbi and Mellor-Crummey,
//! 'Contention-conscious, locality-preserving locks', PPoPP 2016). A thread changes the level only
//! after several acquisitions in a row that suggest it.
//!
//! # Where it departs from the paper
//! * There are two levels, and the queues are of the K42 kind, as in [`Hmcs`](crate::Hmcs). The
//!   paper has a second shortcut: an uncontended lock is acquired by one instruction at the root.
//!   Here, this is the thin lock of [`Inflatable`](crate::Inflatable).
//! * In the paper, a thread judges by the neighbours that it finds in its queues. A node in a K42
//!   queue does not know its neighbours. Here, a thread that came by the leaf takes the leaf for
//!   deserted if it had to acquire the root itself. A thread that came by the root takes its leaf
//!   for crowded if the holder before it was of its own node.
//! * A thread keeps one judgement for all locks of this kind, not one for each lock.

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

/// How many acquisitions in a row must suggest the other level before a thread changes to it.
const EVIDENCE_NEEDED: u32 = 4;

/// Where a thread enters the tree, and how many acquisitions in a row have suggested the other
/// level.
#[derive(Debug, Default)]
pub struct AhmcsThread {
    at_the_root: bool,
    evidence: u32,
}

impl AhmcsThread {
    /// Learns whether an acquisition suggested the other level.
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

// SAFETY: this is the cohort lock, which fulfils the contract. A thread that enters at the root
// holds only the global lock, which the cohort lock allows.
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

// SAFETY: the word is that of the cohort lock.
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
