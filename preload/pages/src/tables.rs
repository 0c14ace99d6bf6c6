//! Tables that are zero at first and last as long as the process. Of a large one only those parts take
//! memory that are used.

use core::mem::MaybeUninit;

/// What is valid if all its bits are zero.
///
/// # Safety
/// It is.
pub(crate) unsafe trait Zero {}

// SAFETY: zero is a number.
unsafe impl Zero for core::sync::atomic::AtomicU64 {}
// SAFETY: as above.
unsafe impl Zero for core::sync::atomic::AtomicU32 {}

/// Returns a table of so many zeros.
pub(crate) fn zeros<T: Zero>(count: usize) -> &'static [T] {
    let table = Box::leak(Box::<[T]>::new_zeroed_slice(count));
    // SAFETY: all bits are zero, which is valid.
    unsafe { &*(core::ptr::from_mut(table) as *const [MaybeUninit<T>] as *const [T]) }
}
