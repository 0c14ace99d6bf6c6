//! Data behind a read-write lock.
//!
//! The lock and the data have cache lines of their own, so that those who wait at the lock do not
//! disturb whoever works on the data.

use kilocore_locks::RawRwLock;
use kilocore_platform::{Padded, Platform, SharedCell};

/// `T`, behind a lock.
pub(crate) struct Guarded<P: Platform, L: RawRwLock<P>, T: Send + 'static> {
    lock: Padded<L>,
    data: Padded<P::Cell<T>>,
}

/// Leaves as a reader at its end, which may be a panic of the user's code.
struct Reader<'a, P: Platform, L: RawRwLock<P>>(&'a L, core::marker::PhantomData<P>);

impl<P: Platform, L: RawRwLock<P>> Drop for Reader<'_, P, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: whoever made this was inside as a reader and left that to it.
        unsafe { self.0.release_shared() };
    }
}

/// Leaves as the writer at its end.
struct Writer<'a, P: Platform, L: RawRwLock<P>>(&'a L, core::marker::PhantomData<P>);

impl<P: Platform, L: RawRwLock<P>> Drop for Writer<'_, P, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: whoever made this was inside as the writer and left that to it.
        unsafe { self.0.release() };
    }
}

impl<P: Platform, L: RawRwLock<P>, T: Send + Sync + 'static> Guarded<P, L, T> {
    pub(crate) fn new(data: T) -> Self {
        Self { lock: Padded(L::new()), data: Padded(P::Cell::new(data)) }
    }

    /// Shows the data to a reader.
    #[inline]
    pub(crate) fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.lock.acquire_shared();
        let _inside = Reader::<P, L>(&self.lock, core::marker::PhantomData);
        // SAFETY: inside as a reader, so nobody writes.
        self.data.with(|data| read(unsafe { &*data }))
    }

    /// Shows the data to a reader if, once inside, `may` says so. Says what it said.
    #[inline]
    pub(crate) fn read_if(&self, may: impl FnOnce() -> bool, read: impl FnOnce(&T)) -> bool {
        self.lock.acquire_shared();
        let _inside = Reader::<P, L>(&self.lock, core::marker::PhantomData);
        let may = may();
        if may {
            // SAFETY: inside as a reader, so nobody writes.
            self.data.with(|data| read(unsafe { &*data }));
        }
        may
    }

    /// Shows the data to the only writer.
    #[inline]
    pub(crate) fn write<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        self.lock.acquire();
        let _inside = Writer::<P, L>(&self.lock, core::marker::PhantomData);
        self.change(write)
    }

    /// Shows the data to the only writer, and then to it as a reader among others, with no other
    /// writer in between.
    pub(crate) fn write_then_read(&self, write: impl FnOnce(&mut T), read: impl FnOnce(&T)) {
        self.lock.acquire();
        let inside = Writer::<P, L>(&self.lock, core::marker::PhantomData);
        self.change(write);
        core::mem::forget(inside);
        // SAFETY: inside as the writer, whose guard is forgotten.
        unsafe { self.lock.downgrade() };
        let _inside = Reader::<P, L>(&self.lock, core::marker::PhantomData);
        // SAFETY: inside as a reader, so nobody writes.
        self.data.with(|data| read(unsafe { &*data }));
    }

    /// Shows the data to somebody who has it alone anyway.
    pub(crate) fn write_alone<R>(&mut self, write: impl FnOnce(&mut T) -> R) -> R {
        self.change(write)
    }

    #[inline]
    fn change<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the callers are inside as the writer or have the whole exclusively.
        self.data.with_mut(|data| write(unsafe { &mut *data }))
    }
}
