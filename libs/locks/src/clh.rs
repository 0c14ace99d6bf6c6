//! The CLH queue lock: each waiter watches the node of its predecessor.
//!
//! The nodes of the queue contain no links. A newcomer puts its own node into `tail` by an
//! exchange, which returns the node of its predecessor. It then waits until the predecessor
//! releases the lock. A release writes one word, which only one waiter watches (Craig, 'Building
//! FIFO and priority-queueing spin locks from atomic swap', 1993; Magnussen, Landin and Hagersten,
//! 'Queue locks on cache coherent multiprocessors', IPPS 1994). In an MCS lock, a release may have
//! to wait until its successor has stored a link; in a CLH lock it never waits.
//!
//! # Where it departs from the papers
//! In the papers, `tail` of a free lock still points to the node of the last holder. Here, a holder
//! that has no waiter behind it sets `tail` back to null when it releases, and keeps its node. This
//! has two advantages. A free lock is all zeros and owns no memory. And `try_acquire` need not read
//! a node that may have been freed: the lock is free if and only if `tail` is null. The price is
//! that a release without contention needs a compare-and-swap instead of a store. Under contention
//! the lock is handed over as in the papers, and, also as there, a waiter takes over the node that
//! it watched.
//!
//! # States
//!
//! | `tail` | meaning |
//! | --- | --- |
//! | null | The lock is free. |
//! | the holder's node | The lock is held, and no thread waits. |
//! | another node | The lock is held; the node is that of the last waiter. |

use core::marker::PhantomData;
use core::{fmt, ptr};

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::node_cache::NodeCache;
use crate::signal::{Manner, Signal, Spinning};
use crate::{LockInfo, RawLock, Waiting};

/// A CLH lock whose waiters wait in manner `M`.
pub struct Clh<P: Platform, M: Manner = Spinning> {
    /// The node of the thread that joined the queue last, which may be the holder itself. Null
    /// while the lock is free.
    tail: P::Ptr<Node<P>>,
    /// The holder's node. It is stored here so that any thread can release the lock.
    owner: P::Ptr<Node<P>>,
    manner: PhantomData<M>,
}

/// A place in the queue. Its signal is raised when its owner releases the lock.
struct Node<P: Platform> {
    released: Signal<P>,
}

/// The spare nodes of a thread.
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
    /// Returns a node of our own whose signal is not raised.
    #[inline]
    fn fresh_node(&mut self) -> *mut Node<P> {
        let node = self.nodes.take(|| Node { released: Signal::new() });
        // SAFETY: the node is ours, and no other thread knows of it.
        unsafe { (*node).released.reset() };
        node
    }
}

impl<P: Platform, M: Manner> Clh<P, M> {
    #[cold]
    fn wait(before: *mut Node<P>, thread: &mut ClhThread<P>) {
        // SAFETY: `before` is the node that our exchange took out of the tail. It belongs to our
        // predecessor until the predecessor raises its signal. From then on it belongs to us,
        // because no other thread received it from the tail.
        unsafe {
            (*before).released.wait::<M>();
            thread.nodes.give_back(before);
        }
    }
}

// SAFETY: a newcomer's exchange of the tail returns either null or the node of its predecessor.
// Null means that the lock was free; the newcomer is now its holder. Otherwise the newcomer waits
// until the signal of that node is raised, which happens once. A release either sets the tail from
// the holder's node to null or raises the signal of that node. It does only one of the two, and
// does so with release, so there is never more than one holder, and each holder sees what the one
// before it wrote. A release does not touch the lock afterwards. The lock has two words, and it is
// free when all its bits are zero. One of the words is the holder's node, so any thread can release
// the lock.
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
        // Release makes our fresh node visible to our successor. Acquire makes visible to us the
        // node of our predecessor or, if the lock was free, what its last holder wrote.
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
        // SAFETY: no other thread has seen the node.
        unsafe { thread.nodes.enter_if_free(node, &self.tail, &self.owner) }
    }

    #[inline]
    unsafe fn release(&self, thread: &mut ClhThread<P>) {
        let node = self.owner.load(Ordering::Relaxed);
        let freed =
            self.tail.compare_exchange(node, ptr::null_mut(), Ordering::Release, Ordering::Relaxed);
        // SAFETY: `node` is the holder's node. If it was still the tail, no thread watches it and
        // it can be reused. Otherwise our successor watches it; we raise its signal, after which
        // the node belongs to the successor and we do not touch it.
        unsafe {
            if freed.is_ok() {
                thread.nodes.give_back(node);
            } else {
                Signal::raise::<M>(&raw const (*node).released);
            }
        }
    }

    unsafe fn forget_waiters(&self, _thread: &mut ClhThread<P>) {
        // The waiters do not exist any more, and the memory of their nodes is lost.
        let node = self.owner.load(Ordering::Relaxed);
        // A waiter may have set the signal of the holder's node to `PARKED` before it went to
        // sleep. The next waiter on this node would fail to change the signal from `WAITING` to
        // `PARKED`, take that failure for a raised signal, and enter. So the signal has to be
        // reset.
        // SAFETY: `node` is the holder's node, and no other thread of this process uses it.
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
