//! The time-published MCS queue lock, MCS-TP: it passes over waiters that are not running.
//!
//! A queue lock that hands over in strict order may have to wait for a thread that has lost its
//! core. Here, each waiter keeps publishing the time in its queue node. If a release finds an old
//! time in the node of the next waiter, it takes this waiter for preempted, removes it from the
//! queue and goes on to the one behind. When the removed waiter runs again, it notices this and
//! queues anew (He, Scherer and Scott, 'Preemption adaptivity in time-published queue-based spin
//! locks', HiPC 2005).
//!
//! # Where it departs from the paper
//! * The queue is of the K42 kind of [`Mcs`](crate::Mcs), so the holder has no node in it and any
//!   thread can release. A removed node belongs to its owner again as soon as it is marked.
//! * A waiter never gives up by itself: a mutex does not need the time-outs of the paper.
//! * In the paper, waiters yield their core when the holder has been inside for so long that it was
//!   probably preempted. The two words of the lock have no room for the time of entry. Here, a
//!   waiter yields when it has itself waited for long, as in all spinning locks.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform, Wait};

use crate::{LockInfo, RawLock, Waiting};

/// A time-published MCS lock. The states are those of [`Mcs`](crate::Mcs).
pub struct McsTp<P: Platform> {
    tail: P::Ptr<Node<P>>,
    /// The link from the holder to the first waiter.
    next: P::Ptr<Node<P>>,
}

/// The queue node of a waiter. It lies on the waiter's stack, on cache lines of its own.
struct Node<P: Platform> {
    next: P::Ptr<Node<P>>,
    /// [`WAITING`], [`ADMITTED`] or [`REMOVED`].
    state: P::U32,
    /// The time at which its owner last ran. Checkers have no clock; there, it is 1 once its owner
    /// has looked at the state.
    published: P::U64,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "mcs-tp",
    title: "time-published MCS queue lock: passes over waiters that are not running",
    source: "He, Scherer and Scott, HiPC 2005",
    best_at: "many cores contending, somewhat more threads than cores",
    worst_at: "waiting costs energy and writes; far more threads than cores",
    waiting: Waiting::SpinInQueue,
    aliases: &["mcs-timepub"],
};

const WAITING: u32 = 0;
const ADMITTED: u32 = 1;
const REMOVED: u32 = 2;

/// Turns of a spin loop between two looks of a waiter.
const TURNS_BETWEEN_LOOKS: u32 = 1;
/// How many looks a waiter takes from one publication of the time to the next. It publishes often
/// enough for [`ABSENT_AFTER`].
const LOOKS_PER_PUBLICATION: u32 = 16;
/// How many looks a waiter takes before it first offers its core to other threads, and between
/// later offers. They take a good part of a millisecond.
const LOOKS_BEFORE_YIELD: u32 = 4_096;
/// A waiter whose published time is older than this number of cycles is taken to have lost its
/// core. It is some ten microseconds, far more than the time between two publications and far less
/// than a time slice.
const ABSENT_AFTER: u64 = 25_000;

/// The value of `tail` while the lock is held and no thread waits. No node has this address,
/// because nodes are aligned.
fn held<P: Platform>() -> *mut Node<P> {
    ptr::without_provenance_mut(1)
}

/// Returns what a waiter publishes before it first looks at its state.
fn first_publication<P: Platform>() -> u64 {
    if P::CHECKED { 0 } else { P::now().0 }
}

impl<P: Platform> Node<P> {
    fn new() -> Padded<Self> {
        Padded(Self {
            next: P::Ptr::new(ptr::null_mut()),
            state: P::U32::new(WAITING),
            published: P::U64::new(first_publication::<P>()),
        })
    }

    /// Waits until the waiter is admitted (returns true) or removed from the queue (returns false).
    fn wait(&self) -> bool {
        let mut looks = 0u32;
        loop {
            // Acquire pairs with the release that admitted us.
            let state = self.state.load(Ordering::Acquire);
            if state != WAITING {
                return state == ADMITTED;
            }
            if P::CHECKED {
                if looks == 0 {
                    self.published.store(1, Ordering::Relaxed);
                }
            } else if looks.is_multiple_of(LOOKS_PER_PUBLICATION) {
                self.published.store(P::now().0, Ordering::Relaxed);
            }
            looks = looks.wrapping_add(1);
            P::pause(TURNS_BETWEEN_LOOKS);
            if looks.is_multiple_of(LOOKS_BEFORE_YIELD) {
                P::yield_now();
            }
        }
    }

    /// Whether the waiter seems not to be running.
    fn is_absent(&self) -> bool {
        let published = self.published.load(Ordering::Relaxed);
        if P::CHECKED {
            return published == 0;
        }
        // The clocks of two cores may differ a little. A time ahead of ours counts as recent.
        P::now().0.saturating_sub(published) > ABSENT_AFTER
    }
}

impl<P: Platform> McsTp<P> {
    #[inline(always)]
    fn take_if_free(&self) -> bool {
        self.tail
            .compare_exchange(ptr::null_mut(), held::<P>(), Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn queue(&self) {
        while !P::with_local(Node::<P>::new(), |node| self.wait_in_queue(node)) {}
    }

    /// Waits with a new node at the end of the queue. Returns true once it holds the lock, or false if
    /// it was removed from the queue.
    fn wait_in_queue(&self, node: &Node<P>) -> bool {
        // Release makes our node visible to the newcomer that finds it in the tail. Acquire makes
        // visible to us the node that we find there or, if the lock was free, what its last holder
        // wrote.
        let before = self.tail.swap(ptr::from_ref(node).cast_mut(), Ordering::AcqRel);
        let admitted = before.is_null() || self.wait_behind(before, node);
        if admitted {
            self.leave_queue(node);
        }
        admitted
    }

    /// Links `node` behind `before` and waits until it is admitted (returns true) or removed
    /// (returns false).
    fn wait_behind(&self, before: *mut Node<P>, node: &Node<P>) -> bool {
        let link = if before == held::<P>() {
            &self.next
        } else {
            // SAFETY: `before` is the node of a waiter. It stays until another node is linked
            // behind it, since the exchange that would take it out of the tail fails.
            unsafe { &(*before).next }
        };
        link.store(ptr::from_ref(node).cast_mut(), Ordering::Release);
        node.wait()
    }

    /// Moves the link to the successor from the new holder's node into the lock, after which no
    /// thread uses the node any more.
    #[inline]
    fn leave_queue(&self, node: &Node<P>) {
        if let Some(successor) = self.unlink(node) {
            self.next.store(successor, Ordering::Relaxed);
        }
    }

    /// Removes `node`, the first of the queue, and returns the one behind it. If there is none,
    /// sets the lock's link to null and its tail to `HELD`, and returns `None`. The caller acts for
    /// the holder.
    fn unlink(&self, node: &Node<P>) -> Option<*mut Node<P>> {
        let successor = node.next.load(Ordering::Acquire);
        if !successor.is_null() {
            return Some(successor);
        }
        // We must store null before the tail becomes `HELD`: from then on, the first waiter writes
        // this link.
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        let node_address = ptr::from_ref(node).cast_mut();
        // Argued: release orders our store of null before the store of a newcomer that finds `HELD`
        // in the tail. With a weaker ordering, our null could overwrite the newcomer's link. No
        // check detects this: in loom, stores take effect in program order.
        let left =
            self.tail.compare_exchange(node_address, held(), Ordering::Release, Ordering::Relaxed);
        if left.is_ok() {
            return None;
        }
        // A newcomer has replaced our node in the tail and is about to link itself to it.
        Some(P::wait_until(&node.next, Wait::Spin, |next| !next.is_null()))
    }

    /// Frees the lock if no thread waits. Returns whether it did.
    #[inline]
    fn set_free(&self) -> bool {
        self.tail
            .compare_exchange(held(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Admits the first waiter that seems to be running, and removes the waiters before it.
    #[cold]
    fn hand_over(&self, mut successor: *mut Node<P>) {
        loop {
            if successor.is_null() {
                successor = P::wait_until(&self.next, Wait::Spin, |next| !next.is_null());
            }
            // SAFETY: the node of a waiter stays until its state changes. Only the holder changes
            // the state, and we act for the holder. Below, that change is the last access to the
            // node.
            let node = unsafe { &*successor };
            if !node.is_absent() {
                node.state.store(ADMITTED, Ordering::Release);
                return;
            }
            let behind = self.unlink(node);
            // Release: the node is out of the queue before its owner may use it again.
            node.state.store(REMOVED, Ordering::Release);
            match behind {
                Some(waiter) => successor = waiter,
                None if self.set_free() => return,
                None => successor = ptr::null_mut(),
            }
        }
    }
}

// SAFETY: as in `Mcs`, a thread that finds null in the tail becomes the holder, and the holder
// admits one of the others. A removed waiter is not in the queue any more and starts anew. The last
// access of a release is the store that frees the tail or admits a waiter. The lock has two words,
// it is free when all its bits are zero, and the words point to waiters only.
unsafe impl<P: Platform> RawLock<P> for McsTp<P> {
    type Thread = ();

    fn new() -> Self {
        Self { tail: P::Ptr::new(ptr::null_mut()), next: P::Ptr::new(ptr::null_mut()) }
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
        if !successor.is_null() || !self.set_free() {
            self.hand_over(successor);
        }
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        self.tail.store(held(), Ordering::Relaxed);
    }
}

impl<P: Platform> fmt::Debug for McsTp<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McsTp")
            .field("tail", &self.tail.load(Ordering::Relaxed))
            .field("next", &self.next.load(Ordering::Relaxed))
            .finish()
    }
}
