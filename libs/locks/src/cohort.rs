//! Lock cohorting: a NUMA-aware lock out of two locks that know nothing of nodes.
//!
//! Each NUMA node has a local lock, and there is one global lock. Who wants in takes the lock of
//! its node and then, for its node, the global one. A release leaves the global lock with the
//! node, if somebody waits there, and passes on the local one only: so the lock and the data
//! that it protects stay in one node for a while, and the handover is a local one. After so many
//! passes the global lock is let go, for the sake of the other nodes (Dice, Marathe and Shavit,
//! 'Lock cohorting: a general technique for designing NUMA locks', PPoPP 2012).
//!
//! What it asks of its parts: any thread may release the global lock, and the local one can tell
//! whether somebody waits for it.
//!
//! # Where it departs from the paper
//! * A release that lets the global lock go first frees the local lock and then the global one,
//!   not the other way round. The next of the node may already queue for the global lock while
//!   it is still held, which its being free of thread and node allows; and the store that lets
//!   the next holder in is the last one, after which the lock may be gone.
//! * Whether the global lock comes with the local one is not in the local lock's own state but
//!   in a word beside it, which serves all kinds of local lock and counts the passes as well.
//! * The node whose lock is held is noted, so that any thread can release.
//! * There are [`NODES`] local locks; on a machine with more nodes, several share one.
//! * All of this is the body of an [`Inflatable`](crate::Inflatable).

use core::fmt;

use kilocore_platform::{Atomic, Ordering, Padded, Platform};

use crate::large::{Body, LargeLock};
use crate::signal::Manner;
use crate::{Mcs, RawLock, Ticket};

/// A lock for the threads of one node.
pub trait LocalLock<P: Platform>: RawLock<P, Thread = ()> {
    /// Whether somebody waits for the lock, or is about to. The caller holds it.
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

/// Local locks.
pub(crate) const NODES: usize = 8;

/// A cohort lock with the global lock `G`, local locks `L`, and at most `PASSES` acquisitions of
/// one node in a row while others may wait.
pub struct Cohort<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32 = 100> {
    holder: Padded<Holder<P>>,
    global: Padded<G>,
    nodes: [Padded<Node<P, L>>; NODES],
}

/// What only holders touch.
struct Holder<P: Platform> {
    /// The place in `nodes` of the node that has the global lock; [`ALONE`] besides, if the
    /// holder took it without a local lock.
    node: P::U32,
    departures: P::U64,
}

/// Added to the holder's node.
const ALONE: u32 = 1 << 31;

/// How a thread came to hold a cohort lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// With the local lock, from another thread of its node.
    FromNode,
    /// By the global lock.
    ByGlobalLock,
    /// By the global lock alone, after a holder of its own node.
    AfterOwnNode,
}

/// What the threads of one node share.
struct Node<P: Platform, L> {
    lock: L,
    /// Under the local lock: how many holders of this node the global lock has seen since it
    /// came here, those past and the one to come; 0 if it is not here.
    in_a_row: P::U32,
}

impl<P: Platform, G: LargeLock<P>, L: LocalLock<P>, const PASSES: u32> Cohort<P, G, L, PASSES> {
    /// Acquires the local lock, and the global one if it does not come along.
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

    /// Acquires the global lock alone.
    #[inline]
    pub(crate) fn acquire_globally(&self, thread: &mut G::Thread) -> Entry {
        let place = P::node().0 % NODES as u32;
        self.global.acquire(thread);
        let before = self.holder.node.load(Ordering::Relaxed) & !ALONE;
        self.holder.node.store(place | ALONE, Ordering::Relaxed);
        if before == place { Entry::AfterOwnNode } else { Entry::ByGlobalLock }
    }
}

// SAFETY: a holder has the global lock, or got it from the last holder of its node together with
// the node's lock, under which alone `in_a_row` is written: so two never have it. A release lets
// go of one or both, the one that lets the next holder in last.
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
            // SAFETY: the holder has the global lock alone, and the caller acts for it.
            unsafe { self.global.release(thread) };
            return;
        }
        let node = &self.nodes[place as usize];
        let most = if P::CHECKED { 2 } else { PASSES };
        let in_a_row = node.in_a_row.load(Ordering::Relaxed);
        let stays = in_a_row < most && node.lock.has_waiter();
        node.in_a_row.store(if stays { in_a_row + 1 } else { 0 }, Ordering::Relaxed);
        // SAFETY: the holder's node's lock is held, and the caller acts for the holder; so is
        // the global lock, until it is let go here. If it stays, the local release is the last
        // access; otherwise the global one is, before which nobody else can hold both.
        unsafe {
            node.lock.release(&mut ());
            if !stays {
                self.global.release(thread);
            }
        }
    }
}

// SAFETY: it is a word of its own, which nothing above touches.
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
