// SPDX-License-Identifier: GPL-2.0
//! The machine inside Linux: the processor's atomics, and what the kernel's C says of cores and time.
//!
//! There is no parking: in the kernel, an algorithm that waits spins with preemption off, or it uses a
//! lock of the kernel's own (`rwsem.rs`).

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use kilocore_platform::{
    Atomic, CpuId, Cycles, Nanos, NodeId, Ordering, Padded, Parked, Platform, READER_SLOTS,
    ReaderSlots, SharedCell, WAIT_SLOTS, Wait, WaitArray,
};

unsafe extern "C" {
    safe fn kilocore_cpu() -> u32;
    safe fn kilocore_node() -> u32;
    safe fn kilocore_current() -> usize;
    safe fn kilocore_cpu_relax();
    safe fn kilocore_rests();
    safe fn kilocore_watch(line: *const ()) -> bool;
    safe fn kilocore_rest();
    safe fn kilocore_preempt_disable();
    safe fn kilocore_preempt_enable();
    safe fn kilocore_bug() -> !;
}

/// Stops the kernel, as `BUG()` does.
pub(crate) fn bug() -> ! {
    kilocore_bug()
}

/// Waits as [`Platform::wait_until`] does, and rests the processor until the cell's cache line is written.
fn rest_until<A: Atomic>(cell: &A, mut done: impl FnMut(A::Value) -> bool) -> A::Value {
    let mut rested = false;
    loop {
        let value = cell.load(Ordering::Acquire);
        if done(value) {
            return value;
        }
        if !rested {
            rested = true;
            kilocore_rests();
        }
        if kilocore_watch(core::ptr::from_ref(cell).cast()) {
            // A write from here on ends the rest. One from before is seen now.
            let value = cell.load(Ordering::Acquire);
            if done(value) {
                return value;
            }
            kilocore_rest();
        } else {
            kilocore_cpu_relax();
        }
    }
}

/// Linux on x86-64.
#[derive(Debug, Clone, Copy)]
pub struct Kernel;

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

static WAIT_ARRAY: [Padded<AtomicU32>; WAIT_SLOTS] =
    [const { Padded(AtomicU32::new(0)) }; WAIT_SLOTS];
static READERS: [AtomicUsize; READER_SLOTS] = [const { AtomicUsize::new(0) }; READER_SLOTS];

// SAFETY: words are `core`'s atomics, with their orderings, and the layout and the zero of their values. `wait_until` loads with acquire. There are no homes of cores. A `current` is one
// thread's.
unsafe impl Platform for Kernel {
    type U32 = AtomicU32;
    type U64 = AtomicU64;
    type Usize = AtomicUsize;
    type Ptr<T: 'static> = AtomicPtr<T>;
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
        how: Wait,
        mut done: impl FnMut(A::Value) -> bool,
    ) -> A::Value {
        if how == Wait::LowPower {
            return rest_until(cell, done);
        }
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
    fn park(_: &AtomicU32, _: u32, _: Option<Nanos>) -> Parked {
        bug()
    }
    fn unpark(_: *const AtomicU32, _: u32) -> u32 {
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
