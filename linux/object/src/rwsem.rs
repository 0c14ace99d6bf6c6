// SPDX-License-Identifier: GPL-2.0
//! The kernel's own read-write semaphore, as a lock for the algorithms.

use core::cell::UnsafeCell;

use kilocore_locks::RawRwLock;

use crate::kernel::{Kernel, bug};

unsafe extern "C" {
    fn down_read(semaphore: *const Rwsem);
    fn down_read_trylock(semaphore: *const Rwsem) -> i32;
    fn up_read(semaphore: *const Rwsem);
    fn down_write(semaphore: *const Rwsem);
    fn down_write_trylock(semaphore: *const Rwsem) -> i32;
    fn up_write(semaphore: *const Rwsem);
    fn downgrade_write(semaphore: *const Rwsem);
}

/// A `struct rw_semaphore` of the kernel's. It is only ever referred to: it has no size here.
#[repr(C)]
pub(crate) struct Rwsem {
    opaque: UnsafeCell<[u8; 0]>,
}

// SAFETY: the kernel's functions may be called by any thread.
unsafe impl Send for Rwsem {}
// SAFETY: as above.
unsafe impl Sync for Rwsem {}

// SAFETY: the kernel's semaphore excludes writers from all others, and orders what one thread does inside
// before what the next one does.
unsafe impl RawRwLock<Kernel> for Rwsem {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = false;

    fn new() -> Self {
        // It is made by `init_rwsem`, where it lies.
        bug()
    }
    fn acquire_shared(&self) {
        // SAFETY: a reference is to a semaphore that was initialized.
        unsafe { down_read(self) }
    }
    fn try_acquire_shared(&self) -> Option<()> {
        // SAFETY: as above.
        (unsafe { down_read_trylock(self) } != 0).then_some(())
    }
    unsafe fn release_shared(&self, (): ()) {
        // SAFETY: as above; the caller is inside.
        unsafe { up_read(self) }
    }
    fn acquire(&self) {
        // SAFETY: as above.
        unsafe { down_write(self) }
    }
    fn try_acquire(&self) -> bool {
        // SAFETY: as above.
        unsafe { down_write_trylock(self) != 0 }
    }
    unsafe fn release(&self) {
        // SAFETY: as above; the caller is inside.
        unsafe { up_write(self) }
    }
    unsafe fn downgrade(&self) {
        // SAFETY: as above.
        unsafe { downgrade_write(self) }
    }
    unsafe fn forget_others(&self) {
        // There is no fork in the kernel.
        bug()
    }
}
