//! A word that can only be watched, with an ordering that the watcher chooses.

use kilocore_platform::{Atomic, Ordering};

/// The word that is passed to [`Platform::wait_until`](kilocore_platform::Platform::wait_until),
/// and the ordering with which each look reads it, whatever ordering the platform asks for.
pub(crate) struct Watched<'a, T>(pub(crate) &'a T, pub(crate) Ordering);

/// Panics: while a word is watched, it is not changed through the watcher.
fn only_watched() -> ! {
    unreachable!("a word is only loaded while it is watched")
}

impl<T: Atomic> Atomic for Watched<'_, T> {
    type Value = T::Value;

    fn new(_: T::Value) -> Self {
        only_watched()
    }
    fn load(&self, _: Ordering) -> T::Value {
        self.0.load(self.1)
    }
    fn store(&self, _: T::Value, _: Ordering) {
        only_watched()
    }
    fn swap(&self, _: T::Value, _: Ordering) -> T::Value {
        only_watched()
    }
    fn compare_exchange(
        &self,
        _: T::Value,
        _: T::Value,
        _: Ordering,
        _: Ordering,
    ) -> Result<T::Value, T::Value> {
        only_watched()
    }
    fn compare_exchange_weak(
        &self,
        _: T::Value,
        _: T::Value,
        _: Ordering,
        _: Ordering,
    ) -> Result<T::Value, T::Value> {
        only_watched()
    }
}
