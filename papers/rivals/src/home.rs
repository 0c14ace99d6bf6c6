//! Remembers which root an object is in.

use kilocore_platform::{Atomic, Ordering, Platform};

/// The root that an object is in or, if it was removed, was in last.
///
/// Only the owner of the object's token uses it. Whatever passes the token to another thread orders
/// the uses, so relaxed accesses are enough. It is a word of the platform only so that a simulation
/// charges for it.
pub(crate) struct Home<P: Platform> {
    root: P::Usize,
}

impl<P: Platform> Home<P> {
    pub(crate) fn new() -> Self {
        Self { root: P::Usize::new(0) }
    }

    #[inline]
    pub(crate) fn set<R>(&self, root: &R) {
        self.root.store(core::ptr::from_ref(root).addr(), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is<R>(&self, root: &R) -> bool {
        self.root.load(Ordering::Relaxed) == core::ptr::from_ref(root).addr()
    }

    /// Panics unless the object is in `root`.
    #[inline]
    #[track_caller]
    pub(crate) fn expect<R>(&self, root: &R) {
        assert!(self.is(root), "the object is in another root");
    }
}
