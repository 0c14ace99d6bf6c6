//! The model checker shuttle: random schedules of a program too large for loom.
//!
//! shuttle keeps memory sequentially consistent, whatever ordering an operation asks for. So it
//! finds bad interleavings and lost wake-ups, but no ordering that is too weak; loom finds those.
//! shuttle has no cell that detects races, so this module has one.
//!
//! Use it inside `shuttle::check_random` and its kin.

use core::cell::UnsafeCell;

use shuttle::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use crate::atomic::delegate_atomics;
use crate::checker::checker_platform;
use crate::{Atomic, CpuId, Cycles, Nanos, NodeId, Ordering, Parked, Platform, SharedCell, Wait};
use crate::{ReaderSlots, WaitArray};

/// The machine inside `shuttle::check_random` and its kin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shuttle;

delegate_atomics!(AtomicU32 => u32, AtomicU64 => u64, AtomicUsize => usize; AtomicPtr);

/// What [`ShuttleCell`]'s borrow count holds while the data is shown for writing.
const WRITING: usize = usize::MAX;

/// A cell that panics when accesses overlap and one of them writes.
///
/// The borrow count is itself one of shuttle's atomics. Each operation on it is a point at which
/// the scheduler may switch to another thread. Without such points, no two accesses could ever
/// overlap.
#[derive(Debug)]
pub struct ShuttleCell<T> {
    /// Readers inside, or [`WRITING`].
    borrows: AtomicUsize,
    data: UnsafeCell<T>,
}

// SAFETY: sharing the cell only hands out raw pointers, and overlapping accesses of which one
// writes panic. `T: Send` because the data is reached from several threads in turn.
unsafe impl<T: Send> Sync for ShuttleCell<T> {}

impl<T: Send> SharedCell<T> for ShuttleCell<T> {
    fn new(value: T) -> Self {
        Self { borrows: AtomicUsize::new(0), data: UnsafeCell::new(value) }
    }

    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        let before = self.borrows.fetch_add(1, Ordering::SeqCst);
        assert!(before != WRITING, "race: data is read while it is written");
        let result = read(self.data.get());
        self.borrows.fetch_sub(1, Ordering::SeqCst);
        result
    }

    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let before = self.borrows.swap(WRITING, Ordering::SeqCst);
        assert!(before == 0, "race: data is written while it is read or written");
        let result = write(self.data.get());
        let during = self.borrows.swap(0, Ordering::SeqCst);
        assert!(during == WRITING, "race: data was read while it was written");
        result
    }
}

checker_platform!(Shuttle, shuttle, ShuttleCell);
