//! The kernel's read-write semaphore, as it guards the address space of a process (`mmap_sem`).
//!
//! Page faults acquire it shared; `mmap`, `munmap` and `brk` acquire it alone. One word counts the
//! readers: each adds one when it enters and subtracts one when it leaves. If a reader finds no
//! writer inside and an empty queue, it is inside at once. Otherwise it joins a queue in order of
//! arrival and sleeps, so a waiting writer stops the readers that come later. Readers at the head
//! of the queue are admitted together. A writer takes the word by compare-and-swap whenever nobody
//! is inside, even past the queue. Before it queues, it spins while another writer is inside; one
//! writer spins at a time, and the others wait behind an MCS lock. So writers in quick succession
//! hand the semaphore on without any wake-up. It owes its throughput to this stealing (Bueso and
//! Norton, 'An overview of kernel lock improvements', LinuxCon 2014).
//!
//! The algorithm is that of Linux 3.17, the kernel of the measurements that forecasts are compared
//! with. Its hand-over is taken from later kernels.
//!
//! # States of the word
//!
//! | bits | meaning | changed by |
//! | --- | --- | --- |
//! | `WRITER` | a writer is inside | the writer |
//! | `QUEUED` | a thread is in the queue | the holder of the queue's lock |
//! | `HANDOVER` | no writer may pass the queue | the holder of the queue's lock |
//! | the rest | readers inside, and readers about to queue | readers, and threads that admit them |
//!
//! # Why no thread sleeps for ever
//! A waiter goes to sleep only after it saw, with `QUEUED` set and under the queue's lock, that a
//! thread was counted in the word. The thread that removes the last count, or `WRITER`, sees
//! `QUEUED` in the same step. It then takes the queue's lock and calls the first waiter. A count
//! may also be that of a reader that is about to queue. Other threads then leave the last look at
//! the queue to this reader: once it has joined and removed its count, it calls the first waiter as
//! if it had been inside.
//!
//! # Where it departs from Linux
//! * **Hand-over.** Since 5.3, Linux ends the stealing once the first waiter has waited for 4 ms.
//!   Here, it ends once the first waiter has been called in vain [`CALLS_IN_VAIN`] times, because a
//!   count needs no clock. The bit is cleared when the waiters for which it was set are inside.
//! * **Calls.** Calling a writer that has been called already, and has not looked yet, costs no
//!   wake-up.
//! * **Spinning writers** do not check whether the holder runs, which user space cannot know. They
//!   spin until the holder leaves; meanwhile, the platform's wait offers the core to others.
//! * **Readers do not spin.** In Linux they did from 5.3 to 5.10, where it was given up.
//! * **No owner** is recorded. Only the two points above would need it.
//!
//! Sleepers are woken under the queue's lock, as in Linux before 4.8. This is not only a cost: a
//! thread that comes to queue waits for that lock meanwhile, and readers gather behind a writer
//! that has not queued yet. On a simulated machine with 12 cores and one fifth of writers, waking
//! after the release of the lock cost a third of the throughput.
//!
//! The memory must stay until every thread has returned from its release. As in Linux, a thread
//! that leaves may still look into the queue when another has already entered and left.

mod queue;

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

use self::queue::{Line, Queue, Waiter, Wish};
use crate::raw::free_abandoned;
use crate::reader_limit::too_many_readers;
use crate::word::enter_unless;
use crate::{Mcs, RawLock, RawRwLock};

/// The bit that is set while a writer is inside.
const WRITER: u32 = 1 << 31;
/// The bit that is set while a thread is in the queue.
const QUEUED: u32 = 1 << 30;
/// The bit that is set while the first in the queue is next and no writer may pass it.
const HANDOVER: u32 = 1 << 29;
/// The bits that count the readers inside and the readers that are about to queue.
const READERS: u32 = HANDOVER - 1;
/// The bit that is set while as many readers are counted as there may be. It is the highest of their
/// count.
const CROWDED: u32 = HANDOVER >> 1;

/// How often the first in the queue is called in vain before no writer may pass it any more. During
/// a hand-over, the semaphore is unused until a sleeper is awake, so hand-overs must be rare. If a
/// wake-up takes some microseconds, this is about the time after which Linux hands over.
const CALLS_IN_VAIN: u32 = 500;

/// A read-write semaphore without data.
///
/// Threads in the queue spin for `TURNS` turns before they sleep. In the kernel, where critical
/// sections are long, they do not spin. In user space, a waiter that sleeps at once takes a hundred
/// times as long as a short critical section, and so does every thread behind it.
///
/// If another thread takes the semaphore before a spinning writer, the writer spins on. With
/// `GIVES_UP`, it then queues and sleeps, as in Linux 3.16 to 3.19, which took a change of the
/// owner for a sign of heavy contention.
pub struct Rwsem<P: Platform, const TURNS: u32 = 0, const GIVES_UP: bool = false> {
    count: Padded<P::U32>,
    queue: Queue<P>,
    /// The lock that lets one writer at a time spin.
    spinners: Padded<Mcs<P>>,
}

impl<P: Platform, const TURNS: u32, const GIVES_UP: bool> Rwsem<P, TURNS, GIVES_UP> {
    /// If none of the bits `barred` is set, enters as the writer, keeps the bits `keep` of the
    /// word, and returns true. Otherwise sets the bits `mark` and returns false. This is one step:
    /// at the moment of marking, the word was not free.
    fn take_or_mark(&self, barred: u32, keep: u32, mark: u32) -> bool {
        let mut seen = self.count.load(Ordering::Relaxed);
        loop {
            let free = seen & barred == 0;
            let next = if free { seen & keep | WRITER } else { seen | mark };
            if !free && next == seen {
                return false;
            }
            // Acquire: we see what the writers and readers wrote whose leaving made the word free.
            // All changes of the word are read-modify-writes, so we see every release before this
            // one.
            match self.count.compare_exchange(seen, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return free,
                Err(now) => seen = now,
            }
        }
    }

    /// Enters as a writer that has not queued, past the queue. Returns whether it did.
    #[inline]
    fn take_past_queue(&self, mark: u32) -> bool {
        self.take_or_mark(WRITER | READERS | HANDOVER, !0, mark)
    }

    /// Spins while a writer is inside, one writer at a time. Gives up if readers are inside.
    /// Returns whether the caller is inside.
    fn spin(&self) -> bool {
        if self.count.load(Ordering::Relaxed) & (WRITER | HANDOVER) != WRITER {
            return false;
        }
        self.spinners.acquire(&mut ());
        let taken = loop {
            let changed = |count| count & (WRITER | HANDOVER) != WRITER;
            let seen = P::wait_until(&*self.count, Wait::Spin, changed);
            if seen & (READERS | HANDOVER) != 0 {
                break false;
            }
            if self.take_past_queue(0) {
                break true;
            }
            if GIVES_UP {
                break false;
            }
        };
        // SAFETY: taken above.
        unsafe { self.spinners.release(&mut ()) };
        taken
    }

    #[cold]
    fn acquire_slowly(&self) {
        if self.spin() {
            return;
        }
        P::with_local(Waiter::new(Wish::Write), |waiter| self.queue_as_writer(waiter));
    }

    fn queue_as_writer(&self, waiter: &Waiter<P>) {
        let taken = self.queue.locked(|line| {
            let taken = self.take_past_queue(if line.is_empty() { QUEUED } else { 0 });
            if !taken {
                // SAFETY: it leaves this function only after taking itself out, below.
                unsafe { line.push(waiter) };
            }
            taken
        });
        if taken {
            return;
        }
        loop {
            waiter.sleep::<TURNS>();
            if self.queue.locked(|line| self.take_as_first(waiter, line)) {
                return;
            }
        }
    }

    /// Enters as the writer that is first in the queue, and removes it from the queue. Returns
    /// whether it did.
    fn take_as_first(&self, waiter: &Waiter<P>, line: &mut Line<P>) -> bool {
        // This must precede the look at the word: threads that the look finds inside will call us
        // again, and must find us asleep.
        waiter.doze();
        let keep = if line.is_single() { 0 } else { QUEUED };
        let mark = if line.passes_over(bound::<P>()) { HANDOVER } else { 0 };
        let taken = self.take_or_mark(WRITER | READERS, keep, mark);
        if taken {
            line.leave(waiter);
        }
        taken
    }

    /// Goes on after the caller has counted itself as a reader in the word, which was `before`.
    #[cold]
    fn acquire_shared_slowly(&self, before: u32) {
        if before & CROWDED != 0 {
            too_many_readers::<P>();
        }
        P::with_local(Waiter::new(Wish::Read), |waiter| self.queue_as_reader(waiter));
    }

    fn queue_as_reader(&self, waiter: &Waiter<P>) {
        let inside = self.queue.locked(|line| {
            let first = line.is_empty();
            // Acquire: we see what the writer wrote that has just left.
            if first && self.count.load(Ordering::Acquire) & WRITER == 0 {
                return true; // It is counted, and nobody keeps it out any more.
            }
            // SAFETY: it leaves this function only after it was woken, below.
            unsafe { line.push(waiter) };
            // We join the queue first and remove our count afterwards. A thread that leaves in
            // between takes us for a reader inside, and leaves the look at the queue to us.
            let change = if first { QUEUED.wrapping_sub(1) } else { 1u32.wrapping_neg() };
            let before = self.count.fetch_add(change, Ordering::Relaxed);
            if before & WRITER == 0 && (first || before & READERS == 1) {
                self.call_first(line);
            }
            false
        });
        if !inside {
            waiter.sleep::<TURNS>();
        }
    }

    /// Calls the first waiter if it is a writer, or admits the readers at the head of the queue.
    fn call_first(&self, line: &mut Line<P>) {
        match line.first() {
            None => {}
            Some(waiter) if waiter.wish() == Wish::Write => waiter.call(),
            Some(_) => self.let_readers_in(line),
        }
    }

    /// Admits the readers at the head of the queue, unless a writer is inside.
    fn let_readers_in(&self, line: &mut Line<P>) {
        let (readers, all) = line.leading_readers();
        // Acquire: we see what the writer wrote that was inside before.
        let before = self.count.fetch_add(readers, Ordering::Acquire);
        if before & WRITER != 0 {
            // That writer has passed the queue. It calls the readers when it leaves.
            let insist = line.passes_over(bound::<P>()) && before & HANDOVER == 0;
            let mark = if insist { HANDOVER } else { 0 };
            self.count.fetch_add(mark.wrapping_sub(readers), Ordering::Relaxed);
            return;
        }
        let void = if all { QUEUED | HANDOVER } else { HANDOVER };
        if before & void != 0 {
            self.count.fetch_and(!void, Ordering::Relaxed);
        }
        line.wake_readers();
    }

    #[cold]
    fn call_queue(&self) {
        self.queue.locked(|line| self.call_first(line));
    }

    #[cold]
    fn call_readers(&self) {
        self.queue.locked(|line| {
            // A writer is called by the last reader that leaves.
            if line.first().is_some_and(|waiter| waiter.wish() == Wish::Read) {
                self.let_readers_in(line);
            }
        });
    }
}

/// Returns how often the first in the queue is called in vain before no writer may pass it.
fn bound<P: Platform>() -> u32 {
    if P::CHECKED { 2 } else { CALLS_IN_VAIN }
}

// SAFETY: a writer enters by a compare-and-swap that finds neither a writer nor a counted reader. A
// reader is counted. It is inside if it finds no writer, or once the thread that admits it has
// counted it and found no writer. All threads enter with acquire what others have left with
// release, in one word or through the queue's lock. The lock names no thread inside. It is free when
// all its bits are zero: nobody is counted, the queue is empty, and both locks are free.
unsafe impl<P: Platform, const TURNS: u32, const GIVES_UP: bool> RawRwLock<P>
    for Rwsem<P, TURNS, GIVES_UP>
{
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = false;

    fn new() -> Self {
        Self { count: Padded(P::U32::new(0)), queue: Queue::new(), spinners: Padded(Mcs::new()) }
    }

    #[inline]
    fn acquire_shared(&self) {
        let before = self.count.fetch_add(1, Ordering::Acquire);
        if before & (WRITER | QUEUED | CROWDED) != 0 {
            self.acquire_shared_slowly(before);
        }
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        let shut = |count| count & (WRITER | QUEUED | CROWDED) != 0;
        enter_unless(&*self.count, shut, |count| count + 1).then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
        let before = self.count.fetch_sub(1, Ordering::Release);
        if before & QUEUED != 0 && before & READERS == 1 {
            self.call_queue();
        }
    }

    #[inline]
    fn acquire(&self) {
        if !self.try_acquire() {
            self.acquire_slowly();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.take_past_queue(0)
    }

    #[inline]
    unsafe fn release(&self) {
        if self.count.fetch_and(!WRITER, Ordering::Release) & QUEUED != 0 {
            self.call_queue();
        }
    }

    #[inline]
    unsafe fn downgrade(&self) {
        // One step, so that no writer finds the word free in between.
        if self.count.fetch_sub(WRITER - 1, Ordering::Release) & QUEUED != 0 {
            self.call_readers();
        }
    }

    unsafe fn forget_others(&self) {
        self.queue.forget();
        self.count.store(WRITER, Ordering::Relaxed);
        // SAFETY: nobody else is left among the spinners.
        unsafe { free_abandoned(&*self.spinners) };
    }

    fn has_writer(&self) -> bool {
        self.count.load(Ordering::Relaxed) & WRITER != 0
    }
}

impl<P: Platform, const TURNS: u32, const GIVES_UP: bool> fmt::Debug for Rwsem<P, TURNS, GIVES_UP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count.load(Ordering::Relaxed);
        f.debug_struct("Rwsem")
            .field("writer", &(count & WRITER != 0))
            .field("queued", &(count & QUEUED != 0))
            .field("handover", &(count & HANDOVER != 0))
            .field("readers", &(count & READERS))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
limit_tests!(Rwsem, |lock| lock.count.store(CROWDED, Ordering::Relaxed));
