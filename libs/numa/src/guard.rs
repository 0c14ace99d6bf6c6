//! What a reader holds.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use kilocore_platform::Platform;

use crate::seat::{Presence, Seat};

/// Access to a copy of the data, which nobody changes meanwhile. Dropping it ends the access.
///
/// It may be sent to another thread, and its thread may move to another core or node: it keeps the copy
/// that it has. It has no effect on other readers. A writer waits for it, so a thread that calls
/// [`update`](crate::ReplicatedOn::update) or [`store`](crate::ReplicatedOn::store) while it
/// holds a guard of the same data waits for ever. So does every writer after `mem::forget` of a guard.
#[must_use = "the access ends when the guard is dropped"]
pub struct ReadGuard<'a, P: Platform, T> {
    /// A pointer, because a reference would have to be good until the end of `drop`.
    value: NonNull<T>,
    seat: &'a Seat<P>,
    presence: Presence,
    data: PhantomData<&'a T>,
}

// SAFETY: a guard is a shared reference to the data, which may be sent if it may be shared. Whoever drops it
// leaves the seat by atomic operations, from any thread.
unsafe impl<P: Platform, T: Sync> Send for ReadGuard<'_, P, T> {}
// SAFETY: a shared guard gives shared references to the data, and no more.
unsafe impl<P: Platform, T: Sync> Sync for ReadGuard<'_, P, T> {}

impl<'a, P: Platform, T> ReadGuard<'a, P, T> {
    /// # Safety
    /// The seat has returned `presence` and this is the only guard for it. `value` is a copy of that side. It
    /// lives as long as the seat, and is not changed before the reader leaves.
    #[inline]
    pub(crate) unsafe fn new(value: NonNull<T>, seat: &'a Seat<P>, presence: Presence) -> Self {
        Self { value, seat, presence, data: PhantomData }
    }
}

impl<P: Platform, T> Deref for ReadGuard<'_, P, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the copy is there and is not changed while the reader is in the seat.
        unsafe { self.value.as_ref() }
    }
}

impl<P: Platform, T> Drop for ReadGuard<'_, P, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the only call for it. No reference to the copy is left: all borrow from the guard.
        unsafe { self.seat.leave(self.presence) };
    }
}

impl<P: Platform, T: fmt::Debug> fmt::Debug for ReadGuard<'_, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<P: Platform, T: fmt::Display> fmt::Display for ReadGuard<'_, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
