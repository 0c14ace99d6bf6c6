//! Counts the references that a scheme still has to an object.
//!
//! After the owner has released an object, something may still refer to it: an entry of a log that
//! was not applied yet, or a reader that started before the object was removed. Each such reference
//! is a debt. An object without debts is settled. If the object is settled when its owner releases
//! it, the owner frees it. Otherwise the thread that pays the last debt frees it. Releasing an
//! object therefore needs no thread, no lock and no root.

use core::ptr::NonNull;

use kilocore_ldu::{Hook, Object};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// Set once the owner has released the object.
const RELEASED: usize = 1;
/// The amount by which one debt increases the state.
const DEBT: usize = 2;

/// The count of debts. It lies in the hook of an object.
pub(crate) struct Debts<P: Platform> {
    state: P::Usize,
}

impl<P: Platform> Debts<P> {
    pub(crate) fn new() -> Self {
        Self { state: P::Usize::new(0) }
    }

    /// Whether there are no debts. If so, everything that was owed has happened before.
    #[inline]
    pub(crate) fn none(&self) -> bool {
        self.state.load(Ordering::Acquire) == 0
    }

    /// Adds a debt. Only the owner does so, and a debt publishes nothing, so relaxed is enough.
    #[inline]
    pub(crate) fn owe(&self) {
        self.state.fetch_add(DEBT, Ordering::Relaxed);
    }

    /// Cancels a debt. Only the owner does so, after it has called off what was owed.
    #[inline]
    pub(crate) fn forgive(&self) {
        self.state.fetch_sub(DEBT, Ordering::Relaxed);
    }

    /// Pays a debt. Frees the object if this was the last debt and the owner has released the
    /// object.
    ///
    /// # Safety
    /// These debts must be in the hook of `object`. The caller must pay a debt that it was charged
    /// with, and must not use the object again.
    #[inline]
    pub(crate) unsafe fn pay<H: Hook, T: Send + Sync + 'static>(
        &self,
        object: NonNull<Object<H, T>>,
    ) {
        // Release: our uses happen before the object is freed or is found settled. Acquire: if we
        // free it, the uses of its owner and of those who paid before happen before that.
        if self.state.fetch_sub(DEBT, Ordering::AcqRel) == DEBT | RELEASED {
            // SAFETY: the owner has released it, and this was the last debt.
            unsafe { Object::free(object) };
        }
    }

    /// Releases the object.
    ///
    /// # Safety
    /// These debts must be in the hook of `object`. The caller must own the object and must not use
    /// it again.
    #[inline]
    pub(crate) unsafe fn release<H: Hook, T: Send + Sync + 'static>(
        &self,
        object: NonNull<Object<H, T>>,
    ) {
        // Only the owner makes debts. So if there are none now, there will never be any. Otherwise
        // release and acquire are needed as in `pay`.
        if self.none() || self.state.fetch_or(RELEASED, Ordering::AcqRel) == 0 {
            // SAFETY: the caller does not use it again, and there are no debts.
            unsafe { Object::free(object) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use core::sync::atomic::AtomicUsize;
    use kilocore_ldu::Detached;
    use kilocore_platform::{Loom, SharedCell};

    struct Indebted(Debts<Loom>);

    // SAFETY: the promises of `Hook` are those of its debts, which are what is tested.
    unsafe impl Hook for Indebted {
        type Platform = Loom;

        fn new() -> Self {
            Self(Debts::new())
        }

        unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
            // SAFETY: these are the object's own debts, and the caller owns it.
            unsafe { (*object.as_ptr()).hook.0.release(object) };
        }

        fn is_settled(&self) -> bool {
            self.0.none()
        }
    }

    /// An item that is read until it is dropped. Loom's cells detect a read at the time of the
    /// drop.
    struct Read {
        cell: <Loom as Platform>::Cell<u32>,
        dropped: Arc<AtomicUsize>,
    }

    impl Drop for Read {
        fn drop(&mut self) {
            self.cell.with_mut(|_| ());
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An object, as seen by a thread that has a debt to pay.
    struct Owed(NonNull<Object<Indebted, Read>>);

    // SAFETY: what is in the object may be shared between threads.
    unsafe impl Send for Owed {}

    impl Owed {
        /// Reads the object and pays the debt.
        fn pay(self) {
            // SAFETY: the debt that is paid here keeps the object alive.
            unsafe {
                self.0.as_ref().item.cell.with(|seven| assert_eq!(*seven, 7));
                (*self.0.as_ptr()).hook.0.pay(self.0);
            }
        }
    }

    /// Makes an object with two debts. Two threads read the object and then pay a debt each, while
    /// the owner does `end` with it.
    fn explore(end: fn(Detached<Indebted, Read>)) {
        loom::model(move || {
            let dropped = Arc::new(AtomicUsize::new(0));
            let cell = <Loom as Platform>::Cell::new(7);
            let object: Detached<Indebted, _> =
                Detached::new(Read { cell, dropped: Arc::clone(&dropped) });
            let debts: &Debts<Loom> = &object.hook().0;
            debts.owe();
            debts.owe();
            let object = object.into_raw();
            let payers =
                [Owed(object), Owed(object)].map(|owed| loom::thread::spawn(move || owed.pay()));
            // SAFETY: it comes from `into_raw` above, and nothing but its debts refers to it.
            end(unsafe { Detached::from_raw(object) });
            for payer in payers {
                payer.join().unwrap();
            }
            assert_eq!(dropped.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn whoever_is_last_frees() {
        explore(|object| {
            object.cell.with(|_| ());
            drop(object);
        });
    }

    #[test]
    fn a_settled_object_is_its_owners_alone() {
        explore(|mut object| {
            if let Some(item) = object.get_mut() {
                item.cell.with_mut(|_| ());
            }
        });
    }
}
