//! What only one thread does at a time.

use std::marker::PhantomData;

use kilocore_locks::{Futex, RawLock};
use kilocore_platform::Platform;

/// A lock over no data.
pub(crate) struct Serial<P: Platform>(Futex<P>);

impl<P: Platform> Serial<P> {
    pub(crate) fn new() -> Self {
        Self(Futex::new())
    }

    /// Waits until no other thread is between this and the end of what it returns.
    pub(crate) fn enter(&self) -> impl Drop + '_ {
        self.0.acquire(&mut ());
        Turn { serial: self, not_send: PhantomData }
    }
}

struct Turn<'a, P: Platform> {
    serial: &'a Serial<P>,
    not_send: PhantomData<*const ()>,
}

impl<P: Platform> Drop for Turn<'_, P> {
    fn drop(&mut self) {
        // SAFETY: this thread has acquired it in `enter`, as this value cannot be sent to another.
        unsafe { self.serial.0.release(&mut ()) };
    }
}
