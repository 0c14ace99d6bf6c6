//! The model checker loom: all executions of a small program under the C++11 memory model.
//!
//! loom explores every interleaving and, for each load, every value that it may return. A missing
//! release or acquire therefore shows as a race on a [`SharedCell`].
//!
//! loom treats a sequentially consistent operation as one that acquires and releases, and knows only
//! fences to be more. So a sequentially consistent load is here a fence and an acquire load. If two
//! threads each change a word and then look at that of the other by such a load, one of them sees the
//! other's change, as it must be. loom finds what goes wrong if the load is weaker, but not if the change
//! is. But a fence also orders what is not near it, and hides that an acquire or a release is missing
//! there. So algorithms use such loads only [where they say so](Platform::SEQUENTIAL_LOADS), and exchanges
//! otherwise. A sequentially consistent store is a release store.
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

delegate_atomics!(
    AtomicU32 => u32, AtomicU64 => u64, AtomicUsize => usize; AtomicPtr; fence_before_load
);

/// Makes a sequentially consistent load out of an acquire load.
fn fence_before_load(order: Ordering) {
    if order == Ordering::SeqCst {
        loom::sync::atomic::fence(order);
    }
}

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
