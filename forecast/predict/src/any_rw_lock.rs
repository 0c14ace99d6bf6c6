//! A read-write lock of a simulated program, of whichever algorithm.

use std::fmt;

use kilocore_locks::{RawRwLock, ReaderToken, RwLockId, RwLockVisitor};
use kilocore_platform::Padded;
use kilocore_sim::Sim;

use crate::workload::Mode;

/// What a thread got as it acquired a read-write lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entered(u64);

/// A read-write lock.
#[derive(Debug)]
pub(crate) struct AnyRwLock(Box<dyn ReadWrite>);

impl AnyRwLock {
    /// Returns a free lock.
    pub(crate) fn new(lock: RwLockId) -> Self {
        Self(lock.visit(Boxed))
    }

    /// Acquires the lock.
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

struct Boxed;

impl RwLockVisitor<Sim> for Boxed {
    type Output = Box<dyn ReadWrite>;

    fn visit<L: RawRwLock<Sim>>(self) -> Self::Output {
        Box::new(OfType(Padded(L::new())))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use kilocore_locks::RwLockId;
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

    #[test]
    fn in_every_read_write_lock_a_writer_is_alone_and_readers_are_together() {
        let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
        for &lock in RwLockId::ALL {
            let mut simulation = Simulation::new(&machine, Options { cores: 8, seed: 1 }).unwrap();
            let shared = Rc::new((AnyRwLock::new(lock), Seen::default()));
            // More threads than cores, so that some lose theirs inside.
            for number in 0..12 {
                let shared = Rc::clone(&shared);
                let body = move || {
                    let (lock, seen) = &*shared;
                    let mut random = Random::new(1, 1 + number);
                    for _ in 0..200 {
                        Sim::work(Cycles(random.exponential(500.0) as u64));
                        let writes = random.uniform() < 0.05;
                        let mode = if writes { Mode::Exclusive } else { Mode::Shared };
                        let entered = lock.acquire(mode);
                        seen.enter(mode);
                        Sim::work(Cycles(random.exponential(1_000.0) as u64));
                        Sim::catch_up();
                        seen.leave(mode);
                        // SAFETY: acquired above in this mode.
                        unsafe { lock.release(mode, entered) };
                    }
                };
                simulation.spawn(body).unwrap();
            }
            simulation.run().unwrap_or_else(|error| panic!("{lock}: {error}"));
            assert!(shared.1.most_readers.get() >= 3, "{lock}: readers hardly share");
        }
    }
}
