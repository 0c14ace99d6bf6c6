//! What everybody has: one copy behind a read-write lock of `kilocore-locks`.

use std::cell::UnsafeCell;
use std::marker::PhantomData;

use kilocore_locks::RawRwLock;
use kilocore_platform::{Padded, Platform};

/// Data behind a lock, which has a cache line for itself.
pub struct Locked<P, L, T> {
    lock: Padded<L>,
    data: UnsafeCell<T>,
    platform: PhantomData<P>,
}

// SAFETY: readers share the data, and a writer has it for itself.
unsafe impl<P: Platform, L: RawRwLock<P>, T: Send + Sync> Sync for Locked<P, L, T> {}

impl<P: Platform, L: RawRwLock<P>, T> Locked<P, L, T> {
    /// Returns data with a free lock.
    pub fn new(data: T) -> Self {
        Self { lock: Padded(L::new()), data: UnsafeCell::new(data), platform: PhantomData }
    }

    /// Calls `read` with the data, while other readers may read and no writer changes it.
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        let reader = self.lock.acquire_shared();
        // SAFETY: readers share it with readers only.
        let result = read(unsafe { &*self.data.get() });
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared(reader) };
        result
    }

    /// Calls `change` with the data, while nobody else reads or changes it.
    pub fn update(&self, change: impl FnOnce(&mut T)) {
        self.lock.acquire();
        // SAFETY: a writer is alone.
        change(unsafe { &mut *self.data.get() });
        // SAFETY: acquired above.
        unsafe { self.lock.release() };
    }
}

impl<P, L, T> std::fmt::Debug for Locked<P, L, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Locked").finish_non_exhaustive()
    }
}
