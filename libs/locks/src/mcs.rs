//! The MCS queue lock: each waiter watches a word of its own.
//!
//! The waiters form a linked list. To hand the lock over, the holder writes to the cache line that
//! its successor watches, which no other waiter watches. A handover therefore costs the same
//! however many threads wait (Mellor-Crummey and Scott, 'Algorithms for scalable synchronization on
//! shared-memory multiprocessors', TOCS 1991).
//!
//! # Where it departs from the paper
//! In the paper, the caller passes in a queue node, which stays in use from acquire to release.
//! Here, as in the variant of the K42 kernel (Auslander and others, 2003), a node lies on the
//! waiter's stack and is in use only while its thread waits. As soon as a waiter becomes the holder
//! it leaves the queue: it moves the link to its successor from its node into the lock. A holder
//! therefore has no node, any thread can release the lock for it, and nothing is ever allocated.
//!
//! In K42, a newcomer joins the queue by compare-and-swap. Here, a newcomer acquires a free lock by
//! compare-and-swap; if the lock is held, the newcomer joins the queue by exchange, which never
//! fails. The lock consists of the same two words as in K42: `tail` and `next`.
//!
//! # States
//!
//! | `tail` | `next` | meaning |
//! | --- | --- | --- |
//! | null | null | The lock is free. |
//! | `HELD` | null | The lock is held, and no thread waits. |
//! | a node | null | The lock is held, and the first waiter has not yet stored its link. |
//! | a node | a node | The lock is held; `next` is the first waiter, and `tail` is the last. |

use core::fmt;
use core::marker::PhantomData;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform, Wait};

use crate::signal::{Manner, Signal, Spinning};
use crate::{LockInfo, RawLock, Waiting};

/// An MCS lock whose waiters wait in manner `M`.
pub struct Mcs<P: Platform, M: Manner = Spinning> {
    tail: P::Ptr<Node<P>>,
    /// The link from the holder to the first waiter. A thread that starts to wait while no other
    /// waits stores its own link here. A new holder stores the link to its successor here.
    next: P::Ptr<Node<P>>,
    manner: PhantomData<M>,
}

/// The queue node of a waiter. It lies on the waiter's stack, on cache lines of its own.
struct Node<P: Platform> {
    next: P::Ptr<Node<P>>,
    admitted: Signal<P>,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "mcs",
    title: "MCS queue lock",
    source: "Mellor-Crummey and Scott 1991, in the K42 form",
    best_at: "many cores contending, no more threads than cores; fair",
    worst_at: "more threads than cores: the next in line may not be running",
    waiting: Waiting::SpinInQueue,
    aliases: &["mcs_spin", "mcs-ls"],
};

/// The value of `tail` while the lock is held and no thread waits. No node has this address,
/// because nodes are aligned.
fn held<P: Platform>() -> *mut Node<P> {
    ptr::without_provenance_mut(1)
}

impl<P: Platform, M: Manner> Mcs<P, M> {
    #[inline(always)]
    fn take_if_free(&self) -> bool {
        self.tail
            .compare_exchange(ptr::null_mut(), held::<P>(), Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether a thread waits or has just joined the queue. The caller holds the lock.
    #[inline]
    pub(crate) fn has_waiter(&self) -> bool {
        !self.next.load(Ordering::Relaxed).is_null()
            || self.tail.load(Ordering::Relaxed) != held::<P>()
    }

    #[cold]
    fn queue(&self) {
        let node =
            Padded(Node::<P> { next: P::Ptr::new(ptr::null_mut()), admitted: Signal::new() });
        P::with_local(node, |node| self.wait_in_queue(node));
    }

    fn wait_in_queue(&self, node: &Node<P>) {
        let me = ptr::from_ref(node).cast_mut();
        // Release makes our node visible to the newcomer that finds it in the tail. Acquire makes
        // visible to us the node that we find there or, if the lock was free, what its last holder
        // wrote.
        let before = self.tail.swap(me, Ordering::AcqRel);
        if !before.is_null() {
            let link = if before == held::<P>() {
                &self.next
            } else {
                // SAFETY: `before` is the node of a waiter. That waiter cannot return from this
                // function, and so drop its node, before it has seen the link that we are about to
                // store: its compare-and-swap of the tail from its own node to `HELD` fails,
                // because we have replaced its node in the tail. It then waits for our link.
                unsafe { &(*before).next }
            };
            link.store(me, Ordering::Release);
            node.admitted.wait::<M>();
        }
        self.leave_queue(node);
    }

    /// Moves the link to the successor from the new holder's node into the lock, after which no
    /// thread uses the node any more.
    #[inline]
    fn leave_queue(&self, node: &Node<P>) {
        let me = ptr::from_ref(node).cast_mut();
        let mut successor = node.next.load(Ordering::Acquire);
        if successor.is_null() {
            // We must store null before the tail becomes `HELD`: from then on, a newcomer may store
            // its own link here.
            self.next.store(ptr::null_mut(), Ordering::Relaxed);
            // Argued: release orders our store of null before the store of a newcomer that finds
            // `HELD` in the tail and links itself. With a weaker ordering, our null could overwrite
            // the newcomer's link, and the next release would wait for that link for ever. No check
            // detects a weaker ordering here: in loom, stores take effect in program order.
            let left = self.tail.compare_exchange(me, held(), Ordering::Release, Ordering::Relaxed);
            if left.is_ok() {
                return;
            }
            // A newcomer has replaced our node in the tail and is about to link itself to it.
            successor = P::wait_until(&node.next, Wait::Spin, |next| !next.is_null());
        }
        self.next.store(successor, Ordering::Relaxed);
    }

    /// Hands the lock over to the first waiter. If `successor` is null, that waiter has joined the
    /// queue but has not yet stored its link, for which this function waits.
    #[cold]
    fn hand_over(&self, mut successor: *mut Node<P>) {
        if successor.is_null() {
            successor = P::wait_until(&self.next, Wait::Spin, |next| !next.is_null());
        }
        // SAFETY: the successor does not drop its node before its signal is raised, and only the
        // holder, which is the caller, raises that signal.
        unsafe { Signal::raise::<M>(&raw const (*successor).admitted) };
    }
}

// SAFETY: a thread that finds null in the tail replaces it with acquire and becomes the holder.
// Every other thread waits until its own signal is raised. A holder ends its critical section in
// one of two ways, both with release: it sets the tail to null, or it raises the signal of the
// first waiter. It does only one of the two, so there is never more than one holder, and each
// holder sees what the one before it wrote. A release touches neither the lock nor a node
// afterwards. The lock has two words, and it is free when all its bits are zero. The words point to
// waiters only and never tell who the holder is, so any thread can release the lock for it.
unsafe impl<P: Platform, M: Manner> RawLock<P> for Mcs<P, M> {
    type Thread = ();

    fn new() -> Self {
        Self {
            tail: P::Ptr::new(ptr::null_mut()),
            next: P::Ptr::new(ptr::null_mut()),
            manner: PhantomData,
        }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        if !self.take_if_free() {
            self.queue();
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        self.take_if_free()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        // Acquire makes the contents of the node that `next` points to visible to us.
        let successor = self.next.load(Ordering::Acquire);
        if successor.is_null()
            && self
                .tail
                .compare_exchange(held(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                .is_ok()
        {
            return;
        }
        self.hand_over(successor);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        self.tail.store(held(), Ordering::Relaxed);
    }
}

impl<P: Platform, M: Manner> fmt::Debug for Mcs<P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mcs")
            .field("tail", &self.tail.load(Ordering::Relaxed))
            .field("next", &self.next.load(Ordering::Relaxed))
            .field("parks", &M::PARKS)
            .finish()
    }
}
