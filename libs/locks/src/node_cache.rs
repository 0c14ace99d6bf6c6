//! Queue nodes that outlive the call that took them, recycled per thread.
//!
//! Locks whose holder owns a node (CLH, CNA, Malthusian) take it from the cache of the thread
//! that acquires and give it to the cache of the thread that releases, which need not be the
//! same. A node belongs to exactly one cache, waiter, holder or queue at any time, never to a
//! thread as such, so that a thread may end while nodes it allocated are in use elsewhere.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::{fmt, ptr};

use kilocore_platform::{Atomic, Ordering, Padded, Platform};

/// As many locks as threads usually hold at once; a thread that releases more than it acquires
/// frees what exceeds this.
const SPARE_NODES: usize = 8;

/// Spare nodes of type `N`, each on cache lines of its own.
pub(crate) struct NodeCache<P: Platform, N> {
    spare: [*mut N; SPARE_NODES],
    count: usize,
    platform: PhantomData<P>,
}

impl<P: Platform, N> Default for NodeCache<P, N> {
    fn default() -> Self {
        Self { spare: [ptr::null_mut(); SPARE_NODES], count: 0, platform: PhantomData }
    }
}

impl<P: Platform, N> NodeCache<P, N> {
    /// A node that nobody else knows, as its last user left it or, if there is no spare one,
    /// as `new` makes it. The caller owns it.
    #[inline]
    pub(crate) fn take(&mut self, new: impl FnOnce() -> N) -> *mut N {
        if self.count == 0 {
            return Self::allocate(new);
        }
        self.count -= 1;
        self.spare[self.count]
    }

    /// Takes ownership of a node back.
    ///
    /// # Safety
    /// The node came from [`take`](Self::take) of some cache of this type, the caller owns it,
    /// and nobody else will touch it.
    #[inline]
    pub(crate) unsafe fn give_back(&mut self, node: *mut N) {
        if self.count < SPARE_NODES {
            self.spare[self.count] = node;
            self.count += 1;
        } else {
            // SAFETY: the caller's promise is that of `free`.
            unsafe { Self::free(node) };
        }
    }

    /// Makes `node` the queue of a lock that nobody holds, and the holder's node; or, if somebody
    /// does hold it, takes the node back and is false.
    ///
    /// # Safety
    /// As for [`give_back`](Self::give_back), and the node is set up as for a free lock.
    #[inline]
    pub(crate) unsafe fn enter_if_free(
        &mut self,
        node: *mut N,
        tail: &P::Ptr<N>,
        owner: &P::Ptr<N>,
    ) -> bool
    where
        N: 'static,
    {
        // As in an acquisition: release shows the fresh node to the one that comes behind,
        // acquire shows us what the last holder did.
        let taken =
            tail.compare_exchange(ptr::null_mut(), node, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            // SAFETY: nobody has seen the node.
            unsafe { self.give_back(node) };
            return false;
        }
        owner.store(node, Ordering::Relaxed);
        true
    }

    #[cold]
    fn allocate(new: impl FnOnce() -> N) -> *mut N {
        // `Padded` has its value at its own address.
        Box::into_raw(Box::new(Padded(new()))).cast()
    }

    /// # Safety
    /// The node came from [`allocate`](Self::allocate) and nobody will touch it again.
    #[cold]
    unsafe fn free(node: *mut N) {
        let node = node.cast::<Padded<N>>();
        P::discard(node);
        // SAFETY: it came out of a box and has this one owner.
        drop(unsafe { Box::from_raw(node) });
    }
}

impl<P: Platform, N> Drop for NodeCache<P, N> {
    fn drop(&mut self) {
        for &node in &self.spare[..self.count] {
            // SAFETY: the cache owns its spare nodes, and it is going away.
            unsafe { Self::free(node) };
        }
    }
}

impl<P: Platform, N> fmt::Debug for NodeCache<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeCache").field("count", &self.count).finish()
    }
}
