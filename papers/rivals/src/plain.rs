//! The hook of schemes that do nothing with an object after it was removed.

use core::fmt;
use core::ptr::NonNull;

use kilocore_ldu::{Hook, Object};
use kilocore_platform::Platform;

use crate::home::Home;

/// Remembers which root an object is in. The object is freed as soon as it is released.
pub struct PlainHook<P: Platform> {
    pub(crate) home: Home<P>,
}

// SAFETY: when a removal returns, the schemes that use this hook have finished with the object. So
// only its owner uses a detached object.
unsafe impl<P: Platform> Hook for PlainHook<P> {
    type Platform = P;

    fn new() -> Self {
        Self { home: Home::new() }
    }

    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: the caller promises that it owns the object, and no other thread uses it.
        unsafe { Object::free(object) };
    }

    fn is_settled(&self) -> bool {
        true
    }
}

impl<P: Platform> fmt::Debug for PlainHook<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainHook").finish_non_exhaustive()
    }
}
