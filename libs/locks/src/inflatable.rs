//! A lock of any size in a place of two words.
//!
//! Hierarchical locks keep a queue for each NUMA node and array locks a cache line for each
//! waiter; neither fits into a mutex that a program has laid out. As with Java's monitors (Bacon
//! and others, 'Thin locks', PLDI 1998), the place holds a thin lock that is enough while nobody
//! waits, and the first waiter inflates it: it attaches a body, the lock as published, taken
//! from a cache of its thread. The holder who finds itself the last one takes the body off and
//! keeps it in the cache of its own thread. So a free lock is all zero and owns no memory: it
//! may vanish without anybody being told. There are as many bodies in use as there are locks
//! that are waited for at one moment, and at most a few spare ones a thread.
//!
//! # How it works
//! `arrivals` counts all acquisitions since the lock was last free. The one that finds 0 holds
//! the lock; the one that finds a single other, and no body, brings the body, in the state of a
//! lock that is held, and sets [`LARGE`]; all but the first acquire the body. A holder that lets
//! go while it is the only one takes the word back to 0. Otherwise it counts itself among the
//! body's departures, which only holders write, and releases the body.
//!
//! * Whoever has arrived and not departed will hold the body once more, so the body stays, and
//!   the lock with it, until arrivals and departures are equal. Only a holder can find them so,
//!   by a compare-and-swap from just that number to 0: then nobody else knows of the body.
//! * Whoever takes a lock from free to held was the only one, and only the second to arrive
//!   after that finds exactly one. So just one thread brings a body, and since nobody can depart
//!   by way of a body that is not there, its number stays unique until it is.
//! * A release reads the body's address before it lets the next one in and touches only the body
//!   afterwards, as the body's own promise allows.
//!
//! # What it costs
//! Without waiters one atomic addition and one compare-and-swap on one line. With waiters an
//! arrival adds to the word before it goes to the body, and a release reads the word; the queue
//! locks of this crate, which keep the holder's node in the lock, pay the same read. With
//! hierarchical bodies the word stays mostly in one node, since those who depart and arrive again
//! are of the node that has the lock. Inflating costs an acquisition and a release of a body that
//! nobody else knows.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::RawLock;
use crate::large::Body;
use crate::node_cache::NodeCache;

/// A thin lock that inflates to a `B` when it is waited for.
pub struct Inflatable<P: Platform, B: Body<P>> {
    /// Acquisitions since the lock was free, times [`ARRIVAL`], and [`LARGE`].
    arrivals: P::U64,
    /// The body, if [`LARGE`] is set; else meaningless.
    body: P::Ptr<B>,
}

/// The lock has a body.
const LARGE: u64 = 1;
/// One acquisition. 2^63 of them without the lock ever being free do not come about.
const ARRIVAL: u64 = 2;

/// What a thread brings along: spare bodies, and what they want of it.
pub struct InflatableThread<P: Platform, B: Body<P>> {
    /// Free bodies without departures.
    spare: NodeCache<P, B>,
    inner: B::Thread,
}

impl<P: Platform, B: Body<P>> Default for InflatableThread<P, B> {
    fn default() -> Self {
        Self { spare: NodeCache::default(), inner: B::Thread::default() }
    }
}

impl<P: Platform, B: Body<P>> Inflatable<P, B> {
    /// Waits behind those that had arrived `before`.
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
        // SAFETY: the body stays until we, who have arrived, depart.
        unsafe { (*body).acquire(&mut thread.inner) };
    }

    /// Attaches a body that the present holder holds.
    fn inflate(&self, thread: &mut InflatableThread<P, B>) -> *mut B {
        let body = thread.spare.take(B::new);
        // SAFETY: the body is ours alone until the word says that it is there. It is free, so
        // that this does not wait; the holder will release it.
        unsafe { (*body).acquire(&mut thread.inner) };
        self.body.store(body, Ordering::Relaxed);
        // Release shows the body to whoever sees the bit.
        self.arrivals.fetch_or(LARGE, Ordering::Release);
        body
    }

    /// Lets go when somebody else has, or may have, arrived.
    #[cold]
    fn depart(&self, thread: &mut InflatableThread<P, B>) {
        // Whoever comes second is about to bring the body, if it is not there yet.
        let arrivals = P::wait_until(&self.arrivals, Wait::Spin, |arrivals| arrivals & LARGE != 0);
        let body = self.body.load(Ordering::Relaxed);
        // SAFETY: the body is there until the last one departs; if we are that one, no other
        // thread knows of it once the exchange has succeeded, because all who did have handed it
        // on to us. Otherwise we do not touch it after the release.
        unsafe {
            let departures = (*body).departures().load(Ordering::Relaxed) + ARRIVAL;
            let all = departures | LARGE;
            // Arrivals only grow while we hold the lock.
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

    /// Frees the lock if nobody has arrived since the word was `arrivals`.
    #[inline]
    fn set_free(&self, arrivals: u64) -> bool {
        self.arrivals.compare_exchange(arrivals, 0, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: whoever takes the word from 0 holds the thin lock; everybody else goes through the body,
// which is attached in the state of one that the thin holder holds, and which excludes by its own
// promise. The module's documentation argues that a body is taken off only when nobody else knows
// of it. After freeing the word, or releasing the body, the lock is not touched. Two words, all
// zeros is free, and they name no thread.
unsafe impl<P: Platform, B: Body<P>> RawLock<P> for Inflatable<P, B> {
    type Thread = InflatableThread<P, B>;

    fn new() -> Self {
        Self { arrivals: P::U64::new(0), body: P::Ptr::new(ptr::null_mut()) }
    }

    #[inline]
    fn acquire(&self, thread: &mut Self::Thread) {
        // Acquire shows what the last holder did, if the lock was free, or else the body.
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
        // The body is lost with the threads that were in it.
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
