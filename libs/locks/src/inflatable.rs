//! A lock of any size in a place of two words.
//!
//! Hierarchical locks need a queue for each NUMA node, and array locks need a cache line for each
//! waiter. Neither fits into a mutex that a program has laid out. So the place contains a thin
//! lock, as in Java's monitors (Bacon and others, 'Thin locks', PLDI 1998). It is enough as long as
//! no thread waits. The first waiter inflates it: it attaches a body, which is the lock as
//! published, from a cache of its thread. A holder that finds that nobody else waits removes the
//! body and keeps it in the cache of its own thread. A free lock is therefore all zeros and owns no
//! memory, and may be destroyed without notice. There are as many bodies in use as there are locks
//! that threads wait for at one moment, and in addition at most a few spare bodies per thread.
//!
//! # How it works
//! `arrivals` counts all acquisitions since the lock was last free. A thread whose arrival finds 0
//! holds the lock. A thread that finds exactly one arrival before it, and no body, brings the body,
//! in the state of a lock that is held, and sets [`LARGE`]. All threads but the first acquire the
//! body. If a holder is the only thread that has arrived, its release sets the word back to 0.
//! Otherwise it adds itself to the departures of the body, which only holders write, and releases
//! the body.
//!
//! * A thread that has arrived but not departed will still hold the body. So the body stays, and
//!   the lock with it, until arrivals and departures are equal. Only a holder can find them equal.
//!   It then changes the word from just that number to 0 by compare-and-swap. If this succeeds, no
//!   other thread knows of the body.
//! * Only the second thread to arrive after the lock became held finds exactly one arrival, so only
//!   one thread brings a body. No thread can depart through a body that is not there yet, so this
//!   number stays unique until it is.
//! * A release reads the address of the body before it admits the next holder. Afterwards it
//!   touches only the body, as the body itself allows.
//!
//! # What it costs
//! Without waiters, the cost is one atomic addition and one compare-and-swap on one cache line.
//! With waiters, an arrival adds to the word before it goes to the body, and a release reads the
//! word. The queue locks of this crate that keep the holder's node in the lock pay for the same
//! read. With hierarchical bodies the word mostly stays in one NUMA node, since the threads that
//! depart and arrive again are of the node that has the lock. Inflating costs an acquisition and a
//! release of a body that no other thread knows.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::RawLock;
use crate::large::Body;
use crate::node_cache::NodeCache;

/// A thin lock that inflates to a `B` when a thread waits for it.
pub struct Inflatable<P: Platform, B: Body<P>> {
    /// Number of acquisitions since the lock was last free, times [`ARRIVAL`], and [`LARGE`].
    arrivals: P::U64,
    /// The body if [`LARGE`] is set. Otherwise the value is meaningless.
    body: P::Ptr<B>,
}

/// The bit that is set while the lock has a body.
const LARGE: u64 = 1;
/// What one acquisition adds. 2^63 acquisitions in a row without the lock ever being free do not
/// happen.
const ARRIVAL: u64 = 2;

/// What a thread keeps: spare bodies, and what the bodies need of a thread.
pub struct InflatableThread<P: Platform, B: Body<P>> {
    /// Free bodies, whose count of departures is 0.
    spare: NodeCache<P, B>,
    inner: B::Thread,
}

impl<P: Platform, B: Body<P>> Default for InflatableThread<P, B> {
    fn default() -> Self {
        Self { spare: NodeCache::default(), inner: B::Thread::default() }
    }
}

impl<P: Platform, B: Body<P>> Inflatable<P, B> {
    /// Waits behind the threads that had arrived when the word was `before`.
    #[cold]
    fn wait(&self, before: u64, thread: &mut InflatableThread<P, B>) {
        let body = if before == ARRIVAL {
            self.inflate(thread)
        } else {
            if before & LARGE == 0 {
                P::wait_until(&self.arrivals, Wait::Spin, |arrivals| arrivals & LARGE != 0);
            }
            self.body.load(Ordering::Relaxed)
        };
        // SAFETY: we have arrived, and the body stays until we depart.
        unsafe { (*body).acquire(&mut thread.inner) };
    }

    /// Attaches a body in the state in which the present holder holds it.
    fn inflate(&self, thread: &mut InflatableThread<P, B>) -> *mut B {
        let body = thread.spare.take(B::new);
        // SAFETY: no other thread knows the body until the word says that it is there. The body is
        // free, so acquiring it does not wait. The holder will release it.
        unsafe { (*body).acquire(&mut thread.inner) };
        self.body.store(body, Ordering::Relaxed);
        // Release makes the body visible to a thread that sees the bit.
        self.arrivals.fetch_or(LARGE, Ordering::Release);
        body
    }

    /// Releases the lock when another thread has arrived, or may have.
    #[cold]
    fn depart(&self, thread: &mut InflatableThread<P, B>) {
        // If the body is not there yet, the second thread to arrive is about to bring it.
        let arrivals = P::wait_until(&self.arrivals, Wait::Spin, |arrivals| arrivals & LARGE != 0);
        let body = self.body.load(Ordering::Relaxed);
        // SAFETY: the body stays until the last thread departs. If the exchange succeeds, we are
        // that thread, and no other knows of the body, because every thread that did has handed it
        // on to us. Otherwise we do not touch the body after its release.
        unsafe {
            let departures = (*body).departures().load(Ordering::Relaxed) + ARRIVAL;
            let all = departures | LARGE;
            // While we hold the lock, arrivals only grow.
            if arrivals == all && self.set_free(all) {
                (*body).departures().store(0, Ordering::Relaxed);
                (*body).release(&mut thread.inner);
                thread.spare.give_back(body);
            } else {
                (*body).departures().store(departures, Ordering::Relaxed);
                (*body).release(&mut thread.inner);
            }
        }
    }

    /// Frees the lock if no thread has arrived since the word was `arrivals`. Returns whether it
    /// did.
    #[inline]
    fn set_free(&self, arrivals: u64) -> bool {
        self.arrivals.compare_exchange(arrivals, 0, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: a thread that changes the word from 0 holds the thin lock. All other threads go through
// the body. It is attached in the state in which the thin holder holds it, and it guarantees
// exclusion by its own contract. The documentation of the module argues why a body is only removed
// when no other thread knows of it. After a release has freed the word or released the body, it
// does not touch the lock. The lock has two words, it is free when all its bits are zero, and they
// name no thread.
unsafe impl<P: Platform, B: Body<P>> RawLock<P> for Inflatable<P, B> {
    type Thread = InflatableThread<P, B>;

    fn new() -> Self {
        Self { arrivals: P::U64::new(0), body: P::Ptr::new(ptr::null_mut()) }
    }

    #[inline]
    fn acquire(&self, thread: &mut Self::Thread) {
        // Acquire makes visible to us what the last holder wrote, if the lock was free, or else the
        // body.
        let before = self.arrivals.fetch_add(ARRIVAL, Ordering::Acquire);
        if before != 0 {
            self.wait(before, thread);
        }
    }

    #[inline]
    fn try_acquire(&self, _thread: &mut Self::Thread) -> bool {
        self.arrivals.load(Ordering::Relaxed) == 0
            && self
                .arrivals
                .compare_exchange(0, ARRIVAL, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    #[inline]
    unsafe fn release(&self, thread: &mut Self::Thread) {
        if self.arrivals.load(Ordering::Relaxed) != ARRIVAL || !self.set_free(ARRIVAL) {
            self.depart(thread);
        }
    }

    unsafe fn forget_waiters(&self, _thread: &mut Self::Thread) {
        // The body is lost together with the threads that were in it.
        self.arrivals.store(ARRIVAL, Ordering::Relaxed);
    }
}

impl<P: Platform, B: Body<P>> fmt::Debug for Inflatable<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrivals = self.arrivals.load(Ordering::Relaxed);
        f.debug_struct("Inflatable")
            .field("arrivals", &(arrivals / ARRIVAL))
            .field("large", &(arrivals & LARGE != 0))
            .finish()
    }
}

impl<P: Platform, B: Body<P>> fmt::Debug for InflatableThread<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InflatableThread").field("spare", &self.spare).finish_non_exhaustive()
    }
}
