//! A lock of a simulated program, of whichever kind.

use kilocore_locks::{Futex, RawLock, RawRwLock, Rwsem, Ticket, Ttas};
use kilocore_platform::Padded;
use kilocore_sim::Sim;

use crate::any_rw_lock::{AnyRwLock, Entered};
use crate::workload::{KeptLock, LockUse, Mode};

/// A lock. All locks are padded, because allocators place most locks apart from each other.
#[derive(Debug)]
pub(crate) enum AnyLock<L> {
    /// The algorithm that is tried.
    Tried(Padded<L>),
    /// A read-write lock of the program's.
    ReadWrite(AnyRwLock),
    /// A read-write semaphore of the kernel.
    Rwsem(Box<Rwsem<Sim>>),
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
            Some(KeptLock::KernelReadWrite) => Self::Rwsem(Box::new(Rwsem::new())),
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
        match (self, mode) {
            (Self::Tried(lock), _) => lock.acquire(&mut thread.tried),
            (Self::ReadWrite(lock), _) => return Some(lock.acquire(mode)),
            (Self::Rwsem(lock), Mode::Exclusive) => lock.acquire(),
            (Self::Rwsem(lock), Mode::Shared) => lock.acquire_shared(),
            (Self::Spin(lock), _) => lock.acquire(&mut ()),
            (Self::Futex(lock), _) => lock.acquire(&mut ()),
            (Self::OwnSpin(lock), _) => lock.acquire(&mut ()),
        }
        None
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
            match (self, mode) {
                (Self::Tried(lock), _) => lock.release(&mut thread.tried),
                (Self::ReadWrite(lock), _) => {
                    lock.release(mode, entered.expect("a read-write lock gives something"));
                }
                (Self::Rwsem(lock), Mode::Exclusive) => lock.release(),
                (Self::Rwsem(lock), Mode::Shared) => lock.release_shared(()),
                (Self::Spin(lock), _) => lock.release(&mut ()),
                (Self::Futex(lock), _) => lock.release(&mut ()),
                (Self::OwnSpin(lock), _) => lock.release(&mut ()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use kilocore_locks::{RawRwLock, Rwsem};
    use kilocore_platform::Cycles;
    use kilocore_sim::{Options, Random, Sim, Simulation};

    #[test]
    fn a_semaphore_s_writer_is_alone_and_its_readers_are_together() {
        const THREADS: usize = 12;
        let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
        for seed in 0..20 {
            let mut simulation = Simulation::new(&machine, Options { cores: 8, seed }).unwrap();
            let semaphore = Rc::new(Rwsem::<Sim>::new());
            // The number of readers inside, or -1 for a writer, and the largest number of readers
            // seen.
            let (inside, most) = (Rc::new(Cell::new(0i32)), Rc::new(Cell::new(0)));
            for number in 0..THREADS {
                let semaphore = Rc::clone(&semaphore);
                let (inside, most) = (Rc::clone(&inside), Rc::clone(&most));
                let body = move || {
                    let mut random = Random::new(seed, 1 + number as u64);
                    for _ in 0..200 {
                        Sim::work(Cycles(random.exponential(2_000.0) as u64));
                        let held = Cycles(random.exponential(500.0) as u64);
                        if random.uniform() < 0.2 {
                            semaphore.acquire();
                            assert_eq!(inside.replace(-1), 0);
                            Sim::work(held);
                            Sim::catch_up();
                            assert_eq!(inside.replace(0), -1);
                            // SAFETY: acquired above.
                            unsafe { semaphore.release() };
                        } else {
                            semaphore.acquire_shared();
                            assert!(inside.get() >= 0);
                            inside.set(inside.get() + 1);
                            most.set(inside.get().max(most.get()));
                            Sim::work(held);
                            Sim::catch_up();
                            inside.set(inside.get() - 1);
                            // SAFETY: acquired above.
                            unsafe { semaphore.release_shared(()) };
                        }
                    }
                };
                simulation.spawn(body).unwrap();
            }
            simulation.run().unwrap();
            assert!(most.get() > 2, "readers share it");
        }
    }
}
