//! A lock of a simulated program, of whichever kind.

use kilocore_locks::{Futex, RawLock, Rwsem, Ticket, Ttas};
use kilocore_platform::{Cycles, Padded};
use kilocore_sim::Sim;

use crate::any_rw_lock::{AnyRwLock, Entered};
use crate::workload::{KeptLock, LockUse, Mode};

/// A lock. All locks are padded, because allocators place most locks apart from each other.
#[derive(Debug)]
pub(crate) enum AnyLock<L> {
    /// The algorithm that is tried.
    Tried(Padded<L>),
    /// A read-write lock of the program's, or a read-write semaphore of the kernel.
    ReadWrite(AnyRwLock),
    /// A spin lock of the kernel.
    Spin(Padded<Ticket<Sim>>),
    /// A lock inside the C library.
    Futex(Padded<Futex<Sim>>),
    /// A spin lock of the program's own.
    OwnSpin(Padded<Ttas<Sim>>),
}

/// The state that a thread needs to acquire a lock of any kind.
#[derive(Debug)]
pub(crate) struct LockThread<L: RawLock<Sim>> {
    tried: L::Thread,
}

impl<L: RawLock<Sim>> LockThread<L> {
    /// The state of a thread that holds no lock.
    pub(crate) fn new() -> Self {
        Self { tried: L::Thread::default() }
    }

    /// The thread's side of the algorithm that is tried.
    pub(crate) fn tried(&mut self) -> &mut L::Thread {
        &mut self.tried
    }
}

impl<L: RawLock<Sim>> AnyLock<L> {
    /// Creates one of the locks that `usage` describes.
    pub(crate) fn new(usage: &LockUse) -> Self {
        match usage.kept {
            Some(KeptLock::KernelReadWrite) => Self::ReadWrite(AnyRwLock::of::<Rwsem<Sim>>()),
            Some(KeptLock::KernelSpin) => Self::Spin(Padded(Ticket::new())),
            Some(KeptLock::Futex) => Self::Futex(Padded(Futex::new())),
            Some(KeptLock::Spin) => Self::OwnSpin(Padded(Ttas::new())),
            None => match usage.read_write {
                Some(lock) => Self::ReadWrite(AnyRwLock::new(lock)),
                None => Self::Tried(Padded(L::new())),
            },
        }
    }

    /// Acquires the lock. A lock without a shared mode is acquired exclusively, whatever `mode` is.
    /// Returns what is to be given back at the release.
    pub(crate) fn acquire(&self, mode: Mode, thread: &mut LockThread<L>) -> Option<Entered> {
        match self {
            Self::Tried(lock) => lock.acquire(&mut thread.tried),
            Self::ReadWrite(lock) => return Some(lock.acquire(mode)),
            Self::Spin(lock) => lock.acquire(&mut ()),
            Self::Futex(lock) => lock.acquire(&mut ()),
            Self::OwnSpin(lock) => lock.acquire(&mut ()),
        }
        None
    }

    /// Acquires the lock by trying again and again, with so much computing between two tries. A read-write lock
    /// is waited for.
    pub(crate) fn poll(
        &self,
        between: Cycles,
        mode: Mode,
        thread: &mut LockThread<L>,
    ) -> Option<Entered> {
        if let Self::ReadWrite(lock) = self {
            return Some(lock.acquire(mode));
        }
        while !self.try_acquire(thread) {
            Sim::work(between);
        }
        None
    }

    /// Tries once to acquire a lock that is no read-write lock.
    fn try_acquire(&self, thread: &mut LockThread<L>) -> bool {
        match self {
            Self::Tried(lock) => lock.try_acquire(&mut thread.tried),
            Self::Spin(lock) => lock.try_acquire(&mut ()),
            Self::Futex(lock) => lock.try_acquire(&mut ()),
            Self::OwnSpin(lock) => lock.try_acquire(&mut ()),
            Self::ReadWrite(_) => false,
        }
    }

    /// Releases the lock.
    ///
    /// # Safety
    /// The calling thread has acquired the lock in this mode, got `entered` then, and releases it only
    /// once.
    pub(crate) unsafe fn release(
        &self,
        mode: Mode,
        thread: &mut LockThread<L>,
        entered: Option<Entered>,
    ) {
        // SAFETY: each of these locks requires exactly what the caller promises.
        unsafe {
            match self {
                Self::Tried(lock) => lock.release(&mut thread.tried),
                Self::ReadWrite(lock) => {
                    lock.release(mode, entered.expect("a read-write lock gives something"));
                }
                Self::Spin(lock) => lock.release(&mut ()),
                Self::Futex(lock) => lock.release(&mut ()),
                Self::OwnSpin(lock) => lock.release(&mut ()),
            }
        }
    }
}
