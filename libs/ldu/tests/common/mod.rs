//! The programs that the checkers run: small programs around a log, with checks that know the right
//! results.
#![allow(dead_code, missing_docs, unreachable_pub, missing_debug_implementations)]

pub mod history;
pub mod larger;
pub mod ledger;
pub mod paper;
pub mod paper_root;
pub mod paper_slots;
pub mod programs;
pub mod prompt;
pub mod site;
pub mod subject;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kilocore_ldu::Structure;

/// The messages of panics that the checkers report.
pub const TWICE: &str = "put in twice";
pub const ABSENT: &str = "taken out without being in";
pub const FREED_INSIDE: &str = "freed while in the structure";
pub const MISSED: &str = "its owner reads and misses its update";
pub const UNSEEN: &str = "a read that is under way misses an object whose insertion has returned";
pub const IN_HAND: &str = "a read that is under way has seen an object whose removal has returned";
pub const TORN: &str = "a read misses an update and sees a later one";

/// An item that knows where it is. Its flags are not part of the program that is checked.
pub struct Probe {
    pub id: usize,
    inside: AtomicBool,
    freed: Arc<AtomicUsize>,
}

impl Probe {
    pub fn new(id: usize, freed: &Arc<AtomicUsize>) -> Self {
        Self { id, inside: AtomicBool::new(false), freed: Arc::clone(freed) }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(!self.inside.load(Ordering::Relaxed), "an object was {FREED_INSIDE}");
        }
        self.freed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The sequential structure: which probes are in, a bit for each.
#[derive(Debug, Default)]
pub struct Census {
    pub members: u64,
}

impl Census {
    pub fn has(&self, id: usize) -> bool {
        self.members >> id & 1 == 1
    }
}

impl Structure for Census {
    type Item = Probe;

    unsafe fn insert(&mut self, probe: &Probe) {
        assert!(!probe.inside.swap(true, Ordering::Relaxed), "an object was {TWICE}");
        assert!(!self.has(probe.id), "an object was {TWICE}");
        self.members |= 1 << probe.id;
    }

    unsafe fn remove(&mut self, probe: &Probe) {
        assert!(probe.inside.swap(false, Ordering::Relaxed), "an object was {ABSENT}");
        assert!(self.has(probe.id), "an object was {ABSENT}");
        self.members &= !(1 << probe.id);
    }
}

/// Implements `RawRwLock` of a platform for a lock around another one, which threads enter and leave in its
/// place.
macro_rules! enters_by_inner {
    ([$($generics:tt)*] $lock:ty, $platform:ty, $inner:ty) => {
        // SAFETY: every function calls that of the lock inside.
        unsafe impl<$($generics)*> kilocore_locks::RawRwLock<$platform> for $lock {
            type Reader = ();
            const ALIKE: () = ();
            const HOLDER_MAY_DESTROY: bool = false;

            fn new() -> Self {
                Self(<$inner>::new())
            }
            fn acquire_shared(&self) {
                self.0.acquire_shared();
            }
            fn try_acquire_shared(&self) -> Option<()> {
                self.0.try_acquire_shared()
            }
            unsafe fn release_shared(&self, (): ()) {
                // SAFETY: by the caller's promise.
                unsafe { self.0.release_shared(()) };
            }
            fn acquire(&self) {
                self.0.acquire();
            }
            fn try_acquire(&self) -> bool {
                self.0.try_acquire()
            }
            unsafe fn release(&self) {
                // SAFETY: by the caller's promise.
                unsafe { self.0.release() };
            }
            unsafe fn downgrade(&self) {
                // SAFETY: by the caller's promise.
                unsafe { self.0.downgrade() };
            }
            unsafe fn forget_others(&self) {
                // SAFETY: by the caller's promise.
                unsafe { self.0.forget_others() };
            }
        }
    };
}
pub(crate) use enters_by_inner;
