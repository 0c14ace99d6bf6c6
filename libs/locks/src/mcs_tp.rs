//! The time-published MCS queue lock, MCS-TP: who is not running is passed over.
//!
//! A queue lock that hands over in strict order waits for a thread that has lost its core. Here
//! each waiter keeps publishing the time in its queue node; a release that finds the next in
//! line with an old time takes it for preempted, removes it from the queue and goes on to the
//! one behind. The removed waiter finds that out when it runs again, and queues anew (He,
//! Scherer and Scott, 'Preemption adaptivity in time-published queue-based spin locks', HiPC
//! 2005).
//!
//! # Where it departs from the paper
//! * The queue is of the K42 kind of [`Mcs`](crate::Mcs), so that the holder has no node in it
//!   and any thread can release. A removed node is its owner's again as soon as it is marked.
//! * A waiter never gives up by itself: the time-outs of the paper have no place in a mutex.
//! * The paper's waiters yield their core when the holder has been inside for so long that it
//!   was probably preempted. The place of a lock has no room for the time of entry, so here a
//!   waiter yields when it has waited for long itself, as in all spinning locks.

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

/// A waiter, on its own stack, padded.
struct Node<P: Platform> {
    next: P::Ptr<Node<P>>,
    /// [`WAITING`], [`ADMITTED`] or [`REMOVED`].
    state: P::U32,
    /// When its owner last ran; under a checker, which has no clock, whether it has looked.
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
/// Looks between two times that a waiter publishes: often enough for [`ABSENT_AFTER`].
const LOOKS_PER_PUBLICATION: u32 = 16;
/// Looks until a waiter first offers its core to others, and between later offers: a good part
/// of a millisecond.
const LOOKS_BEFORE_YIELD: u32 = 4_096;
/// A waiter whose time is this old has lost its core: some ten microseconds, far longer than
/// the distance of two publications and far shorter than a time slice.
const ABSENT_AFTER: u64 = 25_000;

/// The tail of a queue in which nobody waits, of a lock that is held. Not the address of any
/// node, because nodes are aligned.
fn held<P: Platform>() -> *mut Node<P> {
    ptr::without_provenance_mut(1)
}

/// What a waiter publishes before it has looked.
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

    /// Waits to be admitted, and is true, or removed.
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

    /// Whether its owner seems not to run.
    fn is_absent(&self) -> bool {
        let published = self.published.load(Ordering::Relaxed);
        if P::CHECKED {
            return published == 0;
        }
        // The clocks of two cores may differ a little: a time ahead of ours is recent.
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
        loop {
            let node = Node::<P>::new();
            let me = ptr::from_ref(&*node).cast_mut();
            // Release shows the node to whoever finds it in the tail; acquire shows us the node
            // that was there or, if the lock was free, what its last holder did.
            let before = self.tail.swap(me, Ordering::AcqRel);
            if before.is_null() || self.wait_behind(before, &node) {
                return self.leave_queue(&node);
            }
        }
    }

    /// Links `node` behind `before` and waits to be admitted, and is true, or removed.
    fn wait_behind(&self, before: *mut Node<P>, node: &Node<P>) -> bool {
        let link = if before == held::<P>() {
            &self.next
        } else {
            // SAFETY: `before` is a waiter's node. It stays until somebody is linked behind it,
            // since the exchange that would take it out of the tail fails.
            unsafe { &(*before).next }
        };
        link.store(ptr::from_ref(node).cast_mut(), Ordering::Release);
        node.wait()
    }

    /// Makes the node of the new holder superfluous.
    #[inline]
    fn leave_queue(&self, node: &Node<P>) {
        if let Some(successor) = self.unlink(node) {
            self.next.store(successor, Ordering::Relaxed);
        }
    }

    /// Takes `node`, the first of the queue, out of it, and returns the one behind. If there is
    /// none, the lock's link and tail say so. The caller acts for the holder.
    fn unlink(&self, node: &Node<P>) -> Option<*mut Node<P>> {
        let successor = node.next.load(Ordering::Acquire);
        if !successor.is_null() {
            return Some(successor);
        }
        // Before the tail is `HELD` again, for from then on the first waiter writes it.
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        let node_address = ptr::from_ref(node).cast_mut();
        // Argued: release keeps that store before the one of the newcomer who finds `HELD`. Else it
        // could undo the newcomer's link. loom has stores take effect in the order in which they are
        // made.
        let left =
            self.tail.compare_exchange(node_address, held(), Ordering::Release, Ordering::Relaxed);
        if left.is_ok() {
            return None;
        }
        // Somebody has exchanged the tail and is about to link itself to this node.
        Some(P::wait_until(&node.next, Wait::Spin, |next| !next.is_null()))
    }

    /// Frees the lock if nobody waits.
    #[inline]
    fn set_free(&self) -> bool {
        self.tail
            .compare_exchange(held(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Admits the first waiter that is present, and removes those before it.
    #[cold]
    fn hand_over(&self, mut successor: *mut Node<P>) {
        loop {
            if successor.is_null() {
                successor = P::wait_until(&self.next, Wait::Spin, |next| !next.is_null());
            }
            // SAFETY: a waiter's node stays until its state changes, which only the holder does,
            // for whom we act; that is the last access to it below.
            let node = unsafe { &*successor };
            if !node.is_absent() {
                node.state.store(ADMITTED, Ordering::Release);
                return;
            }
            let behind = self.unlink(node);
            // Release: the unlinking is done before its owner may use the node again.
            node.state.store(REMOVED, Ordering::Release);
            match behind {
                Some(waiter) => successor = waiter,
                None if self.set_free() => return,
                None => successor = ptr::null_mut(),
            }
        }
    }
}

// SAFETY: as in `Mcs`: the tail leaves null only to a holder, and of the others the holder admits
// one. A waiter that is removed instead is in no queue any more, and starts anew. Freeing the
// tail, or admitting, is the last access. Two words, all zeros is free, and they name nobody but
// waiters.
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
        // Acquire shows the node that is linked here.
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
