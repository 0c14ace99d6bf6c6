//! A value that shares its cache lines with no other value.

use core::ops::{Deref, DerefMut};

/// Keeps a `T` on cache lines of its own, so that threads which write to neighbouring data do not
/// slow down those that use the `T`.
///
/// The alignment is 128 bytes although most lines have 64, because several processors fetch lines
/// in pairs. The `T` is at the address of the `Padded`.
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
