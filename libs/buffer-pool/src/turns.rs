//! Turns of those who wait for one of many locks.
//!
//! A lock of one bit knows nobody who waits for it. A thread that takes it again and again may then pass another one
//! by for as long as it goes on, most of all where the other runs only while the first has the lock. So those who wait
//! queue up, for all locks in one queue, as hardly ever anybody does. Who is at its head reserves the lock that it
//! waits for. Whoever comes to that lock after this queues up as well, and so each thread passes the head once at
//! most.

use kilocore_locks::{RawLock, Ticket};
use kilocore_platform::{Atomic, Ordering, Padded, Platform};

/// No lock is reserved.
const NONE: u32 = u32::MAX;

/// Apart from what is read all the time.
pub(crate) struct Turns<P: Platform>(Padded<Queue<P>>);

struct Queue<P: Platform> {
    line: Ticket<P>,
    /// The number of the lock for which the head of the line waits. It only says who goes first, and orders nothing.
    reserved: P::U32,
}

impl<P: Platform> Turns<P> {
    pub(crate) fn new() -> Self {
        Self(Padded(Queue { line: Ticket::new(), reserved: P::U32::new(NONE) }))
    }

    /// Returns whether somebody goes first who waits for this lock.
    #[inline]
    pub(crate) fn is_reserved(&self, lock: u32) -> bool {
        self.0.reserved.load(Ordering::Relaxed) == lock
    }

    /// Waits until it is this thread's turn, and reserves the lock until the result is dropped.
    pub(crate) fn reserve(&self, lock: u32) -> Turn<'_, P> {
        self.0.line.acquire(&mut ());
        self.0.reserved.store(lock, Ordering::Relaxed);
        Turn { queue: &self.0, not_send: std::marker::PhantomData }
    }
}

/// A thread's turn. It ends when this is dropped.
pub(crate) struct Turn<'a, P: Platform> {
    queue: &'a Queue<P>,
    /// A lock is released by the thread that acquired it.
    not_send: std::marker::PhantomData<*const ()>,
}

impl<P: Platform> Drop for Turn<'_, P> {
    fn drop(&mut self) {
        self.queue.reserved.store(NONE, Ordering::Relaxed);
        // SAFETY: this thread has acquired it in `reserve`, as this value cannot be sent to another.
        unsafe { self.queue.line.release(&mut ()) };
    }
}
