// SPDX-License-Identifier: GPL-2.0
//! The machine inside Linux: the processor's atomics, and what the kernel's C says of cores and time.
//!
//! There is no parking: in the kernel, an algorithm that waits spins with preemption off, or it uses a
//! lock of the kernel's own (`rwsem.rs`).

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use kilocore_platform::{
    Atomic, AtomicInt, CpuId, Cycles, Nanos, NodeId, Ordering, Padded, Parked, Platform,
    READER_SLOTS, ReaderSlots, SharedCell, WAIT_SLOTS, Wait, WaitArray,
};

unsafe extern "C" {
    safe fn kilocore_cpu() -> u32;
    safe fn kilocore_node() -> u32;
    safe fn kilocore_current() -> usize;
    safe fn kilocore_cpu_relax();
    safe fn kilocore_preempt_disable();
    safe fn kilocore_preempt_enable();
    safe fn kilocore_bug() -> !;
}

/// Stops the kernel, as `BUG()` does.
pub(crate) fn bug() -> ! {
    kilocore_bug()
}

/// Linux on x86-64.
#[derive(Debug, Clone, Copy)]
pub struct Kernel;

/// Declares a word of the kernel's memory around one of `core`'s atomics.
macro_rules! word {
    ($(#[doc = $doc:literal])* $name:ident, $atomic:ty, $value:ty $(, $generic:ident)?) => {
        $(#[doc = $doc])*
        #[repr(transparent)]
        #[derive(Debug)]
        pub struct $name$(<$generic>)?($atomic);

        impl$(<$generic: 'static>)? Atomic for $name$(<$generic>)? {
            type Value = $value;
            #[inline(always)]
            fn new(value: $value) -> Self {
                Self(<$atomic>::new(value))
            }
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }
            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }
            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }
            #[inline(always)]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange_weak(current, new, success, failure)
            }
        }
    };
}

macro_rules! int {
    ($name:ident, $value:ty) => {
        impl AtomicInt for $name {
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_add(value, order)
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_sub(value, order)
            }
            #[inline(always)]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_and(value, order)
            }
            #[inline(always)]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_or(value, order)
            }
        }
    };
}

word!(
    /// 32 bits.
    KernelU32, AtomicU32, u32
);
word!(
    /// 64 bits.
    KernelU64, AtomicU64, u64
);
word!(
    /// As many bits as an address has.
    KernelUsize, AtomicUsize, usize
);
word!(
    /// An address.
    KernelPtr, AtomicPtr<T>, *mut T, T
);
int!(KernelU32, u32);
int!(KernelU64, u64);
int!(KernelUsize, usize);

/// Plain data.
#[repr(transparent)]
#[derive(Debug)]
pub struct KernelCell<T>(UnsafeCell<T>);

// SAFETY: it only hands out raw pointers, and the algorithm that follows one has ordered the accesses.
// `T: Send`, because the data is reached from several threads in turn.
unsafe impl<T: Send> Sync for KernelCell<T> {}

impl<T: Send> SharedCell<T> for KernelCell<T> {
    #[inline(always)]
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
    #[inline(always)]
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }
    #[inline(always)]
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

static WAIT_ARRAY: [Padded<KernelU32>; WAIT_SLOTS] =
    [const { Padded(KernelU32(AtomicU32::new(0))) }; WAIT_SLOTS];
static READERS: [KernelUsize; READER_SLOTS] =
    [const { KernelUsize(AtomicUsize::new(0)) }; READER_SLOTS];

// SAFETY: words are `core`'s atomics, transparently, so they have their orderings, and the layout and the
// zero of their values. `wait_until` loads with acquire. There are no homes of cores. A `current` is one
// thread's.
unsafe impl Platform for Kernel {
    type U32 = KernelU32;
    type U64 = KernelU64;
    type Usize = KernelUsize;
    type Ptr<T: 'static> = KernelPtr<T>;
    type Cell<T: Send + 'static> = KernelCell<T>;

    fn cpu() -> CpuId {
        CpuId(kilocore_cpu())
    }
    fn node() -> NodeId {
        NodeId(kilocore_node())
    }
    fn now() -> Cycles {
        // SAFETY: every processor of 64 bits has the counter.
        Cycles(unsafe { core::arch::x86_64::_rdtsc() })
    }
    #[inline(always)]
    fn wait_until<A: Atomic>(
        cell: &A,
        _: Wait,
        mut done: impl FnMut(A::Value) -> bool,
    ) -> A::Value {
        loop {
            let value = cell.load(Ordering::Acquire);
            if done(value) {
                return value;
            }
            kilocore_cpu_relax();
        }
    }
    fn has_low_power_wait() -> bool {
        // So that no algorithm parks in its place.
        true
    }
    fn pause(turns: u32) {
        for _ in 0..turns {
            core::hint::spin_loop();
        }
    }
    fn yield_now() {
        kilocore_cpu_relax();
    }
    fn park(_: &KernelU32, _: u32, _: Option<Nanos>) -> Parked {
        bug()
    }
    fn unpark(_: *const KernelU32, _: u32) -> u32 {
        0
    }
    fn wait_array() -> WaitArray<Self> {
        WaitArray::new(&WAIT_ARRAY)
    }
    fn reader_slots() -> ReaderSlots<Self> {
        ReaderSlots::new(&READERS)
    }
    #[inline(always)]
    fn unpreempted<R>(work: impl FnOnce() -> R) -> R {
        // Whoever waits for the caller may have a higher priority, and then waits for ever.
        kilocore_preempt_disable();
        let result = work();
        kilocore_preempt_enable();
        result
    }
    fn thread_key() -> usize {
        kilocore_current()
    }
    fn address_key<T>(object: &T) -> usize {
        core::ptr::from_ref(object).addr()
    }
}
