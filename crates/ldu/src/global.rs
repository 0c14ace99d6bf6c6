//! The queue with one head: a list without a lock, newest first.
//!
//! A push is one compare-and-swap of the head, and taking is one exchange; there is no operation
//! that takes a single node, so that a head which went and came back does no harm. It is the
//! simplest log, and all cores write its head: see [`PerCore`](crate::PerCore) for roots that so
//! many cores update that this is what limits them.
//!
//! The low bits of the head, which a node's address leaves free, count pushes. A push that finds
//! them full clears them and adds to a count beside: the length is known well enough to bound the
//! log, at the price of another write in one push of eight.

use core::ptr::{self, NonNull};

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::node::Node;
use crate::queue::{Fill, Queue};

/// How many pushes the low bits of the head count.
const BATCH: u32 = 8;
/// Those bits. A node is aligned to that.
const COUNT: usize = BATCH as usize - 1;

/// A list of nodes with one head.
pub struct Global<P: Platform> {
    /// The newest node, and in the low bits how many were pushed since `batches` was last raised.
    head: P::Ptr<Node<P>>,
    /// Full batches since the list was last taken. Late by as much as a thread is between
    /// pushing and counting; nothing but the length's bound rests on it.
    batches: P::U32,
}

impl<P: Platform> Global<P> {
    /// Puts a chain in, from the newest node to the oldest.
    ///
    /// # Safety
    /// As for [`Queue::push`], of each node from `newest` to `oldest`. The chain has `length`
    /// nodes.
    pub(crate) unsafe fn splice(
        &self,
        newest: NonNull<Node<P>>,
        oldest: NonNull<Node<P>>,
        length: u32,
    ) -> Fill {
        let mut head = self.head.load(Ordering::Relaxed);
        let full = loop {
            // SAFETY: the node is the caller's until the exchange below succeeds.
            let link = unsafe { &oldest.as_ref().next };
            link.store(node_of(head), Ordering::Relaxed);
            let count = (head.addr() & COUNT) as u32 + length;
            let new = newest.as_ptr().map_addr(|address| address | count as usize & COUNT);
            // Release shows the nodes, and what their owners did before, to whoever takes the
            // list: also if others push on top, for those exchanges continue this one's release.
            // Acquire: that synchronizations have begun which did not get these nodes.
            match self.head.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break count / BATCH,
                Err(now) => head = now,
            }
        };
        if full == 0 {
            return Fill::Between;
        }
        let batches = self.batches.fetch_add(full, Ordering::Relaxed).saturating_add(full);
        Fill::Nodes(batches.saturating_mul(BATCH))
    }

    /// About how many nodes are in it.
    #[inline]
    pub(crate) fn length(&self) -> u32 {
        self.batches.load(Ordering::Relaxed).saturating_mul(BATCH)
    }
}

/// The node of a head.
fn node_of<P: Platform>(head: *mut Node<P>) -> *mut Node<P> {
    head.map_addr(|address| address & !COUNT)
}

// SAFETY: a node is linked in by the exchange that publishes it, and the exchange that takes the
// list takes all that were linked in before, once.
unsafe impl<P: Platform> Queue<P> for Global<P> {
    type Domain = ();

    fn new((): ()) -> Self {
        Self { head: P::Ptr::new(ptr::null_mut()), batches: P::U32::new(0) }
    }

    #[inline]
    unsafe fn push(&self, node: NonNull<Node<P>>) -> Fill {
        // SAFETY: by the caller's promise, of a chain of one.
        unsafe { self.splice(node, node, 1) }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        // A push that happened before is seen by coherence alone, and the reader of the structure
        // is ordered after whoever applied it by the root's lock.
        node_of(self.head.load(Ordering::Relaxed)).is_null()
    }

    #[inline]
    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>)) {
        // An exchange, also if the list looks empty: it must see every push that happened before,
        // and its release is what the next push acquires.
        let newest = node_of(self.head.swap(ptr::null_mut(), Ordering::AcqRel));
        if let Some(newest) = NonNull::new(newest) {
            self.batches.store(0, Ordering::Relaxed);
            each(newest);
        }
    }
}

impl<P: Platform> core::fmt::Debug for Global<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Global").field("empty", &self.is_empty()).finish()
    }
}
