//! What a guest waits for: that it is its turn.

use std::sync::{Condvar, Mutex, PoisonError};

/// A place where one thread waits until another one gives it something.
#[derive(Debug, Default)]
pub(super) struct Baton {
    given: Mutex<bool>,
    is_given: Condvar,
}

impl Baton {
    /// Lets the thread go on that waits here, or will.
    pub(super) fn give(&self) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.is_given.notify_one();
    }

    /// Waits until it is given, and takes it.
    pub(super) fn wait(&self) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        while !std::mem::take(&mut *given) {
            given = self.is_given.wait(given).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
