//! The data of the list in each object.

use core::fmt;
use core::ptr;
use core::ptr::NonNull;

use alloc::boxed::Box;
use kilocore_ldu::{Hook, Object};
use kilocore_platform::{Atomic, Ordering, Padded, Platform};

use super::list::Node;
use super::order::Order;
use crate::debts::Debts;
use crate::home::Home;

/// A node, a pointer to the node that links the object, and the debts of the object.
pub struct HarrisHook<P: Platform, O: Order> {
    embedded: Node<P, O>,
    /// The node that links the object or, if it was removed, linked it last. Only the owner of the
    /// token uses this.
    current: P::Ptr<Node<P, O>>,
    pub(super) home: Home<P>,
    /// One debt for each removal whose readers may not have left yet.
    pub(super) debts: Debts<P>,
}

impl<P: Platform, O: Order> HarrisHook<P, O> {
    /// Returns a node for a detached object: one that no reader walks over. A node from the
    /// allocator lies on cache lines of its own.
    pub(super) fn free_node<T>(object: NonNull<Object<Self, T>>) -> *mut Node<P, O> {
        // SAFETY: the object is alive, and this makes no reference to the whole of it.
        let hook = unsafe { &raw mut (*object.as_ptr()).hook };
        // SAFETY: as above.
        if unsafe { (*hook).debts.none() } {
            // SAFETY: as above.
            unsafe { &raw mut (*hook).embedded }
        } else {
            Box::into_raw(Box::new(Padded(Node::<P, O>::new()))).cast()
        }
    }

    /// Frees a node that [`free_node`](Self::free_node) returned, if it came from the allocator.
    ///
    /// # Safety
    /// No reader may walk over the node, now or later.
    pub(super) unsafe fn give_back(&self, node: *mut Node<P, O>) {
        if !self.embeds(node) {
            let node = node.cast::<Padded<Node<P, O>>>();
            P::discard(node);
            // SAFETY: the node is not the embedded one, so it came from a box. It is freed only
            // here.
            drop(unsafe { Box::from_raw(node) });
        }
    }

    /// Remembers `node` as the one that links the object.
    #[inline]
    pub(super) fn link_by(&self, node: *mut Node<P, O>) {
        self.current.store(node, Ordering::Relaxed);
    }

    /// The node that links the object.
    #[inline]
    pub(super) fn node(&self) -> *mut Node<P, O> {
        self.current.load(Ordering::Relaxed)
    }

    /// Whether `node` is the node in this hook.
    #[inline]
    fn embeds(&self, node: *const Node<P, O>) -> bool {
        ptr::eq(node, &raw const self.embedded)
    }

    /// Makes a simulation charge for the object's cache line, on which the item begins, unless
    /// walking over `node` has already done so. Natively this loads a line that is read anyway.
    #[inline]
    pub(super) fn charge(&self, node: *const Node<P, O>) {
        if !self.embeds(node) {
            self.current.load(Ordering::Relaxed);
        }
    }
}

// SAFETY: the object is freed when it was released and has no debts, whichever happens last. A
// detached object without debts is in no list, and every reader that saw it there has left.
unsafe impl<P: Platform, O: Order> Hook for HarrisHook<P, O> {
    type Platform = P;

    fn new() -> Self {
        Self {
            embedded: Node::new(),
            current: P::Ptr::new(ptr::null_mut()),
            home: Home::new(),
            debts: Debts::new(),
        }
    }

    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: the object is alive, these are its own debts, and the caller owns it.
        unsafe { (*object.as_ptr()).hook.debts.release(object) };
    }

    #[inline]
    fn is_settled(&self) -> bool {
        self.debts.none()
    }
}

impl<P: Platform, O: Order> fmt::Debug for HarrisHook<P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HarrisHook").finish_non_exhaustive()
    }
}
