//! Lock cohorting: a NUMA-aware lock, made of locks that know nothing of NUMA nodes.
//!
//! Each NUMA node has a local lock, and there is one global lock. A thread acquires the local lock
//! of its node and then, for the node, the global lock. If another thread of the node waits, a
//! release keeps the global lock in the node and releases only the local lock. So the lock and the
//! data that it protects stay in one node for a while, and the handover is local. After a fixed
//! number of such passes, the global lock is released so that other nodes get a turn (Dice, Marathe
//! and Shavit, 'Lock cohorting: a general technique for designing NUMA locks', PPoPP 2012). Here it
//! is a hundred unless set otherwise, with which others measured cohort locks.
//!
//! The parts must fulfil two requirements: any thread can release the global lock, and the local
//! lock can tell whether a thread waits for it.
//!
//! # Where it departs from the paper
//! * When the global lock leaves the node, a release frees the local lock first and the global lock
//!   second; in the paper it is the other way round. The next thread of the node may then queue for
//!   the global lock while it is still held. That is allowed, because the global lock is bound to
//!   neither a thread nor a node. And the store that admits the next holder is the last one, after
//!   which the lock may be freed.
//! * Whether the global lock comes with the local lock is not stored in the local lock but in a
//!   word beside it. This word works with every kind of local lock, and it also counts the passes.
//! * The lock records the node of the holder, so that any thread can release.
//! * There are [`NODES`] local locks. On a machine with more nodes, several nodes share one.
//! * All of this is the body of an [`Inflatable`](crate::Inflatable).

use core::fmt;

use kilocore_platform::{Atomic, Ordering, Padded, Platform};

use crate::large::{Body, LargeLock};
use crate::signal::Manner;
use crate::{Mcs, RawLock, Ticket};

/// A lock for the threads of one node.
pub trait LocalLock<P: Platform>: RawLock<P, Thread = ()> {
    /// Whether a thread waits for the lock or is about to. The caller holds the lock.
    fn has_waiter(&self) -> bool;
}

impl<P: Platform, M: Manner> LocalLock<P> for Mcs<P, M> {
    #[inline]
    fn has_waiter(&self) -> bool {
        Mcs::has_waiter(self)
    }
}

impl<P: Platform, const STEP: u32> LocalLock<P> for Ticket<P, STEP> {
    #[inline]
    fn has_waiter(&self) -> bool {
        Ticket::has_waiter(self)
    }
}

/// Number of local locks.
pub(crate) const NODES: usize = 8;

/// A cohort lock with the global lock `G` and local locks `L`. Threads of one node acquire it at
/// most `PASSES` times in a row while others may wait.
pub struct Cohort<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32 = 100> {
    holder: Padded<Holder<P>>,
    global: Padded<G>,
    nodes: [Padded<Node<P, L>>; NODES],
}

/// The data that only holders access.
struct Holder<P: Platform> {
    /// The index in `nodes` of the node that has the global lock. [`ALONE`] is added if the holder
    /// acquired the global lock without a local lock.
    node: P::U32,
    departures: P::U64,
}

/// Added to the holder's node if the holder has no local lock.
const ALONE: u32 = 1 << 31;

/// How a thread came to hold the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// With the local lock, which a thread of the same node handed over together with the global
    /// lock.
    FromNode,
    /// By acquiring the global lock.
    ByGlobalLock,
    /// By acquiring the global lock without a local lock, when the holder before was of the same
    /// node.
    AfterOwnNode,
}

/// The data that the threads of one node share.
struct Node<P: Platform, L> {
    lock: L,
    /// How many holders of this node there have been since the global lock came here, including the
    /// present or next one. 0 if the global lock is not here. Accessed under the local lock.
    in_a_row: P::U32,
}

impl<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32> Cohort<P, G, L, PASSES> {
    /// Acquires the local lock, and also the global lock unless it came along.
    #[inline]
    pub(crate) fn acquire_by_node(&self, thread: &mut G::Thread) -> Entry {
        let place = P::node().0 as usize % NODES;
        let node = &self.nodes[place];
        node.lock.acquire(&mut ());
        if node.in_a_row.load(Ordering::Relaxed) != 0 {
            return Entry::FromNode;
        }
        self.global.acquire(thread);
        node.in_a_row.store(1, Ordering::Relaxed);
        self.holder.node.store(place as u32, Ordering::Relaxed);
        Entry::ByGlobalLock
    }

    /// Acquires the global lock only.
    #[inline]
    pub(crate) fn acquire_globally(&self, thread: &mut G::Thread) -> Entry {
        let place = P::node().0 % NODES as u32;
        self.global.acquire(thread);
        let before = self.holder.node.load(Ordering::Relaxed) & !ALONE;
        self.holder.node.store(place | ALONE, Ordering::Relaxed);
        if before == place { Entry::AfterOwnNode } else { Entry::ByGlobalLock }
    }
}

// SAFETY: a holder has acquired the global lock, or got it from the last holder of its node
// together with the local lock. `in_a_row` says which, and it is only written under the local lock.
// So there is never more than one holder. A release frees one or both locks, and last the one that
// admits the next holder.
unsafe impl<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32> LargeLock<P>
    for Cohort<P, G, L, PASSES>
{
    type Thread = G::Thread;

    fn new() -> Self {
        let node = |_| Padded(Node { lock: L::new(), in_a_row: P::U32::new(0) });
        Self {
            holder: Padded(Holder { node: P::U32::new(0), departures: P::U64::new(0) }),
            global: Padded(G::new()),
            nodes: core::array::from_fn(node),
        }
    }

    #[inline]
    fn acquire(&self, thread: &mut G::Thread) {
        self.acquire_by_node(thread);
    }

    #[inline]
    unsafe fn release(&self, thread: &mut G::Thread) {
        let place = self.holder.node.load(Ordering::Relaxed);
        if place & ALONE != 0 {
            // SAFETY: the holder has only the global lock, and the caller acts for it.
            unsafe { self.global.release(thread) };
            return;
        }
        let node = &self.nodes[place as usize];
        let most = if P::CHECKED { 2 } else { PASSES };
        let in_a_row = node.in_a_row.load(Ordering::Relaxed);
        let stays = in_a_row < most && node.lock.has_waiter();
        node.in_a_row.store(if stays { in_a_row + 1 } else { 0 }, Ordering::Relaxed);
        // SAFETY: the local lock of the holder's node is held, and the caller acts for the holder.
        // The global lock is held until it is released here. If it stays with the node, the release
        // of the local lock is the last access. Otherwise the release of the global lock is; before
        // it, no other thread can hold both locks.
        unsafe {
            node.lock.release(&mut ());
            if !stays {
                self.global.release(thread);
            }
        }
    }
}

// SAFETY: it is a word of its own, which the code above does not access.
unsafe impl<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32> Body<P>
    for Cohort<P, G, L, PASSES>
{
    fn departures(&self) -> &P::U64 {
        &self.holder.departures
    }
}

impl<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32> fmt::Debug
    for Cohort<P, G, L, PASSES>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.holder.node.load(Ordering::Relaxed);
        f.debug_struct("Cohort").field("node", &node).finish_non_exhaustive()
    }
}
