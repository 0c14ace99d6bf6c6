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

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use kilocore_locks::{RawRwLock, Rwsem};
use kilocore_platform::Cycles;

use crate::coherence::Access;
use crate::current::{only_with_engine, with_engine};
use crate::guest_memory::PAGE_BYTES;
use crate::outcome::Activity;
use crate::platform::Sim;
use crate::platform::charge::give_way_to_earlier;

/// Pages of the memory that has one lock of its own, where faults have such locks: 64 MiB.
const PAGES_OF_LOCK: u64 = (64 << 20) / PAGE_BYTES as u64;
/// Where these locks lie in the simulated kernel.
const LOCKS_OF_MAPPINGS: usize = 1 << 61;
/// How long a task waits before it looks again whether the address space is free. Estimated.
const LOOKS_AGAIN: Cycles = Cycles(500);

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The semaphore of the program's address space.
#[derive(Debug)]
pub(super) struct AddressSpace {
    semaphore: Rwsem<Sim>,
    /// Whether faults share a lock of their mapping, and not this one.
    faults_apart: bool,
    /// How many tasks are in a page fault, or change the address space. Only the task that runs changes it.
    inside: AtomicU32,
    /// Whether a task has all of it to itself. The same.
    held: AtomicBool,
}

impl AddressSpace {
    pub(super) fn new(faults_apart: bool) -> Self {
        let (inside, held) = (AtomicU32::new(0), AtomicBool::new(false));
        Self { semaphore: Rwsem::new(), faults_apart, inside, held }
    }

    /// Lets a task do something in a page fault.
    pub(super) fn fault<R>(&self, page: u64, work: impl FnOnce() -> R) -> R {
        let _inside = self.go_inside();
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
        let _inside = self.go_inside();
        let is_inside = in_kernel(|| self.semaphore.acquire()).is_some();
        let result = work();
        if is_inside {
            // SAFETY: acquired above, by the same task.
            in_kernel(|| unsafe { self.semaphore.release() });
        }
        result
    }
}

impl AddressSpace {
    /// Gives all of it to the calling task, as Linux does to one that makes another process: those that are inside come out
    /// first, and others wait before it. They spin, as they would for the semaphore at first.
    pub(super) fn hold(&self) {
        wait_while(|| self.held.load(Ordering::Relaxed));
        self.held.store(true, Ordering::Relaxed);
        wait_while(|| self.inside.load(Ordering::Relaxed) > 0);
    }

    /// The calling task has held it, and does no longer.
    pub(super) fn leave(&self) {
        self.held.store(false, Ordering::Relaxed);
    }

    fn go_inside(&self) -> Inside<'_> {
        wait_while(|| self.held.load(Ordering::Relaxed));
        self.inside.fetch_add(1, Ordering::Relaxed);
        IS_INSIDE.set(true);
        Inside(&self.inside)
    }
}

/// Whether the calling thread's task is inside, so that it would leave the semaphore as it is if it went on by itself.
pub(super) fn is_inside() -> bool {
    IS_INSIDE.get()
}

/// A task that is inside.
struct Inside<'a>(&'a AtomicU32);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        IS_INSIDE.set(false);
    }
}

/// Lets time pass for the calling task, until something is over. It does not wait if nobody is simulated any more, or its
/// thread was let go.
fn wait_while(lasts: impl Fn() -> bool) {
    while lasts() {
        let passed = with_engine(|engine| engine.pass(Activity::System, LOOKS_AGAIN));
        if passed.is_none() {
            return;
        }
        give_way_to_earlier();
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
