//! A condition variable that works with any lock, wakes in order of arrival and loses no signal.
//!
//! # The idea
//! A list of sleepers in order of arrival, each on the stack of its thread with a word of its own
//! to sleep on, behind a small lock. A thread lists itself before it releases the lock that
//! guards its condition, so no signal sent under that lock can miss it. A signal takes the first
//! one off the list that is not about to leave by itself and wakes exactly that one: a later one
//! cannot steal the wake-up, and nobody wakes for nothing. A broadcast takes all.
//!
//! # Who touches the condition when
//! A program may destroy it, and free its memory, once nobody is blocked on it, though the threads
//! that a broadcast woke have not run yet. A woken thread therefore does not touch it again; its
//! waker touches only the sleeper once the list's lock is released. Two kinds do come back: one
//! that timed out or was cancelled takes itself off the list, and one that was signalled while
//! others waited reports that it will not be passing the signal on (which it must if it is
//! cancelled before it can return). [`Condition::destroy`] waits for these two.
//!
//! # After a fork
//! The list's lock knows the process in which it was last taken. A child finds its parent's there,
//! and starts with an empty list.

use core::{fmt, ptr};

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell};

use crate::fork_lock::ForkLock;

/// States of a sleeper.
///
/// | from | to | by |
/// | --- | --- | --- |
/// | `WAITING` | `CHOSEN` | a signal or broadcast, holding the list's lock |
/// | `CHOSEN` | `WOKEN`, `WOKEN_AMONG` | the same, having let go of that lock |
/// | `WAITING` | `LEAVING` | the sleeper, timed out or cancelled |
///
/// A thread sleeps on while the state is `WAITING` or `CHOSEN`.
pub mod sleeper_state {
    /// On the list, asleep.
    pub const WAITING: u32 = 0;
    /// Off the list; about to be woken.
    pub const CHOSEN: u32 = 1;
    /// Free to go, and need not touch the condition again.
    pub const WOKEN: u32 = 2;
    /// Free to go. Others waited when it was chosen: should it be cancelled now, one of them
    /// is to have the signal instead. It has to report its departure.
    pub const WOKEN_AMONG: u32 = 3;
    /// On the list but not to be chosen: about to take itself off.
    pub const LEAVING: u32 = 4;
}
use sleeper_state::{CHOSEN, LEAVING, WAITING, WOKEN, WOKEN_AMONG};

/// In `departures`: somebody waits in `destroy`.
const DESTROYING: u32 = 1;
/// In `departures`: one woken sleeper that has yet to report.
const DEPARTURE: u32 = 2;

/// A condition on which threads sleep. On the native platform all zero is a new one, of 24 bytes.
///
/// `process` is the number of the calling process throughout, as for
/// [`ForkLock`](crate::ForkLock).
#[repr(C)]
pub struct Condition<P: Platform> {
    /// Guards the list.
    lock: ForkLock<P>,
    /// Woken sleepers that will still touch this object, times [`DEPARTURE`], and [`DESTROYING`].
    departures: P::U32,
    /// First of the list; written under the lock.
    head: P::Ptr<Sleeper<P>>,
    /// Last of the list, valid if there is a first; accessed under the lock.
    tail: P::Ptr<Sleeper<P>>,
}

/// A place in the list of a condition, on the stack of the thread that waits.
#[repr(C)]
pub struct Sleeper<P: Platform> {
    /// What it sleeps on; one of [`sleeper_state`].
    pub state: P::U32,
    links: P::Cell<Links<P>>,
}

#[repr(C)]
struct Links<P: Platform> {
    next: *mut Sleeper<P>,
    previous: *mut Sleeper<P>,
}

// SAFETY: sleepers are reached under the list's lock, or by whoever has chosen them.
unsafe impl<P: Platform> Send for Links<P> {}

impl<P: Platform> Default for Condition<P> {
    fn default() -> Self {
        Self {
            lock: ForkLock::default(),
            departures: P::U32::new(0),
            head: P::Ptr::new(ptr::null_mut()),
            tail: P::Ptr::new(ptr::null_mut()),
        }
    }
}

impl<P: Platform> Default for Sleeper<P> {
    fn default() -> Self {
        let links = Links { next: ptr::null_mut(), previous: ptr::null_mut() };
        Self { state: P::U32::new(WAITING), links: P::Cell::new(links) }
    }
}

impl<P: Platform> Sleeper<P> {
    /// Tries to go without having been chosen. If it has been chosen, waits until the chooser is
    /// done with it and gives the state it was left in.
    ///
    /// # Errors
    /// The state in which a signal or broadcast left it.
    ///
    /// # Safety
    /// `this` points to the calling thread's sleeper, which was enlisted.
    pub unsafe fn leave(this: *const Self) -> Result<(), u32> {
        // SAFETY: it is live.
        let word = unsafe { &(*this).state };
        // Acquire: having been chosen, see what the chooser did before.
        let left = word.compare_exchange(WAITING, LEAVING, Ordering::Relaxed, Ordering::Acquire);
        let Err(mut now) = left else { return Ok(()) };
        while now == CHOSEN {
            P::park(word, now, None);
            now = word.load(Ordering::Acquire);
        }
        Err(now)
    }

    /// Wakes a chosen sleeper.
    ///
    /// # Safety
    /// `this` was chosen by the caller, who does not use it afterwards: its thread may be gone.
    unsafe fn wake(this: *const Self, state: u32) {
        // SAFETY: a chosen sleeper stays until its state changes.
        let word = unsafe { &raw const (*this).state };
        // SAFETY: likewise, up to this store. Release: what the signaller did comes before what
        // the sleeper does.
        unsafe { (*word).store(state, Ordering::Release) };
        P::unpark(word, 1);
    }

    /// # Safety
    /// The caller may reach the links: it holds the list's lock or has chosen `this`.
    unsafe fn links<R>(this: *mut Self, work: impl FnOnce(&mut Links<P>) -> R) -> R {
        // SAFETY: by this function's contract.
        unsafe { (*this).links.with_mut(|links| work(&mut *links)) }
    }
}

impl<P: Platform> Condition<P> {
    /// Appends `sleeper`.
    ///
    /// # Safety
    /// It is new and stays in place until it has been woken or has left.
    pub unsafe fn enlist(&self, sleeper: *mut Sleeper<P>, process: u32) {
        self.acquire(process);
        let first = self.head.load(Ordering::Relaxed).is_null();
        let tail = self.tail.load(Ordering::Relaxed);
        // SAFETY: the lock is held, so the list's sleepers stay and their links are ours.
        unsafe {
            Sleeper::links(sleeper, |links| {
                links.next = ptr::null_mut();
                links.previous = if first { ptr::null_mut() } else { tail };
            });
            if !first {
                Sleeper::links(tail, |links| links.next = sleeper);
            }
        }
        self.tail.store(sleeper, Ordering::Relaxed);
        if first {
            self.head.store(sleeper, Ordering::Relaxed);
        }
        self.release(process);
    }

    /// Takes a sleeper that has [left](Sleeper::leave) off the list.
    ///
    /// # Safety
    /// `sleeper` is on this list, left by its own thread, the caller.
    pub unsafe fn delist(&self, sleeper: *mut Sleeper<P>, process: u32) {
        self.acquire(process);
        // SAFETY: the lock is held and the sleeper on the list.
        unsafe { self.unlink(sleeper) };
        let awaited = self.departures.load(Ordering::Relaxed) & DESTROYING != 0;
        if awaited {
            self.departures.fetch_and(!DESTROYING, Ordering::Relaxed);
        }
        let word = &raw const self.departures;
        self.release(process);
        // The object may be gone now; the word is only an address.
        if awaited {
            P::unpark(word, 1);
        }
    }

    /// Wakes the sleeper that came first, if there is one.
    pub fn signal(&self, process: u32) {
        // One that the caller knows of, because it has held the lock of the condition since, is
        // visible here: it listed itself before it released that lock.
        if self.head.load(Ordering::Relaxed).is_null() {
            return;
        }
        self.acquire(process);
        let chosen = self.choose();
        let others = !self.head.load(Ordering::Relaxed).is_null();
        if !chosen.is_null() && others {
            self.departures.fetch_add(DEPARTURE, Ordering::Relaxed);
        }
        self.release(process);
        if !chosen.is_null() {
            // SAFETY: chosen just now, and not used again.
            unsafe { Sleeper::wake(chosen, if others { WOKEN_AMONG } else { WOKEN }) };
        }
    }

    /// Wakes all sleepers.
    pub fn broadcast(&self, process: u32) {
        if self.head.load(Ordering::Relaxed).is_null() {
            return; // as in `signal`
        }
        self.acquire(process);
        let mut first: *mut Sleeper<P> = ptr::null_mut();
        let mut last: *mut Sleeper<P> = ptr::null_mut();
        loop {
            let chosen = self.choose();
            if chosen.is_null() {
                break;
            }
            if first.is_null() {
                first = chosen;
            } else {
                // SAFETY: a chosen sleeper stays until it is woken, and its links are ours.
                unsafe { Sleeper::links(last, |links| links.next = chosen) };
            }
            last = chosen;
        }
        self.release(process);
        while !first.is_null() {
            let sleeper = first;
            // SAFETY: not woken yet. Its link is read before it is, and it is not used again.
            unsafe {
                first = if sleeper == last {
                    ptr::null_mut()
                } else {
                    Sleeper::links(sleeper, |links| links.next)
                };
                Sleeper::wake(sleeper, WOKEN);
            }
        }
    }

    /// The first sleeper that is not leaving, taken off the list and chosen, or null. The lock is
    /// held.
    fn choose(&self) -> *mut Sleeper<P> {
        let mut sleeper = self.head.load(Ordering::Relaxed);
        while !sleeper.is_null() {
            // SAFETY: sleepers on the list stay while the lock is held.
            let chosen = unsafe { &(*sleeper).state }.compare_exchange(
                WAITING,
                CHOSEN,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            // SAFETY: as above, and it is on the list.
            unsafe {
                if chosen.is_ok() {
                    self.unlink(sleeper);
                    return sleeper;
                }
                sleeper = Sleeper::links(sleeper, |links| links.next);
            }
        }
        sleeper
    }

    /// # Safety
    /// The lock is held and `sleeper` is on the list.
    unsafe fn unlink(&self, sleeper: *mut Sleeper<P>) {
        // SAFETY: the lock is held, so the list's sleepers stay and their links are ours.
        unsafe {
            let (previous, next) = Sleeper::links(sleeper, |links| (links.previous, links.next));
            if previous.is_null() {
                self.head.store(next, Ordering::Relaxed);
            } else {
                Sleeper::links(previous, |links| links.next = next);
            }
            if next.is_null() {
                self.tail.store(previous, Ordering::Relaxed);
            } else {
                Sleeper::links(next, |links| links.previous = previous);
            }
        }
    }

    /// Reports that a sleeper woken with `WOKEN_AMONG` will not touch this object again.
    pub fn depart(&self) {
        let word = &raw const self.departures;
        // Release: `destroy`, and the freeing that follows it, come after.
        let before = self.departures.fetch_sub(DEPARTURE, Ordering::Release);
        if before == DEPARTURE | DESTROYING {
            P::unpark(word, 1);
        }
    }

    /// Waits until no thread will touch the object any more.
    pub fn destroy(&self, process: u32) {
        loop {
            self.acquire(process);
            // Asks and looks at once: the last to depart does so before this, and is seen here, or
            // finds that it is awaited. Acquire: what it did with the object comes before the end.
            let departures = self.departures.fetch_or(DESTROYING, Ordering::Acquire);
            let done = departures < DEPARTURE && self.head.load(Ordering::Relaxed).is_null();
            self.release(process);
            if done {
                return;
            }
            P::park(&self.departures, departures | DESTROYING, None);
        }
    }

    fn acquire(&self, process: u32) {
        if self.lock.acquire(process) {
            self.head.store(ptr::null_mut(), Ordering::Relaxed);
            self.departures.store(0, Ordering::Relaxed);
        }
    }

    fn release(&self, process: u32) {
        // SAFETY: the caller has taken it in this process.
        unsafe { self.lock.release(process) };
    }
}

impl<P: Platform> fmt::Debug for Condition<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let awaited = !self.head.load(Ordering::Relaxed).is_null();
        f.debug_struct("Condition").field("awaited", &awaited).finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for Sleeper<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("Sleeper").field("state", &state).finish_non_exhaustive()
    }
}
