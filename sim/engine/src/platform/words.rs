//! Words of simulated memory: atomic integers and pointers.

use std::sync::atomic as real;

use kilocore_platform::{Atomic, AtomicInt, Ordering};

use super::charge::charge;
use crate::coherence::Access;

/// Words of simulated memory. They hold their values in real atomics, so that sharing them between
/// threads of the host is well defined. All order is the simulator's.
macro_rules! simulated_word {
    ($(#[$doc:meta])* $name:ident[$($parameter:ident)?] $real:ty => $value:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name$(<$parameter: 'static>)?($real);

        impl$(<$parameter: 'static>)? $name$(<$parameter>)? {
            #[inline(always)]
            fn charge(&self, access: Access) {
                charge(std::ptr::from_ref(self).addr(), access);
            }

            #[inline(always)]
            fn modify(&self, change: impl FnOnce($value) -> Option<$value>) -> $value {
                self.charge(Access::Rmw);
                let old = self.0.load(Ordering::Relaxed);
                if let Some(new) = change(old) {
                    self.0.store(new, Ordering::Relaxed);
                }
                old
            }
        }

        impl$(<$parameter: 'static>)? Atomic for $name$(<$parameter>)? {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(<$real>::new(value))
            }

            #[inline]
            fn load(&self, _order: Ordering) -> $value {
                self.charge(Access::Read);
                self.0.load(Ordering::Relaxed)
            }

            #[inline]
            fn store(&self, value: $value, order: Ordering) {
                // A sequentially consistent store is a swap, as compilers make it on x86.
                let access =
                    if order == Ordering::SeqCst { Access::Rmw } else { Access::Write };
                self.charge(access);
                self.0.store(value, Ordering::Relaxed);
            }

            #[inline]
            fn swap(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|_| Some(value))
            }

            #[inline]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                _success: Ordering,
                _failure: Ordering,
            ) -> Result<$value, $value> {
                let old = self.modify(|old| (old == current).then_some(new));
                if old == current { Ok(old) } else { Err(old) }
            }

            #[inline]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
        }
    };
}

macro_rules! simulated_integer {
    ($(#[$doc:meta])* $name:ident $real:ty => $value:ty) => {
        simulated_word! { $(#[$doc])* $name[] $real => $value }

        impl AtomicInt for $name {
            #[inline]
            fn fetch_add(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old.wrapping_add(value)))
            }

            #[inline]
            fn fetch_sub(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old.wrapping_sub(value)))
            }

            #[inline]
            fn fetch_and(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old & value))
            }

            #[inline]
            fn fetch_or(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old | value))
            }
        }
    };
}

simulated_integer! {
    /// A simulated 32-bit word.
    SimU32 real::AtomicU32 => u32
}
simulated_integer! {
    /// A simulated 64-bit word.
    SimU64 real::AtomicU64 => u64
}
simulated_integer! {
    /// A simulated word of the size of a pointer.
    SimUsize real::AtomicUsize => usize
}

impl SimU32 {
    /// A word of the simulated kernel, which the engine keeps.
    pub(crate) fn of_kernel(word: &real::AtomicU32) -> &Self {
        // SAFETY: `SimU32` is transparent over the word.
        unsafe { &*std::ptr::from_ref(word).cast() }
    }

    /// Sets the word without charging anybody.
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl SimUsize {
    /// Sets the word without charging anybody.
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

simulated_word! {
    /// A pointer-sized word of simulated memory that holds a pointer.
    SimPtr[T] real::AtomicPtr<T> => *mut T
}
