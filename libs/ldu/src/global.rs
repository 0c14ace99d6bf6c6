//! The queue with one head: a list without a lock, newest first.
//!
//! A push exchanges the head for its node and then links the node to the one that was there; taking
//! exchanges the head for nothing. Neither ever tries again, however many do it at once, which a
//! push by compare-and-swap would have to: with a hundred cores at one head, most of such exchanges
//! fail, and each failure is a transfer of the line. (The kernel's list, which the paper uses, is
//! pushed to in that way.) All cores still write one head: see [`PerCore`](crate::PerCore) for roots
//! that so many cores update that this is what limits them.
//!
//! # The price
//! Between its two steps a push has not linked its node yet, and whoever has taken the list and
//! comes to that node waits, as in queue locks a holder waits for its successor's link. The update
//! has not returned then, so a reader that waits for it waits for something that it may as well have
//! to see.
//!
//! # Its length
//! Nobody counts the nodes; one in eight, picked by its place in memory, adds eight to a count when
//! it is pushed. Nodes that are in the queue together are in different places, so that this comes
//! near enough to the length to bound it.

use core::ptr::{self, NonNull};

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::node::Node;
use crate::queue::{Fill, Queue};

/// How many nodes one that counts stands for.
const BATCH: u32 = 8;

/// A list of nodes with one head.
pub struct Global<P: Platform> {
    /// The newest node.
    head: P::Ptr<Node<P>>,
    /// About how many nodes were pushed since the list was last taken; late by as much as a thread
    /// is between pushing and counting. Nothing but the length's bound rests on it.
    length: P::U32,
}

/// The link of a node whose push is between its two steps. Not the address of any node, because
/// nodes are aligned.
fn unlinked<P: Platform>() -> *mut Node<P> {
    ptr::without_provenance_mut(1)
}

/// The node behind one that was taken from a queue, or null.
#[inline]
pub(crate) fn linked<P: Platform>(node: &Node<P>) -> *mut Node<P> {
    // Acquire: the node behind, and what its owner did before pushing it. Argued: the exchange of the
    // head shows that as well. But who links a chain that leaves a slot is not the node's owner, and
    // has no lock of this root: its store must come before the end of the node, which follows once
    // the caller has settled it. loom does not know when a store's word is freed.
    let next = node.next.load(Ordering::Acquire);
    if next != unlinked() {
        return next;
    }
    P::wait_until(&node.next, Wait::Spin, |next| next != unlinked())
}

impl<P: Platform> Global<P> {
    /// Puts a chain in, from the newest node to the oldest.
    ///
    /// # Safety
    /// As for [`Queue::push`], of each node from `newest` to `oldest`.
    #[inline]
    pub(crate) unsafe fn splice(&self, newest: NonNull<Node<P>>, oldest: NonNull<Node<P>>) {
        // SAFETY: the nodes are the caller's until the exchange below, and whoever takes them
        // does not come past the oldest before it is linked.
        let link = unsafe { &oldest.as_ref().next };
        link.store(unlinked(), Ordering::Relaxed);
        // Release shows the nodes, and what their owners did before, to whoever takes the list:
        // also if others push on top, for their exchanges continue this one's release. Acquire:
        // that synchronizations have begun which did not get these nodes, as who updates after this
        // push has returned must read the number of each of them; and the nodes behind, which the
        // link passes on.
        let behind = self.head.swap(newest.as_ptr(), Ordering::AcqRel);
        // Argued: see `linked`, which it pairs with.
        link.store(behind, Ordering::Release);
    }

    /// Adds so many nodes to the length.
    pub(crate) fn count(&self, nodes: u32) -> Fill {
        let length = self.length.fetch_add(nodes, Ordering::Relaxed);
        Fill::Nodes(length.saturating_add(nodes))
    }

    /// About how many nodes are in it.
    #[inline]
    pub(crate) fn length(&self) -> u32 {
        self.length.load(Ordering::Relaxed)
    }
}

/// Whether a node counts for [`BATCH`] of them.
#[inline]
fn counts<P: Platform>(node: &Node<P>) -> bool {
    let key = P::address_key(node) as u64;
    // A multiplicative hash: nodes lie at multiples of some size.
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & u64::from(BATCH - 1) == 0
}

// SAFETY: a node is in the list from its exchange on, and the exchange that takes the list takes
// all that are in, once. Only the pusher writes the link after that, before its push returns, and
// whoever takes the node waits for it.
unsafe impl<P: Platform> Queue<P> for Global<P> {
    type Domain = ();

    fn new((): ()) -> Self {
        Self { head: P::Ptr::new(ptr::null_mut()), length: P::U32::new(0) }
    }

    #[inline]
    unsafe fn push(&self, node: NonNull<Node<P>>) -> Fill {
        // SAFETY: the node is the caller's until it is pushed.
        let counts = counts(unsafe { node.as_ref() });
        // SAFETY: by the caller's promise, of a chain of one.
        unsafe { self.splice(node, node) };
        if counts { self.count(BATCH) } else { Fill::Between }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        // A push that happened before is seen by coherence alone, and the reader of the structure
        // is ordered after whoever applied it by the root's lock.
        self.head.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>)) {
        // An exchange, also if the list looks empty: it must see every push that happened before,
        // and its release is what the next push acquires.
        let newest = self.head.swap(ptr::null_mut(), Ordering::AcqRel);
        if let Some(newest) = NonNull::new(newest) {
            self.length.store(0, Ordering::Relaxed);
            each(newest);
        }
    }
}

impl<P: Platform> core::fmt::Debug for Global<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Global").field("empty", &self.is_empty()).finish()
    }
}
