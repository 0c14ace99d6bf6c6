//! The lock of a program's address space.
//!
//! Linux guards what is mapped where by one read-write semaphore for each process, `mmap_sem`, since 5.8 `mmap_lock`.
//! Whatever changes mappings holds it alone; a page fault shares it while it finds a frame and zeroes it. So threads
//! that map and unmap keep those waiting that touch pages, and the other way round, however far apart their pages are. A
//! waiter sleeps. The semaphore is [`Rwsem`], the one source of it, executed by the tasks on the simulated machine.
//!
//! # Where it departs from Linux
//! * A waiter sleeps and is woken by a call of a futex, which takes a little more than it takes inside of the kernel.
//! * Since 6.4, a fault shares a lock of its mapping only. Which mapping an address is of, nobody knows here, so all
//!   memory within a range as long as one of `malloc`'s arenas has one lock, and who changes mappings does not wait for
//!   faults.

use kilocore_locks::{RawRwLock, Rwsem};

use crate::coherence::Access;
use crate::current::{only_with_engine, with_engine};
use crate::guest_memory::PAGE_BYTES;
use crate::platform::Sim;
use crate::platform::charge::give_way_to_earlier;

/// Pages of the memory that has one lock of its own, where faults have such locks: 64 MiB.
const PAGES_OF_LOCK: u64 = (64 << 20) / PAGE_BYTES as u64;
/// Where these locks lie in the simulated kernel.
const LOCKS_OF_MAPPINGS: usize = 1 << 61;

/// The semaphore of the program's address space.
#[derive(Debug)]
pub(super) struct AddressSpace {
    semaphore: Rwsem<Sim>,
    /// Whether faults share a lock of their mapping, and not this one.
    faults_apart: bool,
}

impl AddressSpace {
    pub(super) fn new(faults_apart: bool) -> Self {
        Self { semaphore: Rwsem::new(), faults_apart }
    }

    /// Lets a task do something in a page fault.
    pub(super) fn fault<R>(&self, page: u64, work: impl FnOnce() -> R) -> R {
        if self.faults_apart {
            let lock = LOCKS_OF_MAPPINGS + ((page / PAGES_OF_LOCK) as usize) * 64;
            count_reader(lock);
            let result = work();
            count_reader(lock);
            return result;
        }
        let is_inside = in_kernel(|| self.semaphore.acquire_shared()).is_some();
        let result = work();
        if is_inside {
            // SAFETY: acquired above, by the same task.
            in_kernel(|| unsafe { self.semaphore.release_shared(()) });
        }
        result
    }

    /// Lets a task do something while no other one changes the address space, nor is in a page fault.
    pub(super) fn change<R>(&self, work: impl FnOnce() -> R) -> R {
        let is_inside = in_kernel(|| self.semaphore.acquire()).is_some();
        let result = work();
        if is_inside {
            // SAFETY: acquired above, by the same task.
            in_kernel(|| unsafe { self.semaphore.release() });
        }
        result
    }
}

/// Changes a word that counts readers.
fn count_reader(address: usize) {
    give_way_to_earlier();
    with_engine(|engine| {
        let line = engine.line_at(address);
        engine.access(line, Access::Rmw);
    });
}

/// Does something for which the kernel spins, and not the program. Tasks take their turns in the semaphore: those that go
/// on when nobody is simulated any more leave it as it is, and `None` is returned.
fn in_kernel<R>(work: impl FnOnce() -> R) -> Option<R> {
    with_engine(|engine| engine.spins_in_kernel(true));
    let result = only_with_engine(work);
    with_engine(|engine| engine.spins_in_kernel(false));
    result
}
