//! Plain data of the simulated machine.

use std::cell::UnsafeCell;

use kilocore_platform::SharedCell;

use super::charge::charge;
use crate::coherence::Access;
use crate::current::with_engine;

/// Simulated plain data. Each access is charged once for every line that it covers.
#[derive(Debug)]
pub struct SimCell<T>(UnsafeCell<T>);

// SAFETY: sharing the cell only hands out raw pointers. Whoever dereferences one argues that its
// accesses are ordered.
unsafe impl<T: Send> Sync for SimCell<T> {}

impl<T> SimCell<T> {
    fn charge(&self, access: Access) {
        let Some(line_shift) = with_engine(|engine| engine.costs.line_shift) else { return };
        let start = self.0.get().addr();
        let last = start + size_of::<T>().max(1) - 1;
        for line in start >> line_shift..=last >> line_shift {
            charge(line << line_shift, access);
        }
    }
}

impl<T: Send> SharedCell<T> for SimCell<T> {
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.charge(Access::Read);
        read(self.0.get())
    }

    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        // Data that is changed is read first as a rule, so the core waits for it.
        self.charge(Access::Read);
        self.charge(Access::Write);
        write(self.0.get())
    }
}
