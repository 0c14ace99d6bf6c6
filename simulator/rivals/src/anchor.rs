//! The memory of a root, at an address that objects can remember.
//!
//! An object knows the root it is in by that root's address. So a root that is dropped with objects
//! inside keeps its memory for good: the address can then never be taken for another root's, and
//! removing such an object from a younger root panics, as removing any stranger does.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use alloc::boxed::Box;
use kilocore_platform::Platform;

/// What a root is made of.
///
/// # Safety
/// [`finish`](Self::finish) is true only if no object is left inside and nobody refers to the body
/// any more: its memory is given back then.
pub(crate) unsafe trait Body: Send + Sync + 'static {
    /// Does what is left to do before the end, and says whether the body may go.
    fn finish(&mut self) -> bool;
}

/// Owns a body.
pub(crate) struct Anchor<P: Platform, B: Body> {
    body: NonNull<B>,
    platform: PhantomData<P>,
}

// SAFETY: it is a box, and what is in it is Send and Sync.
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
            // SAFETY: as above; it is not used after this.
            unsafe { body.drop_in_place() };
            // Only now, as what is dropped may touch it.
            P::discard(body);
            // SAFETY: its memory came from a box in `new`, and nothing is left to be dropped.
            drop(unsafe { Box::from_raw(body.cast::<ManuallyDrop<B>>()) });
        }
    }
}
