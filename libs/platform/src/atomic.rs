//! The words and cells that threads share.

use core::sync::atomic::Ordering;
#[cfg(target_has_atomic = "64")]
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

/// An atomic word. The methods mean what their namesakes in [`core::sync::atomic`] mean.
#[allow(missing_docs)]
pub trait Atomic: Send + Sync {
    /// What the word holds.
    type Value: Copy + PartialEq + 'static;

    fn new(value: Self::Value) -> Self;
    fn load(&self, order: Ordering) -> Self::Value;
    fn store(&self, value: Self::Value, order: Ordering);
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn compare_exchange(
        &self,
        current: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
    fn compare_exchange_weak(
        &self,
        current: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
}

/// An atomic integer. Arithmetic wraps.
#[allow(missing_docs)]
pub trait AtomicInt: Atomic {
    fn fetch_add(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn fetch_sub(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn fetch_and(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn fetch_or(&self, value: Self::Value, order: Ordering) -> Self::Value;
}

/// Plain data that several threads access. The algorithm orders the accesses by other means.
///
/// The closures receive raw pointers, as those of loom's `UnsafeCell` do. Whether to form a
/// reference is the caller's decision, for which the caller gives the SAFETY argument. A checker
/// reports accesses that overlap if one of them is mutable. The simulator charges one access to
/// each cache line that `T` covers.
pub trait SharedCell<T>: Send + Sync {
    /// Returns a cell that holds `value`.
    fn new(value: T) -> Self;

    /// Calls `read` with a pointer to the data. No other thread may write the data meanwhile.
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R;

    /// Calls `write` with a pointer to the data. No other thread may read or write the data
    /// meanwhile.
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R;
}

/// Implements [`Atomic`] and [`AtomicInt`] by delegation for types that have the methods of
/// the standard atomics as inherent ones. What a platform has to do before each load is a function of the
/// ordering.
macro_rules! delegate_atomics {
    ($($int:ty => $value:ty),* ; $ptr:ident) => {
        delegate_atomics!($($int => $value),*; $ptr; $crate::atomic::nothing);
    };
    ($($int:ty => $value:ty),* ; $ptr:ident; $before_load:path) => {
        $(
            delegate_atomics!(@atomic [] $int, $value, $before_load);
            impl $crate::AtomicInt for $int {
                #[inline(always)]
                fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                    <$int>::fetch_add(self, value, order)
                }
                #[inline(always)]
                fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                    <$int>::fetch_sub(self, value, order)
                }
                #[inline(always)]
                fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                    <$int>::fetch_and(self, value, order)
                }
                #[inline(always)]
                fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                    <$int>::fetch_or(self, value, order)
                }
            }
        )*
        delegate_atomics!(@atomic [T: 'static] $ptr<T>, *mut T, $before_load);
    };
    (@atomic [$($generics:tt)*] $word:ty, $value:ty, $before_load:path) => {
        impl<$($generics)*> $crate::Atomic for $word {
            type Value = $value;
            #[inline(always)]
            fn new(value: $value) -> Self {
                <$word>::new(value)
            }
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                $before_load(order);
                <$word>::load(self, order)
            }
            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                <$word>::store(self, value, order)
            }
            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                <$word>::swap(self, value, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <$word>::compare_exchange(self, current, new, success, failure)
            }
            #[inline(always)]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <$word>::compare_exchange_weak(self, current, new, success, failure)
            }
        }
    };
}
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub(crate) use delegate_atomics;

/// What most platforms do before a load.
#[inline(always)]
pub(crate) fn nothing(_: Ordering) {}

// The processor's words, for every platform whose memory is real: natively, and in a kernel.
#[cfg(target_has_atomic = "64")]
delegate_atomics!(AtomicU32 => u32, AtomicU64 => u64, AtomicUsize => usize; AtomicPtr);
