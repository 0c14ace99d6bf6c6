//! The model checker loom: all executions of a small program under the C++11 memory model.
//!
//! loom explores every interleaving and, for each load, every value that it may return. A missing
//! release or acquire therefore shows as a race on a [`SharedCell`]. loom treats a sequentially
//! consistent load as an acquire load, and such a store as a release store. An algorithm that needs
//! more must use read-modify-writes; otherwise loom reports failures that cannot happen.
//!
//! Use it inside `loom::model`.

use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use crate::atomic::delegate_atomics;
use crate::checker::checker_platform;
use crate::{Atomic, CpuId, Cycles, Nanos, NodeId, Ordering, Parked, Platform, SharedCell, Wait};
use crate::{ReaderSlots, WaitArray};

/// The machine inside `loom::model`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Loom;

delegate_atomics!(AtomicU32 => u32, AtomicU64 => u64, AtomicUsize => usize; AtomicPtr);

/// loom's `UnsafeCell`, which reports accesses that are not ordered.
#[derive(Debug)]
pub struct LoomCell<T>(loom::cell::UnsafeCell<T>);

// SAFETY: sharing the cell only hands out raw pointers, and loom reports accesses through it
// that are not ordered by happens-before. `T: Send` because the data is reached from several
// threads in turn.
unsafe impl<T: Send> Sync for LoomCell<T> {}

impl<T: Send> SharedCell<T> for LoomCell<T> {
    #[track_caller]
    fn new(value: T) -> Self {
        Self(loom::cell::UnsafeCell::new(value))
    }
    #[track_caller]
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.0.with(read)
    }
    #[track_caller]
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(write)
    }
}

checker_platform!(Loom, loom, LoomCell);
