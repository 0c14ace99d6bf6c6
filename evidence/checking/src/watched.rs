//! A word that is only watched, with an ordering of the watcher's own.

use kilocore_platform::{Atomic, Ordering};

/// What [`Platform::wait_until`](kilocore_platform::Platform::wait_until) gets to watch: the word,
/// and the ordering with which each look reads it, whatever the platform asks for.
pub(crate) struct Watched<'a, T>(pub(crate) &'a T, pub(crate) Ordering);

/// Nobody changes a word that is only watched.
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
