//! What the list keeps in an object.

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

/// A node, which node it is that links the object, and what the object owes to readers.
pub struct HarrisHook<P: Platform, O: Order> {
    embedded: Node<P, O>,
    /// The node that links the object, or did last. Only the owner of the token uses it.
    current: P::Ptr<Node<P, O>>,
    pub(super) home: Home<P>,
    /// One for each removal whose readers may not have left yet.
    pub(super) debts: Debts<P>,
}

impl<P: Platform, O: Order> HarrisHook<P, O> {
    /// A node for a detached object that no reader walks over. One from the allocator has its lines to
    /// itself.
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

    /// Gives back the memory of a node that [`free_node`](Self::free_node) gave out.
    ///
    /// # Safety
    /// Nobody walks over it or will.
    pub(super) unsafe fn give_back(&self, node: *mut Node<P, O>) {
        if !self.embeds(node) {
            let node = node.cast::<Padded<Node<P, O>>>();
            P::discard(node);
            // SAFETY: it is not the embedded one, so it came from a box, whose end this is.
            drop(unsafe { Box::from_raw(node) });
        }
    }

    /// Remembers the node that links the object from now on.
    #[inline]
    pub(super) fn link_by(&self, node: *mut Node<P, O>) {
        self.current.store(node, Ordering::Relaxed);
    }

    /// The node that links the object.
    #[inline]
    pub(super) fn node(&self) -> *mut Node<P, O> {
        self.current.load(Ordering::Relaxed)
    }

    /// Whether the node is the one in here.
    #[inline]
    fn embeds(&self, node: *const Node<P, O>) -> bool {
        ptr::eq(node, &raw const self.embedded)
    }

    /// Lets a simulation charge for the object's line, on which the item begins, where walking over
    /// `node` has not done so. Natively a load of what is read anyway.
    #[inline]
    pub(super) fn charge(&self, node: *const Node<P, O>) {
        if !self.embeds(node) {
            self.current.load(Ordering::Relaxed);
        }
    }
}

// SAFETY: the object is freed when it was given back and owes nothing to readers, whichever comes
// last; and a detached object that owes nothing is not in a list, and no reader has seen it there.
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
        // SAFETY: the object is alive, and these are its own debts; the caller owns it.
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
