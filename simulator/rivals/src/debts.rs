//! How often a scheme will still come back to an object.
//!
//! An object that its owner gives back may still be referred to: by an entry of a log that was not
//! applied, by readers who started before it was removed. Each such reference is a debt. The object
//! is settled when there is none, and it is freed by its owner if it is settled then, or else by
//! whoever pays the last debt. So giving an object back needs no thread, no lock and no root.

use core::ptr::NonNull;

use kilocore_ldu::{Hook, Object};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// The owner has given the object back.
const RELEASED: usize = 1;
/// One debt.
const DEBT: usize = 2;

/// A count of debts, in the hook of an object.
pub(crate) struct Debts<P: Platform> {
    state: P::Usize,
}

impl<P: Platform> Debts<P> {
    pub(crate) fn new() -> Self {
        Self { state: P::Usize::new(0) }
    }

    /// Whether there are none. Then all that was owed has happened before.
    #[inline]
    pub(crate) fn none(&self) -> bool {
        self.state.load(Ordering::Acquire) == 0
    }

    /// One more. Only the owner makes debts, so relaxed: it tells nobody anything.
    #[inline]
    pub(crate) fn owe(&self) {
        self.state.fetch_add(DEBT, Ordering::Relaxed);
    }

    /// One less, by the owner, who has called off what was owed.
    #[inline]
    pub(crate) fn forgive(&self) {
        self.state.fetch_sub(DEBT, Ordering::Relaxed);
    }

    /// One less; frees the object if it was the last and the owner has given the object back.
    ///
    /// # Safety
    /// `object` has these debts in its hook, and the caller pays one that it was charged with and
    /// does not use the object again.
    #[inline]
    pub(crate) unsafe fn pay<H: Hook, T: Send + Sync + 'static>(
        &self,
        object: NonNull<Object<H, T>>,
    ) {
        // Release: our uses happen before the object is freed or found settled. Acquire: so do
        // those of the owner and of who paid before, if we free it.
        if self.state.fetch_sub(DEBT, Ordering::AcqRel) == DEBT | RELEASED {
            // SAFETY: the owner is done with it, and nobody else owes it anything.
            unsafe { Object::free(object) };
        }
    }

    /// Gives the object back.
    ///
    /// # Safety
    /// `object` has these debts in its hook, and the caller owns it and does not use it again.
    #[inline]
    pub(crate) unsafe fn release<H: Hook, T: Send + Sync + 'static>(
        &self,
        object: NonNull<Object<H, T>>,
    ) {
        // Nobody but the owner makes debts, so none now is none for good. Otherwise, release and
        // acquire as in `pay`.
        if self.none() || self.state.fetch_or(RELEASED, Ordering::AcqRel) == 0 {
            // SAFETY: the caller is done with it, and nobody owes it anything.
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

    // SAFETY: as its debts, which are what is tested.
    unsafe impl Hook for Indebted {
        type Platform = Loom;

        fn new() -> Self {
            Self(Debts::new())
        }

        unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
            // SAFETY: the object's own debts; the caller owns it.
            unsafe { (*object.as_ptr()).hook.0.release(object) };
        }

        fn is_settled(&self) -> bool {
            self.0.none()
        }
    }

    /// Read until it is dropped; loom's cells tell if that is at the same time.
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

    /// An object, as a thread that owes it something has it.
    struct Owed(NonNull<Object<Indebted, Read>>);

    // SAFETY: what is in the object may be shared between threads.
    unsafe impl Send for Owed {}

    impl Owed {
        /// Reads the object and pays what it is owed.
        fn pay(self) {
            // SAFETY: the debt that is paid here keeps the object alive.
            unsafe {
                self.0.as_ref().item.cell.with(|seven| assert_eq!(*seven, 7));
                (*self.0.as_ptr()).hook.0.pay(self.0);
            }
        }
    }

    /// An object with two debts, which two threads pay after they have read it, while its owner does
    /// `end` with it.
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
            // SAFETY: from `into_raw` above, and detached but for its debts.
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
