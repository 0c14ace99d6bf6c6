//! The CLH queue lock: each waiter watches the node of the one before it.
//!
//! The queue is implicit: a newcomer exchanges its node for the one in `tail` and waits until
//! that one's owner is done. A release writes one word, which one waiter watches (Craig,
//! 'Building FIFO and priority-queueing spin locks from atomic swap', 1993; Magnussen, Landin
//! and Hagersten, 'Queue locks on cache coherent multiprocessors', IPPS 1994). Compared with MCS
//! a release never has to wait for a successor to link itself.
//!
//! # Where it departs from the papers
//! There, a free lock keeps the node of its last holder in `tail`. Here a release with nobody
//! behind exchanges the tail back to null and keeps its node. So a free lock is all zero and
//! owns no memory, and a try needs not look into a node that may be gone: it succeeds if and
//! only if the tail is null. The price is a compare-and-swap instead of a store in a release
//! without contention; with contention the papers' handover remains. A waiter takes over the
//! node that it watched, as in the papers.

use core::marker::PhantomData;
use core::{fmt, ptr};

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::node_cache::NodeCache;
use crate::signal::{Manner, Signal, Spinning};
use crate::{LockInfo, RawLock, Waiting};

/// A CLH lock whose waiters wait in manner `M`.
pub struct Clh<P: Platform, M: Manner = Spinning> {
    /// The node of the last in the queue, the holder included; null when the lock is free.
    tail: P::Ptr<Node<P>>,
    /// The holder's node, so that any thread can release.
    owner: P::Ptr<Node<P>>,
    manner: PhantomData<M>,
}

/// A place in the queue. Raised when its owner lets the lock go.
struct Node<P: Platform> {
    released: Signal<P>,
}

/// What a thread brings along: spare nodes.
#[derive(Debug)]
pub struct ClhThread<P: Platform> {
    nodes: NodeCache<P, Node<P>>,
}

impl<P: Platform> Default for ClhThread<P> {
    fn default() -> Self {
        Self { nodes: NodeCache::default() }
    }
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "clh",
    title: "CLH queue lock",
    source: "Craig 1993; Magnussen, Landin and Hagersten 1994",
    best_at: "many cores contending, no more threads than cores; fair, shortest handover",
    worst_at: "more threads than cores; waits on memory of another node under NUMA",
    waiting: Waiting::SpinInQueue,
    aliases: &["clh_spin", "clh-ls"],
};

impl<P: Platform> ClhThread<P> {
    /// A node not yet released.
    #[inline]
    fn fresh_node(&mut self) -> *mut Node<P> {
        let node = self.nodes.take(|| Node { released: Signal::new() });
        // SAFETY: the node is ours alone.
        unsafe { (*node).released.reset() };
        node
    }
}

impl<P: Platform, M: Manner> Clh<P, M> {
    #[cold]
    fn wait(before: *mut Node<P>, thread: &mut ClhThread<P>) {
        // SAFETY: the node that was in the tail is its owner's until it is released, and then
        // ours: only we took it out of the tail.
        unsafe {
            (*before).released.wait::<M>();
            thread.nodes.give_back(before);
        }
    }
}

// SAFETY: each exchange of the tail finds null, which only a free lock has, or the node of the one
// before, for whose one raise the newcomer waits. A release takes its node back out of the tail or
// raises it, with release, and does not touch the lock afterwards. Two words, all zeros is free;
// the holder's node is one of them, so that any thread can release.
unsafe impl<P: Platform, M: Manner> RawLock<P> for Clh<P, M> {
    type Thread = ClhThread<P>;

    fn new() -> Self {
        Self {
            tail: P::Ptr::new(ptr::null_mut()),
            owner: P::Ptr::new(ptr::null_mut()),
            manner: PhantomData,
        }
    }

    #[inline]
    fn acquire(&self, thread: &mut ClhThread<P>) {
        let node = thread.fresh_node();
        // Release shows our fresh node to the next in the queue; acquire shows us the node
        // before or, if the lock was free, what its last holder did.
        let before = self.tail.swap(node, Ordering::AcqRel);
        if !before.is_null() {
            Self::wait(before, thread);
        }
        self.owner.store(node, Ordering::Relaxed);
    }

    #[inline]
    fn try_acquire(&self, thread: &mut ClhThread<P>) -> bool {
        if !self.tail.load(Ordering::Relaxed).is_null() {
            return false;
        }
        let node = thread.fresh_node();
        // SAFETY: nobody has seen the node.
        unsafe { thread.nodes.enter_if_free(node, &self.tail, &self.owner) }
    }

    #[inline]
    unsafe fn release(&self, thread: &mut ClhThread<P>) {
        let node = self.owner.load(Ordering::Relaxed);
        let freed =
            self.tail.compare_exchange(node, ptr::null_mut(), Ordering::Release, Ordering::Relaxed);
        // SAFETY: the holder's node. If it was still the tail nobody has seen it and it is
        // spare now; otherwise the one behind waits for it and takes it over once it is raised.
        unsafe {
            if freed.is_ok() {
                thread.nodes.give_back(node);
            } else {
                Signal::raise::<M>(&raw const (*node).released);
            }
        }
    }

    unsafe fn forget_waiters(&self, _thread: &mut ClhThread<P>) {
        // The nodes of the waiters are lost with the threads that owned them.
        let node = self.owner.load(Ordering::Relaxed);
        // One of them may have marked it as what it sleeps on, which the next one to wait would
        // take for its turn.
        // SAFETY: the holder's node; no other thread is there to use it.
        unsafe { (*node).released.reset() };
        self.tail.store(node, Ordering::Relaxed);
    }
}

impl<P: Platform, M: Manner> fmt::Debug for Clh<P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clh")
            .field("tail", &self.tail.load(Ordering::Relaxed))
            .field("owner", &self.owner.load(Ordering::Relaxed))
            .field("parks", &M::PARKS)
            .finish()
    }
}
