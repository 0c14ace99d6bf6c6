//! The MCS queue lock: each waiter watches a word of its own.
//!
//! Waiters form a linked list; the holder's release writes to the one cache line that its
//! successor watches and to no other, so a handover costs the same however many wait
//! (Mellor-Crummey and Scott, 'Algorithms for scalable synchronization on shared-memory
//! multiprocessors', TOCS 1991).
//!
//! # Where it departs from the paper
//! The paper's caller brings a queue node that lives from acquire to release. Here, as in the
//! variant of the K42 kernel (Auslander and others, 2003), the node lives on the waiter's stack
//! and only while it waits: a new holder leaves the queue at once by moving the link to its
//! successor into the lock. So a holder has no node, any thread can release for it, and nothing
//! is ever allocated. K42 joins the queue by compare-and-swap; here a newcomer takes a free lock
//! by compare-and-swap and otherwise joins by exchange, which never fails. The queue has the
//! same two words as K42's: `tail` and `next`.
//!
//! # States
//!
//! | `tail` | `next` | meaning |
//! | --- | --- | --- |
//! | null | null | free |
//! | `HELD` | null | held, and nobody waits |
//! | a node | null | held, and the first waiter has not yet linked itself |
//! | a node | a node | held; `next` is the first waiter and `tail` the last |

use core::fmt;
use core::marker::PhantomData;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform, Wait};

use crate::signal::{Manner, Signal, Spinning};
use crate::{LockInfo, RawLock, Waiting};

/// An MCS lock whose waiters wait in manner `M`.
pub struct Mcs<P: Platform, M: Manner = Spinning> {
    tail: P::Ptr<Node<P>>,
    /// The link from the holder to the first waiter. Written by the first waiter if there was
    /// none, otherwise by each new holder.
    next: P::Ptr<Node<P>>,
    manner: PhantomData<M>,
}

/// A waiter, on its own stack, padded.
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

/// The tail of a queue in which nobody waits, of a lock that is held. Not the address of any
/// node, because nodes are aligned.
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

    /// Whether somebody waits, or is about to. The caller holds the lock.
    #[inline]
    pub(crate) fn has_waiter(&self) -> bool {
        !self.next.load(Ordering::Relaxed).is_null()
            || self.tail.load(Ordering::Relaxed) != held::<P>()
    }

    #[cold]
    fn queue(&self) {
        let node =
            Padded(Node::<P> { next: P::Ptr::new(ptr::null_mut()), admitted: Signal::new() });
        let me = ptr::from_ref(&*node).cast_mut();
        // Release shows the node to whoever finds it in the tail; acquire shows us the node
        // that was there or, if the lock was free, what its last holder did.
        let before = self.tail.swap(me, Ordering::AcqRel);
        if !before.is_null() {
            let link = if before == held::<P>() {
                &self.next
            } else {
                // SAFETY: `before` is a waiter's node. It stays until that waiter has seen a
                // successor linked, since its exchange of the tail back to `HELD` fails.
                unsafe { &(*before).next }
            };
            link.store(me, Ordering::Release);
            node.admitted.wait::<M>();
        }
        self.leave_queue(&node);
    }

    /// Makes the new holder's node superfluous.
    #[inline]
    fn leave_queue(&self, node: &Node<P>) {
        let me = ptr::from_ref(node).cast_mut();
        let mut successor = node.next.load(Ordering::Acquire);
        if successor.is_null() {
            // Before the tail is `HELD` again, for from then on the first waiter writes it.
            self.next.store(ptr::null_mut(), Ordering::Relaxed);
            // Argued: release keeps that store before the one of the newcomer who finds `HELD`. Else
            // it could undo the newcomer's link. loom has stores take effect in the order in which
            // they are made.
            let left = self.tail.compare_exchange(me, held(), Ordering::Release, Ordering::Relaxed);
            if left.is_ok() {
                return;
            }
            // Somebody has exchanged the tail and is about to link itself to this node.
            successor = P::wait_until(&node.next, Wait::Spin, |next| !next.is_null());
        }
        self.next.store(successor, Ordering::Relaxed);
    }

    /// Lets a lock go that has, or is about to have, a waiter.
    #[cold]
    fn hand_over(&self, mut successor: *mut Node<P>) {
        if successor.is_null() {
            successor = P::wait_until(&self.next, Wait::Spin, |next| !next.is_null());
        }
        // SAFETY: the successor's node stays on its stack until the signal is raised, and only
        // the holder raises it.
        unsafe { Signal::raise::<M>(&raw const (*successor).admitted) };
    }
}

// SAFETY: the tail leaves null only to a holder, by an exchange with acquire, and everybody else
// waits for the one signal that a holder raises, with release, for the first in the queue. A
// release frees the tail or raises that signal, and touches nothing afterwards. Two words, all
// zeros is free, and they name nobody but waiters.
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
        // Acquire shows the node that is linked here.
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
