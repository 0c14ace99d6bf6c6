//! The compact NUMA-aware queue lock, CNA.
//!
//! The lock is an MCS queue. When the holder releases it, it looks for the first waiter on its own
//! NUMA node, and moves the waiters before that one to a secondary queue. So the lock and the data
//! that it protects stay on one node for a while. When no local waiter is left, and now and then
//! before, the secondary queue goes back to the front (Dice and Kogan, 'Compact NUMA-aware locks',
//! EuroSys 2019). In the paper, the lock is one pointer, however many nodes the machine has. The
//! secondary queue is handed from holder to holder: a waiter that is admitted finds the head of
//! that queue in its own node.
//!
//! # Where it departs from the paper
//! The lock has a second word, the holder's queue node, so that any thread can release it. Queue
//! nodes come from a cache of the thread. A waiter notes its NUMA node before it links itself, and
//! not after. As in the paper, a holder searches for a local waiter only if this handover may pass
//! waiters over.

use core::ptr;

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::node_cache::NodeCache;
use crate::random::Dice;
use crate::{LockInfo, RawLock, Waiting};

/// A compact NUMA-aware lock.
#[derive(Debug)]
pub struct Cna<P: Platform> {
    /// The last node of the main queue, which may be the holder's. Null while the lock is free.
    tail: P::Ptr<Node<P>>,
    /// The queue node of the holder.
    owner: P::Ptr<Node<P>>,
}

/// The queue node of a waiter or of the holder.
struct Node<P: Platform> {
    /// The next node in the main or the secondary queue.
    next: P::Ptr<Node<P>>,
    /// Null while its owner waits. Afterwards [`nobody_passed_over`] or the head of the secondary
    /// queue.
    granted: P::Ptr<Node<P>>,
    /// The last node of the secondary queue. Valid only in the head of that queue.
    secondary_tail: P::Ptr<Node<P>>,
    /// The NUMA node on which the waiter runs, or [`UNKNOWN`].
    numa_node: P::U32,
}

type Link<P> = *mut Node<P>;

/// What a thread keeps: spare nodes, and a random state that decides when a handover has to be
/// fair.
#[derive(Debug)]
pub struct CnaThread<P: Platform> {
    nodes: NodeCache<P, Node<P>>,
    dice: Dice,
}

impl<P: Platform> Default for CnaThread<P> {
    fn default() -> Self {
        Self { nodes: NodeCache::default(), dice: Dice::default() }
    }
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "cna",
    title: "compact NUMA-aware queue lock",
    source: "Dice and Kogan, EuroSys 2019",
    best_at: "many cores on several sockets contending for shared data",
    worst_at: "more threads than cores; short-term fairness between sockets",
    waiting: Waiting::SpinInQueue,
    aliases: &[],
};

/// The NUMA node of a holder that found the lock free: it has not asked where it runs.
const UNKNOWN: u32 = u32::MAX;

/// On average, one handover in this many goes back to the secondary queue. The number is the
/// paper's.
const PASSES_OVER: u32 = 0x1_0000;

/// The value of `granted` that means an empty secondary queue. No node has this address.
fn nobody_passed_over<P: Platform>() -> Link<P> {
    ptr::without_provenance_mut(1)
}

impl<P: Platform> CnaThread<P> {
    #[inline]
    fn fresh_node(&mut self) -> Link<P> {
        let node = self.nodes.take(|| Node {
            next: P::Ptr::new(ptr::null_mut()),
            granted: P::Ptr::new(ptr::null_mut()),
            secondary_tail: P::Ptr::new(ptr::null_mut()),
            numa_node: P::U32::new(UNKNOWN),
        });
        // SAFETY: no other thread knows the node. We set it up as for a thread that finds the lock
        // free; a thread that has to wait overwrites `granted` before it links itself.
        unsafe {
            (*node).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).granted.store(nobody_passed_over(), Ordering::Relaxed);
            (*node).numa_node.store(UNKNOWN, Ordering::Relaxed);
        }
        node
    }

    /// Decides whether this handover may pass waiters over.
    fn may_pass_over(&mut self) -> bool {
        let one_in = if P::CHECKED { 2 } else { PASSES_OVER };
        !self.dice.roll::<P>().is_multiple_of(one_in)
    }
}

impl<P: Platform> Cna<P> {
    /// Waits behind `before`.
    ///
    /// # Safety
    /// The caller has put `node` into the tail, got `before` out of it, and not yet linked the two.
    #[cold]
    unsafe fn wait(node: Link<P>, before: Link<P>) {
        // SAFETY: `before` cannot leave the queue until we have linked ourselves behind it, because
        // its exchange of the tail fails. `node` is ours until we release the lock.
        unsafe {
            (*node).granted.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).numa_node.store(P::node().0, Ordering::Relaxed);
            // Release makes both stores visible to the holder that will look at our node.
            (*before).next.store(node, Ordering::Release);
            P::wait_until(&(*node).granted, Wait::Spin, |granted| !granted.is_null());
        }
    }

    /// Releases the lock when another thread is in one of the queues, or is about to join.
    ///
    /// # Safety
    /// `me` is the holder's node.
    #[cold]
    unsafe fn hand_over(&self, me: Link<P>, thread: &mut CnaThread<P>) {
        // SAFETY: a node in a queue stays until its owner is granted the lock. Only the holder
        // grants it, and we act for the holder. Every path below ends with the grant, which is the
        // last access to the node of the waiter that is admitted.
        unsafe {
            let passed_over = (*me).granted.load(Ordering::Relaxed);
            let somebody_passed_over = passed_over != nobody_passed_over();
            let mut next = (*me).next.load(Ordering::Acquire);
            if next.is_null() {
                if somebody_passed_over && self.main_queue_becomes(me, passed_over) {
                    Self::grant(passed_over, nobody_passed_over());
                    return;
                }
                next = P::wait_until(&(*me).next, Wait::Spin, |next| !next.is_null());
            }
            if thread.may_pass_over()
                && let Some((local, passed_over)) = Self::find_local(me, next, passed_over)
            {
                Self::grant(local, passed_over);
            } else if somebody_passed_over {
                // The secondary queue goes first, and the main queue follows it.
                let last = (*passed_over).secondary_tail.load(Ordering::Relaxed);
                // Relaxed, as in `pass_over`: only later holders read the link, and the grant makes
                // it visible to them.
                (*last).next.store(next, Ordering::Relaxed);
                Self::grant(passed_over, nobody_passed_over());
            } else {
                Self::grant(next, nobody_passed_over());
            }
        }
    }

    /// Makes the secondary queue the main one if no thread has joined behind `me`. Returns whether
    /// it did.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over), and `head` is the head of the secondary queue.
    unsafe fn main_queue_becomes(&self, me: Link<P>, head: Link<P>) -> bool {
        // SAFETY: see `hand_over`. The link of the last node has been null since the node was
        // passed over.
        let last = unsafe { (*head).secondary_tail.load(Ordering::Relaxed) };
        // Release: the next newcomer writes the link of the last node and must find it null.
        // Argued: with a weaker ordering, our store of null could come after the newcomer's store
        // and undo it. No check detects this: in loom, stores take effect in program order.
        self.tail.compare_exchange(me, last, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Returns the first waiter on the NUMA node of `me`, and the head of the secondary queue after
    /// the waiters before it were moved there. Returns `None` if there is no such waiter.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over), and `next` follows `me`.
    unsafe fn find_local(
        me: Link<P>,
        next: Link<P>,
        passed_over: Link<P>,
    ) -> Option<(Link<P>, Link<P>)> {
        // SAFETY: see `hand_over`. The acquire loads of the links make the nodes that they lead to
        // visible.
        unsafe {
            let mut here = (*me).numa_node.load(Ordering::Relaxed);
            if here == UNKNOWN {
                here = P::node().0;
            }
            if (*next).numa_node.load(Ordering::Relaxed) == here {
                return Some((next, passed_over));
            }
            let mut last_remote = next;
            loop {
                let waiter = (*last_remote).next.load(Ordering::Acquire);
                if waiter.is_null() {
                    return None;
                }
                if (*waiter).numa_node.load(Ordering::Relaxed) == here {
                    let head = Self::pass_over(next, last_remote, passed_over);
                    return Some((waiter, head));
                }
                last_remote = waiter;
            }
        }
    }

    /// Appends the waiters from `first` to `last` to the secondary queue and returns its head.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over). The waiters follow each other in the main queue, and
    /// another waiter follows `last`.
    unsafe fn pass_over(first: Link<P>, last: Link<P>, passed_over: Link<P>) -> Link<P> {
        // SAFETY: see `hand_over`. No other thread writes these links, since `last` has a successor
        // already.
        unsafe {
            (*last).next.store(ptr::null_mut(), Ordering::Relaxed);
            let head = if passed_over == nobody_passed_over() {
                first
            } else {
                let end = (*passed_over).secondary_tail.load(Ordering::Relaxed);
                (*end).next.store(first, Ordering::Relaxed);
                passed_over
            };
            (*head).secondary_tail.store(last, Ordering::Relaxed);
            head
        }
    }

    /// Admits `waiter` and hands it the head of the secondary queue.
    ///
    /// # Safety
    /// The caller acts for the holder, and `waiter` waits. Its node may be gone afterwards.
    #[inline]
    unsafe fn grant(waiter: Link<P>, passed_over: Link<P>) {
        // SAFETY: the node of a waiter stays until this store.
        unsafe { (*waiter).granted.store(passed_over, Ordering::Release) };
    }
}

// SAFETY: a newcomer's exchange of the tail returns either null or another node. Null means that
// the lock was free; the newcomer is now its holder. Otherwise the newcomer waits for its grant. A
// release either sets the tail to null or grants the lock to one waiter, with release. That is its
// last access to anything that other threads can reach. The lock has two words, and it is free when
// all its bits are zero. One of the words is the holder's node, so any thread can release the lock.
unsafe impl<P: Platform> RawLock<P> for Cna<P> {
    type Thread = CnaThread<P>;

    fn new() -> Self {
        Self { tail: P::Ptr::new(ptr::null_mut()), owner: P::Ptr::new(ptr::null_mut()) }
    }

    #[inline]
    fn acquire(&self, thread: &mut CnaThread<P>) {
        let node = thread.fresh_node();
        // Release makes our fresh node visible to our successor. Acquire makes visible to us the
        // node of our predecessor or, if the lock was free, what its last holder wrote.
        let before = self.tail.swap(node, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: we have just put the node into the tail.
            unsafe { Self::wait(node, before) };
        }
        self.owner.store(node, Ordering::Relaxed);
    }

    #[inline]
    fn try_acquire(&self, thread: &mut CnaThread<P>) -> bool {
        if !self.tail.load(Ordering::Relaxed).is_null() {
            return false;
        }
        let node = thread.fresh_node();
        // SAFETY: no other thread has seen the node.
        unsafe { thread.nodes.enter_if_free(node, &self.tail, &self.owner) }
    }

    #[inline]
    unsafe fn release(&self, thread: &mut CnaThread<P>) {
        let me = self.owner.load(Ordering::Relaxed);
        // SAFETY: `me` is the holder's node. If the exchange succeeds, no thread is behind it.
        // Otherwise `hand_over` has released the lock. In both cases, no queue leads to the node
        // any more.
        unsafe {
            let alone = (*me).granted.load(Ordering::Relaxed) == nobody_passed_over()
                && (*me).next.load(Ordering::Relaxed).is_null()
                && self
                    .tail
                    .compare_exchange(me, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                    .is_ok();
            if !alone {
                self.hand_over(me, thread);
            }
            thread.nodes.give_back(me);
        }
    }

    unsafe fn forget_waiters(&self, _thread: &mut CnaThread<P>) {
        let me = self.owner.load(Ordering::Relaxed);
        // SAFETY: `me` is the holder's node, and no other thread exists that could use it.
        unsafe {
            (*me).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*me).granted.store(nobody_passed_over(), Ordering::Relaxed);
        }
        self.tail.store(me, Ordering::Relaxed);
    }
}
