//! The compact NUMA-aware queue lock, CNA.
//!
//! An MCS queue whose holder, when it lets go, looks for the first waiter on its own NUMA node
//! and moves those it passes over to a secondary queue, so that the lock and the data it
//! protects stay on one node for a while. Now and then, and when no local waiter is left, the
//! secondary queue goes back to the front (Dice and Kogan, 'Compact NUMA-aware locks', EuroSys
//! 2019). The lock is one pointer however many nodes there are; the secondary queue travels
//! through the waiters' nodes: whoever is admitted finds in its node the head of that queue.
//!
//! # Where it departs from the paper
//! The lock has a second word, the holder's node, so that any thread can release; nodes come
//! from a cache of the thread. A waiter notes its NUMA node before it links itself and not
//! after; the search for a local waiter starts only where the chance to pass others over is
//! given, as in the paper.

use core::ptr;

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::node_cache::NodeCache;
use crate::random::Dice;
use crate::{LockInfo, RawLock, Waiting};

/// A compact NUMA-aware lock.
#[derive(Debug)]
pub struct Cna<P: Platform> {
    /// The last node of the main queue, the holder's included; null when the lock is free.
    tail: P::Ptr<Node<P>>,
    /// The holder's node.
    owner: P::Ptr<Node<P>>,
}

/// A waiter or holder.
struct Node<P: Platform> {
    /// The one behind in the main or the secondary queue.
    next: P::Ptr<Node<P>>,
    /// Null while waiting; then [`nobody_passed_over`] or the head of the secondary queue.
    granted: P::Ptr<Node<P>>,
    /// In the head of the secondary queue: its last node.
    secondary_tail: P::Ptr<Node<P>>,
    /// Where the waiter runs, or [`UNKNOWN`].
    numa_node: P::U32,
}

type Link<P> = *mut Node<P>;

/// What a thread brings along: spare nodes, and dice for the fairness of its handovers.
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

/// A holder that took the lock free has not asked where it runs.
const UNKNOWN: u32 = u32::MAX;

/// One handover in this many, on average, goes back to those passed over: the paper's figure.
const PASSES_OVER: u32 = 0x1_0000;

/// The grant that comes with an empty secondary queue. No node has this address.
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
        // SAFETY: the node is ours alone. It is set up as for a free lock; a waiter overwrites
        // the grant before it links itself.
        unsafe {
            (*node).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).granted.store(nobody_passed_over(), Ordering::Relaxed);
            (*node).numa_node.store(UNKNOWN, Ordering::Relaxed);
        }
        node
    }

    /// Whether this handover may pass waiters over.
    fn may_pass_over(&mut self) -> bool {
        let one_in = if P::CHECKED { 2 } else { PASSES_OVER };
        !self.dice.roll::<P>().is_multiple_of(one_in)
    }
}

impl<P: Platform> Cna<P> {
    /// Waits behind `before`.
    ///
    /// # Safety
    /// `node` was exchanged for `before` in the tail by the caller, and not linked yet.
    #[cold]
    unsafe fn wait(node: Link<P>, before: Link<P>) {
        // SAFETY: `before` cannot leave the queue until somebody is linked behind it, because
        // its exchange of the tail fails; `node` is ours until we let the lock go.
        unsafe {
            (*node).granted.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).numa_node.store(P::node().0, Ordering::Relaxed);
            // Release shows both stores to the holder that will look at the node.
            (*before).next.store(node, Ordering::Release);
            P::wait_until(&(*node).granted, Wait::Spin, |granted| !granted.is_null());
        }
    }

    /// Lets go when there are, or are about to be, others in one of the queues.
    ///
    /// # Safety
    /// `me` is the holder's node.
    #[cold]
    unsafe fn hand_over(&self, me: Link<P>, thread: &mut CnaThread<P>) {
        // SAFETY: nodes in the queues stay until they are granted the lock, which only the
        // holder does, and it is we who act for the holder. The last access to a waiter's node
        // is the grant, which every path below ends with.
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
                // Those passed over first, then the main queue behind them.
                let last = (*passed_over).secondary_tail.load(Ordering::Relaxed);
                // Relaxed, as in `pass_over`: only later holders read the link, whom the grant shows it.
                (*last).next.store(next, Ordering::Relaxed);
                Self::grant(passed_over, nobody_passed_over());
            } else {
                Self::grant(next, nobody_passed_over());
            }
        }
    }

    /// Makes the secondary queue the main one, unless somebody has joined behind `me`.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over), and `head` is the secondary queue's.
    unsafe fn main_queue_becomes(&self, me: Link<P>, head: Link<P>) -> bool {
        // SAFETY: see `hand_over`. The last node's link is null since it was moved over.
        let last = unsafe { (*head).secondary_tail.load(Ordering::Relaxed) };
        // Release: the next newcomer writes that link and must find it in this state. Argued: or the
        // null that is there now could come after the newcomer's link and undo it. loom has stores
        // take effect in the order in which they are made.
        self.tail.compare_exchange(me, last, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The first waiter on the NUMA node of `me`, and the secondary queue once those before it
    /// were moved there.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over); `next` follows `me`.
    unsafe fn find_local(
        me: Link<P>,
        next: Link<P>,
        passed_over: Link<P>,
    ) -> Option<(Link<P>, Link<P>)> {
        // SAFETY: see `hand_over`; acquire loads of the links show the nodes they lead to.
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
    /// As for [`hand_over`](Self::hand_over); the waiters follow each other and another one
    /// follows them.
    unsafe fn pass_over(first: Link<P>, last: Link<P>, passed_over: Link<P>) -> Link<P> {
        // SAFETY: see `hand_over`. Nobody else writes these links: `last` has its successor.
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

    /// Admits `waiter` and tells it who was passed over.
    ///
    /// # Safety
    /// The caller acts for the holder, and `waiter` waits. Its node may be gone afterwards.
    #[inline]
    unsafe fn grant(waiter: Link<P>, passed_over: Link<P>) {
        // SAFETY: a waiter's node stays until this store.
        unsafe { (*waiter).granted.store(passed_over, Ordering::Release) };
    }
}

// SAFETY: each exchange of the tail finds null, which only a free lock has, or the newcomer waits
// for the one grant that the holder gives, with release, to one waiter. Freeing the tail, or the
// grant, is the last access to what others can reach. Two words, all zeros is free; the holder's
// node is one of them, so that any thread can release.
unsafe impl<P: Platform> RawLock<P> for Cna<P> {
    type Thread = CnaThread<P>;

    fn new() -> Self {
        Self { tail: P::Ptr::new(ptr::null_mut()), owner: P::Ptr::new(ptr::null_mut()) }
    }

    #[inline]
    fn acquire(&self, thread: &mut CnaThread<P>) {
        let node = thread.fresh_node();
        // Release shows the fresh node to the one that comes behind; acquire shows us the node
        // before or, if the lock was free, what its last holder did.
        let before = self.tail.swap(node, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: we have just put the node there.
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
        // SAFETY: nobody has seen the node.
        unsafe { thread.nodes.enter_if_free(node, &self.tail, &self.owner) }
    }

    #[inline]
    unsafe fn release(&self, thread: &mut CnaThread<P>) {
        let me = self.owner.load(Ordering::Relaxed);
        // SAFETY: `me` is the holder's node, and nobody is behind it when the exchange
        // succeeds. After either way to let go, no queue leads to it any more.
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
        // SAFETY: the holder's node; no other thread is there to use it.
        unsafe {
            (*me).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*me).granted.store(nobody_passed_over(), Ordering::Relaxed);
        }
        self.tail.store(me, Ordering::Relaxed);
    }
}
