//! A condition variable that works with any lock, wakes in order of arrival and loses no signal.
//!
//! # The idea
//! The condition is a list of sleepers in order of arrival, guarded by a small lock. Each sleeper
//! lies on the stack of its thread and has a word of its own to sleep on. A thread lists itself
//! before it releases the lock that guards its condition, so a signal sent under that lock cannot
//! miss it. A signal removes the first sleeper that is not about to leave by itself, and wakes
//! exactly that one. So a later sleeper cannot steal the wake-up, and no thread wakes needlessly. A
//! broadcast removes all sleepers.
//!
//! # Who touches the condition when
//! A program may destroy the condition and free its memory once no thread is blocked on it, even if
//! threads that a broadcast woke have not run yet. A woken thread therefore does not touch the
//! condition again, and its waker touches only the sleeper after it has released the list's lock.
//! There are two exceptions. A thread that timed out or was cancelled removes itself from the list.
//! And a thread that was signalled while others waited reports that it will not pass the signal on.
//! (If it is cancelled before it can return, it must pass it on.) [`Condition::destroy`] waits for
//! both, and for sleepers that nobody has woken yet. So whoever takes the last sleeper off the list
//! wakes a thread that waits there.
//!
//! # After a fork
//! The list's lock stores the process in which it was last acquired. A child finds the number of
//! its parent there, and starts with an empty list.

use core::{fmt, ptr};

use kilocore_platform::{Atomic, AtomicInt, Nanos, Ordering, Platform, SharedCell};

use crate::fork_lock::ForkLock;

/// States of a sleeper.
///
/// | from | to | by |
/// | --- | --- | --- |
/// | `WAITING` | `CHOSEN` | a signal or broadcast, which holds the list's lock |
/// | `CHOSEN` | `WOKEN`, `WOKEN_AMONG` | the same, after it has released that lock |
/// | `WAITING` | `LEAVING` | the sleeper, when it timed out or was cancelled |
///
/// A thread sleeps on while the state is `WAITING` or `CHOSEN`.
pub mod sleeper_state {
    /// The sleeper is on the list and asleep.
    pub const WAITING: u32 = 0;
    /// The sleeper is off the list and about to be woken.
    pub const CHOSEN: u32 = 1;
    /// The sleeper may go, and need not touch the condition again.
    pub const WOKEN: u32 = 2;
    /// The sleeper may go, and has to report its departure. Others waited when it was chosen: if it
    /// is cancelled now, one of them must get the signal instead.
    pub const WOKEN_AMONG: u32 = 3;
    /// The sleeper is on the list but cannot be chosen. It is about to remove itself.
    pub const LEAVING: u32 = 4;
}
use sleeper_state::{CHOSEN, LEAVING, WAITING, WOKEN, WOKEN_AMONG};

/// The bit of `departures` that says that a thread waits in `destroy`.
const DESTROYING: u32 = 1;
/// What one woken sleeper that has yet to report adds to `departures`.
const DEPARTURE: u32 = 2;

/// A condition on which threads sleep. On the native platform it has 24 bytes, and it is new when
/// all its bits are zero.
///
/// In all methods, `process` is the number of the calling process, as for
/// [`ForkLock`](crate::ForkLock).
#[repr(C)]
pub struct Condition<P: Platform> {
    /// Guards the list of sleepers.
    lock: ForkLock<P>,
    /// The number of woken sleepers that will still touch this object, times [`DEPARTURE`], and
    /// [`DESTROYING`].
    departures: P::U32,
    /// The first sleeper of the list. Written under the lock.
    head: P::Ptr<Sleeper<P>>,
    /// The last sleeper of the list, valid if there is a first. Accessed under the lock.
    tail: P::Ptr<Sleeper<P>>,
}

/// A place in the list of a condition, on the stack of the thread that waits.
#[repr(C)]
pub struct Sleeper<P: Platform> {
    /// The word on which the thread sleeps. Its value is one of [`sleeper_state`].
    pub state: P::U32,
    links: P::Cell<Links<P>>,
}

#[repr(C)]
struct Links<P: Platform> {
    next: *mut Sleeper<P>,
    previous: *mut Sleeper<P>,
}

// SAFETY: a sleeper is reached under the list's lock, or by the thread that has chosen it.
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
    /// Tries to leave before being chosen. If the sleeper has been chosen, waits until the chooser
    /// does not use it any more.
    ///
    /// # Errors
    /// If the sleeper was chosen: the state in which the signal or broadcast left it.
    ///
    /// # Safety
    /// `this` points to the calling thread's sleeper, which was enlisted.
    pub unsafe fn leave(this: *const Self) -> Result<(), u32> {
        // SAFETY: the sleeper is live.
        let word = unsafe { &(*this).state };
        // Acquire: if we have been chosen, we see what the chooser did before.
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
    /// The caller has chosen `this` and does not use it afterwards: its thread may be gone.
    unsafe fn wake(this: *const Self, state: u32) {
        // SAFETY: a chosen sleeper stays until its state changes.
        let word = unsafe { &raw const (*this).state };
        // SAFETY: likewise, up to this store. Release: what the signalling thread did comes before
        // what the sleeper does.
        unsafe { (*word).store(state, Ordering::Release) };
        P::unpark(word, 1);
    }

    /// # Safety
    /// The caller may access the links: it holds the list's lock or has chosen `this`.
    unsafe fn links<R>(this: *mut Self, work: impl FnOnce(&mut Links<P>) -> R) -> R {
        // SAFETY: by this function's contract.
        unsafe { (*this).links.with_mut(|links| work(&mut *links)) }
    }
}

impl<P: Platform> Condition<P> {
    /// Puts `sleeper` at the end of the list.
    ///
    /// # Safety
    /// It is new, and stays in place until it has been woken or has left.
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

    /// Sleeps until woken or until no time is left. Returns whether the time ended the sleep; if a
    /// signal came at the same moment, it did not. `left` says for how long the caller may still
    /// sleep, or `None` for as long as it takes.
    ///
    /// What the thread that wakes the caller did before is visible to the caller.
    ///
    /// # Safety
    /// `sleeper` is on this list and belongs to the calling thread.
    pub unsafe fn sleep(
        &self,
        sleeper: *mut Sleeper<P>,
        process: u32,
        mut left: impl FnMut() -> Option<Nanos>,
    ) -> bool {
        // SAFETY: the sleeper is live. Other threads reach its word, which is atomic, and its links.
        let word = unsafe { &(*sleeper).state };
        let woken = loop {
            // Acquire: we see what the thread did that woke us.
            let state = word.load(Ordering::Acquire);
            if state != WAITING && state != CHOSEN {
                break state;
            }
            let left = left();
            if left == Some(Nanos(0)) {
                // SAFETY: the caller's promise.
                match unsafe { Sleeper::leave(sleeper) } {
                    Ok(()) => {
                        // SAFETY: the caller's promise, and it has just left.
                        unsafe { self.delist(sleeper, process) };
                        return true;
                    }
                    Err(state) => break state,
                }
            }
            P::park(word, state, left);
        };
        if woken == WOKEN_AMONG {
            self.depart();
        }
        false
    }

    /// Removes a sleeper that has [left](Sleeper::leave) from the list.
    ///
    /// # Safety
    /// `sleeper` is on this list, belongs to the calling thread, and has left.
    pub unsafe fn delist(&self, sleeper: *mut Sleeper<P>, process: u32) {
        self.acquire(process);
        // SAFETY: the lock is held and the sleeper on the list.
        unsafe { self.unlink(sleeper) };
        self.release_after_unlinking(process);
    }

    /// Releases the list's lock after sleepers were taken off the list. If none is left, wakes a thread
    /// that waits in `destroy` for that. The memory of the object may be freed afterwards.
    fn release_after_unlinking(&self, process: u32) {
        // That thread sets the bit under the lock.
        let awaited = self.departures.load(Ordering::Relaxed) & DESTROYING != 0
            && self.head.load(Ordering::Relaxed).is_null();
        if awaited {
            // It looks again, and parks again if departures are due.
            self.departures.fetch_and(!DESTROYING, Ordering::Relaxed);
        }
        let word = &raw const self.departures;
        self.release(process);
        // The memory of the object may be freed now. We use only the address of the word.
        if awaited {
            P::unpark(word, 1);
        }
    }

    /// Wakes the sleeper that came first, if there is any. Returns whether it woke one.
    pub fn signal(&self, process: u32) -> bool {
        // If the caller knows of a sleeper because it has since held the lock that guards the
        // condition, that sleeper is visible here: it listed itself before it released that lock.
        if self.head.load(Ordering::Relaxed).is_null() {
            return false;
        }
        self.acquire(process);
        let chosen = self.choose();
        let others = !self.head.load(Ordering::Relaxed).is_null();
        if !chosen.is_null() && others {
            self.departures.fetch_add(DEPARTURE, Ordering::Relaxed);
        }
        self.release_after_unlinking(process);
        if !chosen.is_null() {
            // SAFETY: we have just chosen it, and do not use it again.
            unsafe { Sleeper::wake(chosen, if others { WOKEN_AMONG } else { WOKEN }) };
        }
        !chosen.is_null()
    }

    /// Wakes all sleepers. Returns how many it woke.
    pub fn broadcast(&self, process: u32) -> usize {
        if self.head.load(Ordering::Relaxed).is_null() {
            return 0; // as in `signal`
        }
        let mut count = 0;
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
            count += 1;
        }
        self.release_after_unlinking(process);
        while !first.is_null() {
            let sleeper = first;
            // SAFETY: it has not been woken yet. We read its link before we wake it, and do not use
            // it again.
            unsafe {
                first = if sleeper == last {
                    ptr::null_mut()
                } else {
                    Sleeper::links(sleeper, |links| links.next)
                };
                Sleeper::wake(sleeper, WOKEN);
            }
        }
        count
    }

    /// Removes the first sleeper that is not leaving from the list, marks it as chosen, and returns
    /// it. Returns null if there is none. The lock is held.
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
        // Release: `destroy` returns, and the memory is freed, only after this.
        let before = self.departures.fetch_sub(DEPARTURE, Ordering::Release);
        if before == DEPARTURE | DESTROYING {
            P::unpark(word, 1);
        }
    }

    /// Waits until all sleepers have been woken or have left, and no thread will touch the object any
    /// more. Its memory may then be freed.
    pub fn destroy(&self, process: u32) {
        loop {
            self.acquire(process);
            // One operation sets the bit and reads the count. The last sleeper to depart either
            // does so before this, and we see it, or it finds the bit and wakes us. Acquire: what
            // it did with the object comes before the end of the object.
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
        // SAFETY: the caller has acquired it in this process.
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
