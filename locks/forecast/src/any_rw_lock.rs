//! A read-write lock of a simulated program, of whichever algorithm.

use std::fmt;

use kilocore_locks::{RawRwLock, ReaderToken, RwLockId, RwLockVisitor};
use kilocore_platform::Padded;
use kilocore_sim::Sim;

use crate::workload::Mode;

/// What a thread got as it acquired a read-write lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entered(u64);

/// A read-write lock of any algorithm, for simulated threads. The algorithm is chosen at run time.
#[derive(Debug)]
pub(crate) struct AnyRwLock(Box<dyn ReadWrite>);

impl AnyRwLock {
    /// Returns a free lock.
    pub(crate) fn new(lock: RwLockId) -> Self {
        lock.visit(OfId)
    }

    /// Returns a free lock of type `L`.
    pub(crate) fn of<L: RawRwLock<Sim>>() -> Self {
        Self(Box::new(OfType(Padded(L::new()))))
    }

    pub(crate) fn acquire(&self, mode: Mode) -> Entered {
        self.0.acquire(mode)
    }

    /// Releases the lock.
    ///
    /// # Safety
    /// The calling thread has acquired the lock in this mode, got `entered` then, and releases it
    /// once.
    pub(crate) unsafe fn release(&self, mode: Mode, entered: Entered) {
        // SAFETY: the caller's promise.
        unsafe { self.0.release(mode, entered) }
    }
}

/// The methods of [`AnyRwLock`], for a certain algorithm.
trait ReadWrite: fmt::Debug {
    fn acquire(&self, mode: Mode) -> Entered;
    /// # Safety
    /// As for [`AnyRwLock::release`].
    unsafe fn release(&self, mode: Mode, entered: Entered);
}

struct OfType<L>(Padded<L>);

impl<L: RawRwLock<Sim>> ReadWrite for OfType<L> {
    fn acquire(&self, mode: Mode) -> Entered {
        match mode {
            Mode::Exclusive => {
                self.0.acquire();
                Entered(0)
            }
            Mode::Shared => Entered(self.0.acquire_shared().to_bits()),
        }
    }

    unsafe fn release(&self, mode: Mode, entered: Entered) {
        // SAFETY: the caller's promise.
        unsafe {
            match mode {
                Mode::Exclusive => self.0.release(),
                Mode::Shared => self.0.release_shared(L::Reader::from_bits(entered.0)),
            }
        }
    }
}

impl<L> fmt::Debug for OfType<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<L>())
    }
}

struct OfId;

impl RwLockVisitor<Sim> for OfId {
    type Output = AnyRwLock;

    fn visit<L: RawRwLock<Sim>>(self) -> AnyRwLock {
        AnyRwLock::of::<L>()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use kilocore_locks::{RwLockId, Rwsem};
    use kilocore_platform::Cycles;
    use kilocore_sim::{Options, Random, Sim, Simulation};

    use super::AnyRwLock;
    use crate::workload::Mode;

    /// What was seen of the threads inside a lock.
    #[derive(Default)]
    struct Seen {
        readers: Cell<u32>,
        writers: Cell<u32>,
        most_readers: Cell<u32>,
    }

    impl Seen {
        fn enter(&self, mode: Mode) {
            let count = if mode == Mode::Shared { &self.readers } else { &self.writers };
            count.set(count.get() + 1);
            let (readers, writers) = (self.readers.get(), self.writers.get());
            assert!(writers == 0 || (writers, readers) == (1, 0), "{writers} beside {readers}");
            self.most_readers.set(self.most_readers.get().max(readers));
        }

        fn leave(&self, mode: Mode) {
            let count = if mode == Mode::Shared { &self.readers } else { &self.writers };
            count.set(count.get() - 1);
        }
    }

    /// Runs threads that read and write, and returns the largest number of readers seen inside.
    fn most_readers(lock: AnyRwLock, think: f64, hold: f64, writes: f64, seed: u64) -> u32 {
        let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
        let mut simulation = Simulation::new(&machine, Options { cores: 8, seed }).unwrap();
        let shared = Rc::new((lock, Seen::default()));
        // More threads than cores, so that some lose theirs inside.
        for number in 0..12 {
            let shared = Rc::clone(&shared);
            let body = move || {
                let (lock, seen) = &*shared;
                let mut random = Random::new(seed, 1 + number);
                for _ in 0..200 {
                    Sim::work(Cycles(random.exponential(think) as u64));
                    let held = Cycles(random.exponential(hold) as u64);
                    let mode =
                        if random.uniform() < writes { Mode::Exclusive } else { Mode::Shared };
                    let entered = lock.acquire(mode);
                    seen.enter(mode);
                    Sim::work(held);
                    Sim::catch_up();
                    seen.leave(mode);
                    // SAFETY: acquired above in this mode.
                    unsafe { lock.release(mode, entered) };
                }
            };
            simulation.spawn(body).unwrap();
        }
        simulation.run().unwrap();
        shared.1.most_readers.get()
    }

    #[test]
    fn in_every_read_write_lock_a_writer_is_alone_and_readers_are_together() {
        for &lock in RwLockId::ALL {
            let most = most_readers(AnyRwLock::new(lock), 500.0, 1_000.0, 0.05, 1);
            assert!(most >= 3, "{lock}: readers hardly share");
        }
    }

    #[test]
    fn a_semaphore_s_writer_is_alone_and_its_readers_are_together() {
        for seed in 0..20 {
            let semaphore = AnyRwLock::of::<Rwsem<Sim>>();
            assert!(most_readers(semaphore, 2_000.0, 500.0, 0.2, seed) > 2, "readers share it");
        }
    }
}
