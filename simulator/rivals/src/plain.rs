//! The hook of schemes that have no business with an object once it is removed.

use core::fmt;
use core::ptr::NonNull;

use kilocore_ldu::{Hook, Object};
use kilocore_platform::Platform;

use crate::home::Home;

/// Says which root an object is in, and no more. The object is freed as soon as it is given back.
pub struct PlainHook<P: Platform> {
    pub(crate) home: Home<P>,
}

// SAFETY: the schemes that use it have done their work on an object when a removal returns. So a
// detached object is nobody's but its owner's.
unsafe impl<P: Platform> Hook for PlainHook<P> {
    type Platform = P;

    fn new() -> Self {
        Self { home: Home::new() }
    }

    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: by the caller's promise, and nobody else uses it.
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
