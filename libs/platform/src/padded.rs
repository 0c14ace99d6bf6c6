//! A value with cache lines to itself.

use core::ops::{Deref, DerefMut};

/// Keeps `T` on cache lines that nothing else shares: 128 bytes, because several processors
/// fetch lines in pairs. `T` is at the address of the whole.
#[repr(C, align(128))]
#[derive(Debug, Default, Clone, Copy)]
pub struct Padded<T>(pub T);

impl<T> Deref for Padded<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Padded<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
