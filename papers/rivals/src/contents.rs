//! A structure together with the number of objects in it.

use kilocore_ldu::Structure;

/// The data that a lock guards.
pub(crate) struct Contents<S> {
    pub(crate) structure: S,
    /// Number of objects inside. It decides whether the root may be freed; see
    /// [`Anchor`](crate::anchor::Anchor).
    objects: usize,
}

impl<S: Structure> Contents<S> {
    pub(crate) fn new(structure: S) -> Self {
        Self { structure, objects: 0 }
    }

    /// # Safety
    /// As for [`Structure::insert`].
    #[inline]
    pub(crate) unsafe fn insert(&mut self, item: &S::Item) {
        // SAFETY: by the caller's promise.
        unsafe { self.structure.insert(item) };
        self.objects += 1;
    }

    /// # Safety
    /// As for [`Structure::insert_near`].
    #[inline]
    pub(crate) unsafe fn insert_near(&mut self, item: &S::Item, near: &S::Item) {
        // SAFETY: by the caller's promise.
        unsafe { self.structure.insert_near(item, near) };
        self.objects += 1;
    }

    /// # Safety
    /// As for [`Structure::remove`].
    #[inline]
    pub(crate) unsafe fn remove(&mut self, item: &S::Item) {
        // SAFETY: by the caller's promise.
        unsafe { self.structure.remove(item) };
        self.objects -= 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects == 0
    }
}
