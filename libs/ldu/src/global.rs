//! The queue with one head: a list without a lock, newest first.
//!
//! A push has two steps. It exchanges the head for its own node, and then it links its node to the
//! node that was the head before. A take exchanges the head for null. Neither ever has to try again,
//! however many threads push at once. A push by compare-and-swap would have to: with a hundred cores
//! at one head most compare-and-swaps fail, and each failure costs a transfer of the cache line.
//! (The kernel's list, which the paper uses, is pushed to by compare-and-swap.)
//!
//! All cores still write the same head. [`PerCore`](crate::PerCore) is for roots that so many cores
//! update that this head limits them.
//!
//! # The price
//! Between its two steps, a push has not linked its node yet. A thread that has taken the list and
//! comes to this node waits for the link. (Queue locks do the same: a holder waits until its
//! successor has linked itself.) The update has not returned at this moment, so it is concurrent with
//! the reader that waits for it, and the reader may see it.
//!
//! # Its length
//! The nodes are not counted one by one. About one node in eight, chosen by a hash of its address,
//! adds eight to a count when it is pushed. Nodes that are in the queue at the same time have
//! different addresses, so the count comes near enough to the length to bound it.

use core::ptr::{self, NonNull};

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::node::Node;
use crate::queue::{Fill, Queue};

/// The number of nodes that one counting node stands for.
const BATCH: u32 = 8;

/// A list of nodes with one head.
#[repr(C)]
pub struct Global<P: Platform> {
    /// The newest node, or null if the list is empty.
    head: P::Ptr<Node<P>>,
    /// About how many nodes were pushed since the list was last taken. A thread counts its node some
    /// time after it has pushed the node, so the number may be late. Only the bound on the length
    /// relies on this number.
    length: P::U32,
    /// How many nodes stayed when it was last [looked through](Self::retain_behind_newest), unless it was taken since, less
    /// those that were [left to go](Self::leave_to_go) since. Modulo 2^32, as these may be more.
    stayed: P::U32,
}

/// Returns the link of a node whose push is between its two steps. It is not the address of any
/// node, because nodes are aligned.
fn unlinked<P: Platform>() -> *mut Node<P> {
    ptr::without_provenance_mut(1)
}

/// Returns the node behind `node`, which was taken from a queue, or null. Waits until `node` is
/// linked.
#[inline]
pub(crate) fn linked<P: Platform>(node: &Node<P>) -> *mut Node<P> {
    // Acquire: the caller must see the node behind, and what that node's owner did before pushing it.
    // Argued: the exchange of the head shows that as well. But a thread that links a chain which
    // leaves a slot is not the node's owner and holds no lock of this root. Its store to the link
    // must come before the node is freed, and the node may be freed as soon as the caller has settled
    // it. loom does not know when the word that a store writes is freed.
    let next = node.next.load(Ordering::Acquire);
    if next != unlinked() {
        return next;
    }
    P::wait_until(&node.next, Wait::Spin, |next| next != unlinked())
}

impl<P: Platform> Global<P> {
    /// Pushes a chain of linked nodes, from `newest` to `oldest`.
    ///
    /// # Safety
    /// What [`Queue::push`] asks for holds for each node from `newest` to `oldest`.
    #[inline]
    pub(crate) unsafe fn splice(&self, newest: NonNull<Node<P>>, oldest: NonNull<Node<P>>) {
        // SAFETY: the nodes belong to the caller until the exchange below. A thread that takes them
        // afterwards does not get past the oldest node before that node is linked.
        let link = unsafe { &oldest.as_ref().next };
        link.store(unlinked(), Ordering::Relaxed);
        P::unpreempted(|| {
            // Release: the thread that takes the list must see the nodes and what their owners did
            // before. It also sees them if others push on top, for their exchanges continue this
            // exchange's release sequence. Acquire, for two reasons. First, an update that starts after
            // this push has returned must read the number of each synchronization that has taken the
            // list without these nodes. Second, the link below passes the nodes behind on to whoever
            // reads it. Sequentially consistent for `is_empty_in_order`. Argued: under loom every
            // exchange is.
            let behind = self.head.swap(newest.as_ptr(), Ordering::SeqCst);
            // Argued: see `linked`, whose load this store pairs with.
            link.store(behind, Ordering::Release);
        });
    }

    /// Adds `nodes` to the length and returns the new length.
    pub(crate) fn count(&self, nodes: u32) -> Fill {
        let length = self.length.fetch_add(nodes, Ordering::Relaxed);
        Fill::Nodes(length.saturating_add(nodes))
    }

    /// Calls `stays` for each node behind the newest one, the newer first. If it returns false, the node leaves the
    /// queue. The newest one stays, as pushes put others on top of it meanwhile.
    ///
    /// `stays` is called after the last use of the node, so it may end the node's life or have it pushed again if it
    /// returns false.
    ///
    /// # Safety
    /// No other thread takes or retains meanwhile. If `stays` returns true, the node stays as a node in the queue has
    /// to.
    pub(crate) unsafe fn retain_behind_newest(
        &self,
        mut stays: impl FnMut(NonNull<Node<P>>) -> bool,
    ) {
        let Some(newest) = self.newest() else { return };
        // What stays is counted one by one: with those addresses, one node in eight may count for much more or less.
        self.length.store(0, Ordering::Relaxed);
        let had = self.stayed.load(Ordering::Relaxed);
        let mut stayed = 1;
        // SAFETY: it is in the queue, from which only this thread takes, so it lives.
        let mut before = unsafe { newest.as_ref() };
        let mut next = linked(before);
        let mut is_linked = true;
        while let Some(node) = NonNull::new(next) {
            // SAFETY: it is in the queue, so it lives. Its link is this thread's, as is each that is behind the
            // newest node's, and that one once it is linked.
            let at = unsafe { node.as_ref() };
            next = linked(at);
            if stays(node) {
                if !is_linked {
                    // Relaxed: who takes comes after this thread.
                    before.next.store(node.as_ptr(), Ordering::Relaxed);
                }
                (before, is_linked) = (at, true);
                stayed += 1;
            } else {
                is_linked = false;
            }
        }
        if !is_linked {
            before.next.store(ptr::null_mut(), Ordering::Relaxed);
        }
        self.count(stayed);
        // What was left to go meanwhile may have stayed, so it is taken off.
        self.stayed.fetch_add(stayed.wrapping_sub(had), Ordering::Relaxed);
    }

    /// Does what [`is_empty`](Queue::is_empty) does, as one of the sequentially consistent operations, of
    /// which each push is one, too.
    #[inline]
    pub(crate) fn is_empty_in_order(&self) -> bool {
        let head = if P::SEQUENTIAL_LOADS {
            // Sequentially consistent; see the head of `insertion_log.rs`.
            self.head.load(Ordering::SeqCst)
        } else {
            let none = ptr::null_mut();
            // It changes nothing, and does not miss a push.
            let head = self.head.compare_exchange(none, none, Ordering::AcqRel, Ordering::Acquire);
            head.unwrap_or_else(|head| head)
        };
        head.is_null()
    }

    /// Returns the newest node, or none. It lives as long as no thread takes it.
    pub(crate) fn newest(&self) -> Option<NonNull<Node<P>>> {
        // Acquire: this thread sees the node as it was pushed.
        NonNull::new(self.head.load(Ordering::Acquire))
    }

    /// Says that a node which is in the list need not stay.
    pub(crate) fn leave_to_go(&self) {
        self.stayed.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether about half of the list, or more, is new or was left to go since the list was last looked through.
    pub(crate) fn has_doubled(&self) -> bool {
        self.length() >= self.doubled()
    }

    /// Returns the length from which on that is so, in nodes.
    #[inline]
    pub(crate) fn doubled(&self) -> u32 {
        let stayed = self.stayed.load(Ordering::Relaxed) as i32;
        (stayed.max(0) as u32).saturating_mul(2)
    }

    /// Returns about how many nodes are in the list.
    #[inline]
    pub(crate) fn length(&self) -> u32 {
        self.length.load(Ordering::Relaxed)
    }
}

/// Whether a node is one of those that count for [`BATCH`] nodes.
#[inline]
fn counts<P: Platform>(node: &Node<P>) -> bool {
    let key = P::address_key(node) as u64;
    // A multiplicative hash: nodes lie at multiples of some size.
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & u64::from(BATCH - 1) == 0
}

// SAFETY: a node is in the list from the exchange of its push on. The exchange that takes the list
// takes every node that is in it, once. After the push's exchange only the pusher writes the node's
// link, it does so before its push returns, and the thread that takes the node waits for the link.
unsafe impl<P: Platform> Queue<P> for Global<P> {
    type Domain = ();

    fn new((): ()) -> Self {
        Self { head: P::Ptr::new(ptr::null_mut()), length: P::U32::new(0), stayed: P::U32::new(0) }
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
        // Relaxed: coherence alone shows a push that happened before. If the push's node was applied
        // already, the root's lock orders the reader of the structure after the thread that applied
        // it.
        self.head.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>)) {
        // This is an exchange even if the list looks empty. It must see every push that happened
        // before, and the next push acquires what this exchange releases.
        let newest = self.head.swap(ptr::null_mut(), Ordering::AcqRel);
        if let Some(newest) = NonNull::new(newest) {
            self.length.store(0, Ordering::Relaxed);
            self.stayed.store(0, Ordering::Relaxed);
            each(newest);
        }
    }
}

impl<P: Platform> core::fmt::Debug for Global<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Global").field("empty", &self.is_empty()).finish()
    }
}
