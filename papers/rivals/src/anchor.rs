//! The memory of a root, at an address that objects can remember.
//!
//! An object knows its root by that root's address. If a root is dropped while objects are inside,
//! its memory is therefore never freed: no other root can then have this address. Removing such an
//! object from a younger root panics, as removing any other object that is not inside does.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use alloc::boxed::Box;
use kilocore_platform::Platform;

/// The content of a root.
///
/// # Safety
/// [`finish`](Self::finish) may return true only if no object is left inside and nothing refers to
/// the body any more. The memory of the body is freed then.
pub(crate) unsafe trait Body: Send + Sync + 'static {
    /// Does what is left to do before the end. Returns whether the body may be freed.
    fn finish(&mut self) -> bool;
}

/// Owns a body at an address that it keeps. Frees the body when dropped, if no object is left
/// inside.
pub(crate) struct Anchor<P: Platform, B: Body> {
    body: NonNull<B>,
    platform: PhantomData<P>,
}

// SAFETY: an anchor is a box, and its content is Send and Sync.
unsafe impl<P: Platform, B: Body> Send for Anchor<P, B> {}
// SAFETY: as above.
unsafe impl<P: Platform, B: Body> Sync for Anchor<P, B> {}

impl<P: Platform, B: Body> Anchor<P, B> {
    pub(crate) fn new(body: B) -> Self {
        Self { body: NonNull::from(Box::leak(Box::new(body))), platform: PhantomData }
    }
}

impl<P: Platform, B: Body> Deref for Anchor<P, B> {
    type Target = B;
    #[inline(always)]
    fn deref(&self) -> &B {
        // SAFETY: the body lives as long as its anchor.
        unsafe { self.body.as_ref() }
    }
}

impl<P: Platform, B: Body> Drop for Anchor<P, B> {
    fn drop(&mut self) {
        // SAFETY: the anchor is the only owner and ends here, so nobody else uses the body.
        if unsafe { self.body.as_mut() }.finish() {
            let body = self.body.as_ptr();
            // SAFETY: as above; the body is not used after this.
            unsafe { body.drop_in_place() };
            // Only now, since dropping the body may touch its memory.
            P::discard(body);
            // SAFETY: the memory came from a box in `new`. The body was dropped above, and
            // `ManuallyDrop` keeps it from being dropped again.
            drop(unsafe { Box::from_raw(body.cast::<ManuallyDrop<B>>()) });
        }
    }
}
