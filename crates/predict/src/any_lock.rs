//! A lock of a simulated program, of whichever kind.

use kilocore_locks::{CentralRw, Futex, RawLock, Ticket};
use kilocore_platform::Padded;
use kilocore_sim::Sim;

use crate::rwsem::{Rwsem, RwsemThread};
use crate::workload::{KeptLock, LockUse, Mode};

/// A lock. All are padded, as allocators place most locks apart from each other.
#[derive(Debug)]
pub(crate) enum AnyLock<L> {
    /// The algorithm that is tried.
    Tried(Padded<L>),
    /// A read-write lock of the program's, which stays as it is.
    ReadWrite(Padded<CentralRw<Sim>>),
    /// A read-write semaphore of the kernel.
    Rwsem(Box<Rwsem>),
    /// A spin lock of the kernel.
    Spin(Padded<Ticket<Sim>>),
    /// A lock inside the C library.
    Futex(Padded<Futex<Sim>>),
}

/// What a thread brings along for all locks.
#[derive(Debug)]
pub(crate) struct LockThread<L: RawLock<Sim>> {
    tried: L::Thread,
    rwsem: RwsemThread,
}

impl<L: RawLock<Sim>> LockThread<L> {
    /// That of the thread with this number, counted from 0.
    pub(crate) fn new(number: usize) -> Self {
        Self { tried: L::Thread::default(), rwsem: RwsemThread::new(number) }
    }
}

impl<L: RawLock<Sim>> AnyLock<L> {
    /// One of the locks that `usage` describes, for threads with numbers below `threads`.
    pub(crate) fn new(usage: &LockUse, threads: u32) -> Self {
        match usage.kept {
            Some(KeptLock::KernelReadWrite) => Self::Rwsem(Box::new(Rwsem::new(threads as usize))),
            Some(KeptLock::KernelSpin) => Self::Spin(Padded(Ticket::new())),
            Some(KeptLock::Futex) => Self::Futex(Padded(Futex::new())),
            None if usage.read_write => Self::ReadWrite(Padded(CentralRw::new())),
            None => Self::Tried(Padded(L::new())),
        }
    }

    /// Takes it. A lock that knows no readers is taken alone whatever the mode.
    pub(crate) fn acquire(&self, mode: Mode, thread: &mut LockThread<L>) {
        match (self, mode) {
            (Self::Tried(lock), _) => lock.acquire(&mut thread.tried),
            (Self::ReadWrite(lock), Mode::Exclusive) => lock.acquire(),
            (Self::ReadWrite(lock), Mode::Shared) => lock.acquire_shared(),
            (Self::Rwsem(lock), Mode::Exclusive) => lock.acquire(&mut thread.rwsem),
            (Self::Rwsem(lock), Mode::Shared) => lock.acquire_shared(&mut thread.rwsem),
            (Self::Spin(lock), _) => lock.acquire(&mut ()),
            (Self::Futex(lock), _) => lock.acquire(&mut ()),
        }
    }

    /// Lets it go.
    ///
    /// # Safety
    /// The calling thread has taken it in this mode, and lets go once.
    pub(crate) unsafe fn release(&self, mode: Mode, thread: &mut LockThread<L>) {
        // SAFETY: the caller's promise is what each of them asks for.
        unsafe {
            match (self, mode) {
                (Self::Tried(lock), _) => lock.release(&mut thread.tried),
                (Self::ReadWrite(lock), Mode::Exclusive) => lock.release(),
                (Self::ReadWrite(lock), Mode::Shared) => lock.release_shared(),
                (Self::Rwsem(lock), Mode::Exclusive) => lock.release(),
                (Self::Rwsem(lock), Mode::Shared) => lock.release_shared(),
                (Self::Spin(lock), _) => lock.release(&mut ()),
                (Self::Futex(lock), _) => lock.release(&mut ()),
            }
        }
    }
}
