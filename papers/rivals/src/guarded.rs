//! Data behind a read-write lock.
//!
//! The lock and the data lie on separate cache lines, so that threads that wait for the lock do not
//! disturb the thread that works on the data.

use kilocore_locks::RawRwLock;
use kilocore_platform::{Padded, Platform, SharedCell};

/// Data of type `T` behind a lock.
pub(crate) struct Guarded<P: Platform, L: RawRwLock<P, Reader = ()>, T: Send + 'static> {
    lock: Padded<L>,
    data: Padded<P::Cell<T>>,
}

/// Leaves the lock as a reader when it is dropped, even if the user's code panics.
struct Reader<'a, P: Platform, L: RawRwLock<P, Reader = ()>>(&'a L, core::marker::PhantomData<P>);

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Drop for Reader<'_, P, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the thread that made this was inside as a reader, and only this leaves for it.
        unsafe { self.0.release_shared(()) };
    }
}

/// Leaves the lock as the writer when it is dropped.
struct Writer<'a, P: Platform, L: RawRwLock<P, Reader = ()>>(&'a L, core::marker::PhantomData<P>);

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Drop for Writer<'_, P, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the thread that made this was inside as the writer, and only this leaves for it.
        unsafe { self.0.release() };
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, T: Send + Sync + 'static> Guarded<P, L, T> {
    pub(crate) fn new(data: T) -> Self {
        Self { lock: Padded(L::new()), data: Padded(P::Cell::new(data)) }
    }

    /// Calls `read` with the data, as a reader.
    #[inline]
    pub(crate) fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.lock.acquire_shared();
        let _inside = Reader::<P, L>(&self.lock, core::marker::PhantomData);
        // SAFETY: this thread is inside as a reader, so no thread writes.
        self.data.with(|data| read(unsafe { &*data }))
    }

    /// Enters as a reader and asks `may`. If it returns true, calls `read` with the data. Returns
    /// what `may` returned.
    #[inline]
    pub(crate) fn read_if(&self, may: impl FnOnce() -> bool, read: impl FnOnce(&T)) -> bool {
        self.lock.acquire_shared();
        let _inside = Reader::<P, L>(&self.lock, core::marker::PhantomData);
        let may = may();
        if may {
            // SAFETY: this thread is inside as a reader, so no thread writes.
            self.data.with(|data| read(unsafe { &*data }));
        }
        may
    }

    /// Calls `write` with the data, as the only writer.
    #[inline]
    pub(crate) fn write<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        self.lock.acquire();
        let _inside = Writer::<P, L>(&self.lock, core::marker::PhantomData);
        self.change(write)
    }

    /// Calls `write` with the data as the only writer, and then `read` as a reader among others. No
    /// other writer gets in between.
    pub(crate) fn write_then_read(&self, write: impl FnOnce(&mut T), read: impl FnOnce(&T)) {
        self.lock.acquire();
        let inside = Writer::<P, L>(&self.lock, core::marker::PhantomData);
        self.change(write);
        core::mem::forget(inside);
        // SAFETY: this thread is inside as the writer, and the guard that would leave is forgotten.
        unsafe { self.lock.downgrade() };
        let _inside = Reader::<P, L>(&self.lock, core::marker::PhantomData);
        // SAFETY: this thread is inside as a reader, so no thread writes.
        self.data.with(|data| read(unsafe { &*data }));
    }

    /// Calls `write` with the data. The caller has exclusive access already.
    pub(crate) fn write_alone<R>(&mut self, write: impl FnOnce(&mut T) -> R) -> R {
        self.change(write)
    }

    #[inline]
    fn change<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the callers are inside as the writer or have exclusive access to the whole.
        self.data.with_mut(|data| write(unsafe { &mut *data }))
    }
}
