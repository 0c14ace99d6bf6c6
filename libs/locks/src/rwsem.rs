//! The kernel's read-write semaphore, as it guards the address space of a process (`mmap_sem`).
//!
//! Page faults take it shared, `mmap`, `munmap` and `brk` alone. One word counts the readers: each
//! adds one on entering and subtracts one on leaving, and is inside at once if it finds no writer
//! inside and nobody in the queue. Whoever finds otherwise joins a queue in the order of arrival
//! and sleeps, so that a writer that waits stops the readers that come later. Readers at the head
//! of the queue are let in together. A writer takes the word by compare-and-swap wherever nobody
//! is inside, also past the queue; and before it queues it spins while another writer is inside,
//! one spinner at a time, the others behind an MCS lock. Writers that come in quick succession
//! therefore pass the semaphore on without anybody being woken, and that stealing is what it owes
//! its throughput to (Bueso and Norton, 'An overview of kernel lock improvements', LinuxCon 2014).
//!
//! It follows Linux 3.17, the kernel of the measurements that forecasts answer to, and takes a
//! hand-over from later ones.
//!
//! # States of the word
//!
//! | bits | meaning | changed by |
//! | --- | --- | --- |
//! | `WRITER` | a writer is inside | the writer |
//! | `QUEUED` | somebody is in the queue | whoever holds the queue's lock |
//! | `HANDOVER` | no writer may pass the queue | whoever holds the queue's lock |
//! | the rest | readers inside, and readers about to queue | readers; whoever lets them in |
//!
//! # Why nobody sleeps for ever
//! A waiter goes to sleep only after it saw, with `QUEUED` set and under the queue's lock, that
//! somebody was counted in the word. Whoever takes the last count away, or `WRITER`, sees `QUEUED`
//! in the same step, and then takes the queue's lock and calls the first waiter. A count may be
//! that of a reader about to queue, for which others left the last look to it: once it has joined
//! and taken its count back it looks for the first waiter as if it had been inside.
//!
//! # Where it departs from Linux
//! * **Hand-over.** Linux since 5.3 ends the stealing once the first waiter has waited for 4 ms.
//!   Here it ends once the first has been called in vain [`CALLS_IN_VAIN`] times, because a count
//!   needs no clock; the bit goes when those are inside for whom it was set.
//! * **A call** of a writer that has been called already and has not looked yet costs no wake-up.
//! * **A spinning writer** does not look whether the holder runs: user space cannot know that. It
//!   spins until the holder leaves; the platform's wait offers the core to others meanwhile.
//! * **Readers do not spin.** Linux let them do so from 5.3 to 5.10 and gave it up again.
//! * **No owner** is recorded, which only the two above need.
//!
//! Sleepers are woken under the queue's lock, as in Linux before 4.8. It is not only a cost: who
//! comes to queue then waits for the lock, and readers gather behind a writer that has not queued
//! yet. On a simulated machine with 12 cores and a fifth of writers, waking after the lock has
//! been let go took a third of the throughput.
//!
//! The memory must stay until everybody has returned from its release: as in Linux, one that
//! leaves may still look into the queue when another has entered, and left, already.

mod queue;

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

use self::queue::{Line, Queue, Waiter, Wish};
use crate::{Mcs, RawLock, RawRwLock};

/// A writer is inside.
const WRITER: u32 = 1 << 31;
/// Somebody is in the queue.
const QUEUED: u32 = 1 << 30;
/// The first in the queue is next.
const HANDOVER: u32 = 1 << 29;
/// Readers inside, and readers that are about to queue.
const READERS: u32 = HANDOVER - 1;

/// How often the first in the queue is called in vain before nobody may pass it any more. Each
/// hand-over leaves the semaphore unused while a sleeper wakes, so it must be rare: with a wake-up
/// taking some microseconds, this is about the time after which Linux hands over.
const CALLS_IN_VAIN: u32 = 500;

/// A read-write semaphore without data.
///
/// Those in the queue spin for `TURNS` turns before they sleep: none in the kernel, whose
/// sections are long. In user space a waiter that sleeps at once takes a hundred times as long
/// as a short section, and so does everybody behind it.
///
/// A writer that spins goes on spinning when another has taken the semaphore before it; with
/// `GIVES_UP` it queues and sleeps then, as in Linux 3.16 to 3.19, which took a change of the owner
/// for a sign of heavy contention.
pub struct Rwsem<P: Platform, const TURNS: u32 = 0, const GIVES_UP: bool = false> {
    count: Padded<P::U32>,
    queue: Queue<P>,
    /// Lets one writer at a time spin.
    spinners: Padded<Mcs<P>>,
}

impl<P: Platform, const TURNS: u32, const GIVES_UP: bool> Rwsem<P, TURNS, GIVES_UP> {
    /// Takes it as the writer, keeping `keep` of the count, if none of the bits `barred` is set;
    /// else sets `mark`. In one step: what is marked was not free when it was marked.
    fn take_or_mark(&self, barred: u32, keep: u32, mark: u32) -> bool {
        let mut seen = self.count.load(Ordering::Relaxed);
        loop {
            let free = seen & barred == 0;
            let next = if free { seen & keep | WRITER } else { seen | mark };
            if !free && next == seen {
                return false;
            }
            // Acquire: after the writers and readers whose leaving made it free. All changes of
            // the word are read-modify-writes, so that this sees every release before it.
            match self.count.compare_exchange(seen, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return free,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes it as a writer that has not queued, past those who have.
    #[inline]
    fn take_past_queue(&self, mark: u32) -> bool {
        self.take_or_mark(WRITER | READERS | HANDOVER, !0, mark)
    }

    /// Spins while a writer is inside, in turn with other writers; gives up where readers are.
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
        let waiter = Waiter::new(Wish::Write);
        let taken = self.queue.locked(|line| {
            let taken = self.take_past_queue(if line.is_empty() { QUEUED } else { 0 });
            if !taken {
                // SAFETY: it leaves this function only after taking itself out, below.
                unsafe { line.push(&waiter) };
            }
            taken
        });
        if taken {
            return;
        }
        loop {
            waiter.sleep::<TURNS>();
            if self.queue.locked(|line| self.take_as_first(&waiter, line)) {
                return;
            }
        }
    }

    /// Takes it as the writer that is first in the queue, and takes that writer out.
    fn take_as_first(&self, waiter: &Waiter<P>, line: &mut Line<P>) -> bool {
        // Before the look: whomever the look finds inside calls again, and is to find it asleep.
        waiter.doze();
        let keep = if line.is_single() { 0 } else { QUEUED };
        let mark = if line.passes_over(bound::<P>()) { HANDOVER } else { 0 };
        let taken = self.take_or_mark(WRITER | READERS, keep, mark);
        if taken {
            line.leave(waiter);
        }
        taken
    }

    #[cold]
    fn acquire_shared_slowly(&self) {
        let waiter = Waiter::new(Wish::Read);
        let inside = self.queue.locked(|line| {
            let first = line.is_empty();
            // Acquire: after the writer that has just left.
            if first && self.count.load(Ordering::Acquire) & WRITER == 0 {
                return true; // It is counted, and nobody keeps it out any more.
            }
            // SAFETY: it leaves this function only after it was woken, below.
            unsafe { line.push(&waiter) };
            // In the queue first, then no longer counted: who leaves in between takes this one for
            // a reader inside and leaves the look at the queue to it.
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

    /// Calls the first waiter or, if readers are first, lets them in.
    fn call_first(&self, line: &mut Line<P>) {
        match line.first() {
            None => {}
            Some(waiter) if waiter.wish() == Wish::Write => waiter.call(),
            Some(_) => self.let_readers_in(line),
        }
    }

    /// Lets the readers in that are first, unless a writer is inside.
    fn let_readers_in(&self, line: &mut Line<P>) {
        let (readers, all) = line.leading_readers();
        // Acquire: after the writer that was inside before.
        let before = self.count.fetch_add(readers, Ordering::Acquire);
        if before & WRITER != 0 {
            // That writer passed the queue; it calls them when it leaves.
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

/// How often the first in the queue is called in vain before nobody may pass it.
fn bound<P: Platform>() -> u32 {
    if P::CHECKED { 2 } else { CALLS_IN_VAIN }
}

// SAFETY: a writer enters by a compare-and-swap that finds neither writer nor reader counted; a
// reader is counted, and inside if there is no writer, or once whoever let it in has counted it
// and seen none. All enter with acquire what others left with release, in one word or through the
// queue's lock. No thread inside is named.
unsafe impl<P: Platform, const TURNS: u32, const GIVES_UP: bool> RawRwLock<P>
    for Rwsem<P, TURNS, GIVES_UP>
{
    fn new() -> Self {
        Self { count: Padded(P::U32::new(0)), queue: Queue::new(), spinners: Padded(Mcs::new()) }
    }

    #[inline]
    fn acquire_shared(&self) {
        if self.count.fetch_add(1, Ordering::Acquire) & (WRITER | QUEUED) != 0 {
            self.acquire_shared_slowly();
        }
    }

    #[inline]
    unsafe fn release_shared(&self) {
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
        // One step, in which no writer finds the word free.
        if self.count.fetch_sub(WRITER - 1, Ordering::Release) & QUEUED != 0 {
            self.call_readers();
        }
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
