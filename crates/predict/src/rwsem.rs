//! The kernel's read-write semaphore, as it guards the address space of a process (`mmap_sem`).
//!
//! Page faults take it shared, `mmap`, `munmap` and `brk` alone. It is a model of the kernel's code
//! and not a lock that Kilocore ships: it follows Linux 3.17, the kernel of the measurements that
//! forecasts answer to. What matters for scaling is in it: one word to which each reader adds on
//! entering and leaving; a queue in the order of arrival, so that a waiting writer stops readers
//! that come later; the queue's own spin lock; sleeping waiters; and writers that first spin, one
//! at a time, while another writer holds it. Left out: that a spinning writer looks whether the
//! holder still runs.

use std::cell::RefCell;
use std::collections::VecDeque;

use kilocore_locks::{Mcs, RawLock, Ticket};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};
use kilocore_sim::{Sim, SimU32};

/// A writer is inside.
const WRITER: u32 = 1 << 31;
/// Somebody is in the queue.
const QUEUED: u32 = 1 << 30;
/// Readers inside, and readers that are about to queue.
const READERS: u32 = QUEUED - 1;

/// What a waiter's word says.
const ASLEEP: u32 = 1;
const AWAKE: u32 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Read,
    Write,
}

/// The semaphore.
#[derive(Debug)]
pub(crate) struct Rwsem {
    count: Padded<SimU32>,
    /// Guards the queue.
    queue_lock: Padded<Ticket<Sim>>,
    /// Lets one writer at a time spin.
    spinners: Padded<Mcs<Sim>>,
    queue: RefCell<VecDeque<(usize, Wish)>>,
    /// One word for each thread to sleep on.
    sleepers: Vec<Padded<SimU32>>,
}

/// What a thread brings along.
#[derive(Debug)]
pub(crate) struct RwsemThread {
    number: usize,
    spinner: <Mcs<Sim> as RawLock<Sim>>::Thread,
}

impl RwsemThread {
    /// That of the thread with this number, counted from 0.
    pub(crate) fn new(number: usize) -> Self {
        Self { number, spinner: Default::default() }
    }
}

impl Rwsem {
    /// A free one for threads with numbers below `threads`.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            count: Padded(SimU32::new(0)),
            queue_lock: Padded(Ticket::new()),
            spinners: Padded(Mcs::new()),
            queue: RefCell::default(),
            sleepers: (0..threads).map(|_| Padded(SimU32::new(AWAKE))).collect(),
        }
    }

    /// Enters as a reader.
    pub(crate) fn acquire_shared(&self, thread: &mut RwsemThread) {
        if self.count.fetch_add(1, Ordering::Acquire) & (WRITER | QUEUED) != 0 {
            self.queue_lock.acquire(&mut ());
            // In the queue first, then no longer counted: a reader that leaves in between takes
            // this one for a reader inside and leaves it to this one to look for the first.
            self.join(thread.number, Wish::Read);
            let before = self.count.fetch_sub(1, Ordering::Relaxed);
            if before & WRITER == 0 && before & READERS == 1 {
                self.wake_first();
            }
            // SAFETY: taken above.
            unsafe { self.queue_lock.release(&mut ()) };
            self.sleep(thread.number);
        }
    }

    /// Leaves as a reader.
    pub(crate) fn release_shared(&self) {
        let before = self.count.fetch_sub(1, Ordering::Release);
        if before & QUEUED != 0 && before & READERS == 1 {
            self.wake_queue();
        }
    }

    /// Enters as the writer.
    pub(crate) fn acquire(&self, thread: &mut RwsemThread) {
        if self.try_take() || self.spin(thread) {
            return;
        }
        self.queue_lock.acquire(&mut ());
        self.join(thread.number, Wish::Write);
        loop {
            if self.try_take() {
                break;
            }
            // SAFETY: taken above or below.
            unsafe { self.queue_lock.release(&mut ()) };
            self.sleep(thread.number);
            self.queue_lock.acquire(&mut ());
            self.sleepers[thread.number].store(ASLEEP, Ordering::Relaxed);
        }
        self.sleepers[thread.number].store(AWAKE, Ordering::Relaxed);
        self.queue.borrow_mut().retain(|&(number, _)| number != thread.number);
        self.tell_if_empty();
        // SAFETY: taken above.
        unsafe { self.queue_lock.release(&mut ()) };
    }

    /// Leaves as the writer.
    pub(crate) fn release(&self) {
        if self.count.fetch_and(!WRITER, Ordering::Release) & QUEUED != 0 {
            self.wake_queue();
        }
    }

    /// Takes it as the writer if nobody is inside, also past the queue.
    fn try_take(&self) -> bool {
        let seen = self.count.load(Ordering::Relaxed);
        seen & (WRITER | READERS) == 0
            && self
                .count
                .compare_exchange(seen, seen | WRITER, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Spins while a writer is inside, in turn with other writers; gives up where readers are.
    fn spin(&self, thread: &mut RwsemThread) -> bool {
        if self.count.load(Ordering::Relaxed) & WRITER == 0 {
            return false;
        }
        self.spinners.acquire(&mut thread.spinner);
        let taken = loop {
            let seen = Sim::wait_until(&*self.count, Wait::Spin, |count| count & WRITER == 0);
            if seen & READERS != 0 {
                break false;
            }
            if self.try_take() {
                break true;
            }
        };
        // SAFETY: taken above.
        unsafe { self.spinners.release(&mut thread.spinner) };
        taken
    }

    /// Puts a thread at the end of the queue, whose lock the caller holds.
    fn join(&self, number: usize, wish: Wish) {
        self.sleepers[number].store(ASLEEP, Ordering::Relaxed);
        let mut queue = self.queue.borrow_mut();
        let first = queue.is_empty();
        queue.push_back((number, wish));
        drop(queue);
        if first {
            self.count.fetch_or(QUEUED, Ordering::Relaxed);
        }
    }

    fn sleep(&self, number: usize) {
        let word = &self.sleepers[number];
        while word.load(Ordering::Acquire) == ASLEEP {
            Sim::park(word, ASLEEP, None);
        }
    }

    fn wake_queue(&self) {
        self.queue_lock.acquire(&mut ());
        self.wake_first();
        // SAFETY: taken above.
        unsafe { self.queue_lock.release(&mut ()) };
    }

    /// Lets the readers in that are first in the queue, or tells the writer that is. The caller
    /// holds the queue's lock.
    fn wake_first(&self) {
        let readers: Vec<usize> = {
            let queue = self.queue.borrow();
            if let Some(&(number, Wish::Write)) = queue.front() {
                drop(queue);
                self.wake(number);
                return;
            }
            let reader = |&&(_, wish): &&(usize, Wish)| wish == Wish::Read;
            queue.iter().take_while(reader).map(|&(number, _)| number).collect()
        };
        if readers.is_empty() {
            return;
        }
        let entering = readers.len() as u32;
        if self.count.fetch_add(entering, Ordering::Acquire) & WRITER != 0 {
            // A spinning writer was quicker; it wakes them when it leaves.
            self.count.fetch_sub(entering, Ordering::Relaxed);
            return;
        }
        self.queue.borrow_mut().drain(..readers.len());
        self.tell_if_empty();
        for number in readers {
            self.wake(number);
        }
    }

    fn wake(&self, number: usize) {
        let word = &self.sleepers[number];
        word.store(AWAKE, Ordering::Release);
        Sim::unpark(std::ptr::from_ref(&**word), 1);
    }

    fn tell_if_empty(&self) {
        if self.queue.borrow().is_empty() {
            self.count.fetch_and(!QUEUED, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use kilocore_platform::Cycles;
    use kilocore_sim::{Options, Random, Sim, Simulation};

    use super::{Rwsem, RwsemThread};

    #[test]
    fn a_writer_is_alone_and_readers_are_together() {
        const THREADS: usize = 12;
        let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
        for seed in 0..20 {
            let mut simulation = Simulation::new(&machine, Options { cores: 8, seed }).unwrap();
            let semaphore = Rc::new(Rwsem::new(THREADS));
            // Readers inside, or -1 for a writer; and the most readers there were.
            let (inside, most) = (Rc::new(Cell::new(0i32)), Rc::new(Cell::new(0)));
            for number in 0..THREADS {
                let semaphore = Rc::clone(&semaphore);
                let (inside, most) = (Rc::clone(&inside), Rc::clone(&most));
                let body = move || {
                    let mut thread = RwsemThread::new(number);
                    let mut random = Random::new(seed, 1 + number as u64);
                    for _ in 0..200 {
                        Sim::work(Cycles(random.exponential(2_000.0) as u64));
                        let held = Cycles(random.exponential(500.0) as u64);
                        if random.uniform() < 0.2 {
                            semaphore.acquire(&mut thread);
                            assert_eq!(inside.replace(-1), 0);
                            Sim::work(held);
                            Sim::catch_up();
                            assert_eq!(inside.replace(0), -1);
                            semaphore.release();
                        } else {
                            semaphore.acquire_shared(&mut thread);
                            assert!(inside.get() >= 0);
                            inside.set(inside.get() + 1);
                            most.set(inside.get().max(most.get()));
                            Sim::work(held);
                            Sim::catch_up();
                            inside.set(inside.get() - 1);
                            semaphore.release_shared();
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
