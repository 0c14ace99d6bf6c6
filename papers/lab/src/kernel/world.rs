//! The lines, locks and trees that all cores share.

use std::ptr::NonNull;

use kilocore_kernel_path::{LockKind, Mode};
use kilocore_ldu::raw::{InsertionLog, Node, Released};
use kilocore_locks::{Mcs, RawLock, RawRwLock, Rwsem};
use kilocore_platform::{Atomic, Padded};
use kilocore_sim::{Sim, SimU64};

use crate::kernel::program::Plan;

/// The semaphore of Linux 6.12, whose writers spin on if another one takes it first.
pub(crate) type Semaphore = Rwsem<Sim>;

/// A lock of the kernel's.
pub(crate) enum Lock {
    Spins(Padded<Mcs<Sim>>),
    Sleeps(Box<Semaphore>),
}

impl Lock {
    fn new(kind: LockKind) -> Self {
        match kind {
            LockKind::Spin | LockKind::ReadWriteSpin => Self::Spins(Padded(Mcs::new())),
            LockKind::Semaphore | LockKind::Mutex => Self::Sleeps(Box::new(Rwsem::new())),
        }
    }

    pub(crate) fn acquire(&self, mode: Mode) {
        match (self, mode) {
            (Self::Spins(lock), _) => lock.acquire(&mut ()),
            (Self::Sleeps(lock), Mode::Alone) => lock.acquire(),
            (Self::Sleeps(lock), Mode::Shared) => lock.acquire_shared(),
        }
    }

    /// # Safety
    /// The caller has acquired it so.
    pub(crate) unsafe fn release(&self, mode: Mode) {
        // SAFETY: as the caller promises.
        unsafe {
            match (self, mode) {
                (Self::Spins(lock), _) => lock.release(&mut ()),
                (Self::Sleeps(lock), Mode::Alone) => lock.release(),
                (Self::Sleeps(lock), Mode::Shared) => lock.release_shared(()),
            }
        }
    }
}

/// The tree of a file's mappings. What is done in it are recorded steps; only the log is real.
pub(crate) struct Tree {
    pub(crate) lock: Semaphore,
    pub(crate) log: Padded<InsertionLog<Sim>>,
}

/// A mapping, as far as logs know it.
pub(crate) type Mapping = NonNull<Node<Sim>>;

impl Tree {
    fn new() -> Self {
        Self { lock: Rwsem::new(), log: Padded(InsertionLog::new()) }
    }

    /// Returns a new mapping of the file, which is not in the tree.
    pub(crate) fn mapping(&self) -> Mapping {
        let node = NonNull::from(Box::leak(Box::new(Node::new())));
        // SAFETY: it is new, so it is the caller's and in no log.
        let adopted = unsafe { self.log.adopt(node.as_ref()) };
        assert!(adopted, "it is in no log");
        node
    }
}

/// Frees mappings that their owners have given up.
pub(crate) fn free(released: Released<Sim>) {
    // SAFETY: each came from `mapping` and was given up by its owner.
    released.free_all(|node| drop(unsafe { Box::from_raw(node.as_ptr()) }));
}

/// Gives a mapping up that is out of its tree. The log frees it if the log still has it.
pub(crate) fn give_up(mapping: Mapping) {
    // SAFETY: the caller owns it, and does not use it again. It came from `Tree::mapping`.
    unsafe {
        if mapping.as_ref().give_up() {
            drop(Box::from_raw(mapping.as_ptr()));
        }
    }
}

/// Everything that cores share.
pub(crate) struct World {
    pub(crate) lines: Vec<Padded<SimU64>>,
    pub(crate) locks: Vec<Lock>,
    pub(crate) trees: Vec<Tree>,
}

impl World {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            lines: (0..plan.lines()).map(|_| Padded(SimU64::new(0))).collect(),
            locks: plan.kinds.iter().map(|&kind| Lock::new(kind)).collect(),
            trees: (0..plan.trees()).map(|_| Tree::new()).collect(),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // All cores have ended, so what the logs still have was cancelled and given up, or is lost with its core.
        for tree in &self.trees {
            tree.lock.acquire();
            // SAFETY: acquired above.
            unsafe {
                free(tree.log.apply(|_| {}));
                tree.lock.release();
            }
        }
    }
}
