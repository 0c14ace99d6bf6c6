//! What intrusive structures are made of: links, and the cells that hold them.
//!
//! # The rule of links
//! A link is made from the reference that `insert` is given, is kept in the head of that structure
//! or in the links of its other items, and is gone from all of them when `remove` returns. By the
//! promise of [`Structure::insert`](crate::Structure::insert) an item is alive and in its place
//! from the one to the other. So whoever finds a link in a structure that it has borrowed can
//! follow it, for as long as it has it borrowed.
//!
//! Links are written only by `insert` and `remove`, which have the structure for themselves, and
//! read by these and by whoever shares the structure. So no read meets a write.

use core::ptr::NonNull;

use kilocore_platform::{Platform, SharedCell};

/// A way to an item.
pub(super) struct Link<I>(NonNull<I>);

// SAFETY: a link can do no more than give `&I`, which threads may share if `I` is Sync. Making that
// reference is unsafe, and who does argues that the item is there.
unsafe impl<I: Sync> Send for Link<I> {}
// SAFETY: as above; a `&Link` gives a copy of the link.
unsafe impl<I: Sync> Sync for Link<I> {}

impl<I> Link<I> {
    #[inline(always)]
    pub(super) fn to(item: &I) -> Self {
        Self(NonNull::from(item))
    }

    /// The item.
    ///
    /// # Safety
    /// It is alive and not moved during `'a`.
    #[inline(always)]
    pub(super) unsafe fn follow<'a>(self) -> &'a I {
        // SAFETY: the caller's promise. The pointer came from a `&I`, and no `&mut I` can have
        // been made since, because the item was in the structure all the time.
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

    /// A copy of what is in it.
    ///
    /// # Safety
    /// Nobody writes it meanwhile.
    #[inline(always)]
    pub(super) unsafe fn get(&self) -> L {
        // SAFETY: the pointer is the cell's, and by the caller's promise nobody writes there.
        self.0.with(|links| unsafe { *links })
    }

    /// Changes what is in it.
    ///
    /// # Safety
    /// Nobody reads or writes it meanwhile, `change` included.
    #[inline(always)]
    pub(super) unsafe fn change(&self, change: impl FnOnce(&mut L)) {
        // SAFETY: the pointer is the cell's, and by the caller's promise nobody else uses it until
        // `change` has returned.
        self.0.with_mut(|links| change(unsafe { &mut *links }));
    }
}
