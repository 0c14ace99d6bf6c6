//! Queue nodes that outlive the call that took them, recycled per thread.
//!
//! In some locks (CLH, CNA, Malthusian) the holder owns a node. It is taken from the cache of the
//! thread that acquires and goes to the cache of the thread that releases, which may be another
//! one. At any time, a node belongs to exactly one cache, waiter, holder or queue. It never belongs
//! to a thread as such. A thread may therefore end while nodes that it allocated are in use
//! elsewhere.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::{fmt, ptr};

use kilocore_platform::{Atomic, Ordering, Padded, Platform};

/// How many nodes a cache keeps: as many as a thread usually holds locks at once. A thread that
/// releases more often than it acquires frees the nodes in excess of this number.
const SPARE_NODES: usize = 8;

/// Spare nodes of type `N`. Each lies on cache lines of its own.
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
    /// Returns a node that no other thread knows; the caller owns it. A spare node is in the state
    /// in which its last user left it. If there is no spare node, `new` makes one.
    #[inline]
    pub(crate) fn take(&mut self, new: impl FnOnce() -> N) -> *mut N {
        if self.count == 0 {
            return Self::allocate(new);
        }
        self.count -= 1;
        self.spare[self.count]
    }

    /// Puts a node into this cache.
    ///
    /// # Safety
    /// The node came from [`take`](Self::take) of any cache of this type, the caller owns it, and
    /// no other thread will touch it.
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

    /// Acquires the lock with `node` as the holder's node, if the lock is free, and returns true:
    /// `tail` changes from null to `node`, and `owner` becomes `node`. If the lock is held, puts
    /// the node back into this cache and returns false.
    ///
    /// # Safety
    /// As for [`give_back`](Self::give_back). The node must be in the state of a holder's node that
    /// has no waiter behind it.
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
        // The same ordering as in an acquisition. Release makes our fresh node visible to our
        // successor. Acquire makes visible to us what the last holder wrote.
        let taken =
            tail.compare_exchange(ptr::null_mut(), node, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            // SAFETY: no other thread has seen the node.
            unsafe { self.give_back(node) };
            return false;
        }
        owner.store(node, Ordering::Relaxed);
        true
    }

    #[cold]
    fn allocate(new: impl FnOnce() -> N) -> *mut N {
        // The cast is correct because `Padded` has its value at its own address.
        Box::into_raw(Box::new(Padded(new()))).cast()
    }

    /// # Safety
    /// The node came from [`allocate`](Self::allocate), and no thread will touch it again.
    #[cold]
    unsafe fn free(node: *mut N) {
        let node = node.cast::<Padded<N>>();
        P::discard(node);
        // SAFETY: the node came out of a box, and the caller is its only owner.
        drop(unsafe { Box::from_raw(node) });
    }
}

impl<P: Platform, N> Drop for NodeCache<P, N> {
    fn drop(&mut self) {
        for &node in &self.spare[..self.count] {
            // SAFETY: the cache owns its spare nodes, and nobody can take them from it any more.
            unsafe { Self::free(node) };
        }
    }
}

impl<P: Platform, N> fmt::Debug for NodeCache<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeCache").field("count", &self.count).finish()
    }
}
