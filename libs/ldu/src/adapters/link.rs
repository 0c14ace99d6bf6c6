//! The parts of intrusive structures: links, and the cells that contain them.
//!
//! # The rule of links
//! `insert` makes a link from the reference that it gets. The link is kept in the head of the
//! structure or in the links of its other items. When `remove` returns, none of them contains the
//! link any more. Between the two, the item is alive and in place, as the caller of
//! [`Structure::insert`](crate::Structure::insert) has promised. So anyone who finds a link in a
//! structure may follow it while it borrows the structure.
//!
//! Only `insert` and `remove` write links, and they borrow the structure mutably. Links are read by
//! these two and by functions that share the structure. So a link is never read and written at the
//! same time.

use core::ptr::NonNull;

use kilocore_platform::{Platform, SharedCell};

/// A pointer to an item of a structure.
pub(super) struct Link<I>(NonNull<I>);

// SAFETY: the only use of a link is to get `&I`, which threads may share if `I` is Sync. Getting
// this reference is unsafe, and each caller argues why the item is alive.
unsafe impl<I: Sync> Send for Link<I> {}
// SAFETY: as above; with a `&Link` one can only copy the link.
unsafe impl<I: Sync> Sync for Link<I> {}

impl<I> Link<I> {
    #[inline(always)]
    pub(super) fn to(item: &I) -> Self {
        Self(NonNull::from(item))
    }

    /// Returns the item.
    ///
    /// # Safety
    /// The item is alive and not moved during `'a`.
    #[inline(always)]
    pub(super) unsafe fn follow<'a>(self) -> &'a I {
        // SAFETY: by the caller's promise. The pointer came from a `&I`. No `&mut I` can have been
        // made since, because the item has been in the structure all the time.
        unsafe { self.0.as_ref() }
    }
}

impl<I> Clone for Link<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Link<I> {}

impl<I> PartialEq for Link<I> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// The links of an item, or the head of a chain.
pub(super) struct LinkCell<P: Platform, L: Copy + Send + 'static>(P::Cell<L>);

impl<P: Platform, L: Copy + Send + 'static> LinkCell<P, L> {
    pub(super) fn new(links: L) -> Self {
        Self(P::Cell::new(links))
    }

    /// Returns a copy of the content.
    ///
    /// # Safety
    /// No other thread writes the cell meanwhile.
    #[inline(always)]
    pub(super) unsafe fn get(&self) -> L {
        // SAFETY: the pointer is that of the cell, which nobody writes, by the caller's promise.
        self.0.with(|links| unsafe { *links })
    }

    /// Changes the content.
    ///
    /// # Safety
    /// Nobody else reads or writes the cell meanwhile. `change` itself must not access it either,
    /// except by its argument.
    #[inline(always)]
    pub(super) unsafe fn change(&self, change: impl FnOnce(&mut L)) {
        // SAFETY: the pointer is that of the cell. By the caller's promise nobody else uses the
        // cell until `change` has returned.
        self.0.with_mut(|links| change(unsafe { &mut *links }));
    }
}
