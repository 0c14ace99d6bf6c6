//! Condition variables of one process.
//!
//! glibc's cannot be kept: they unlock and lock the mutex by glibc's algorithm. These live in the
//! same 48 bytes, of which they use the first 28, and all zero is a fresh one.
//!
//! # The idea
//! A list of waiters in order of arrival, each a node on the stack of its thread with a futex of
//! its own, behind a small lock. A waiter lists itself before it unlocks the mutex, so no signal
//! sent under the mutex can miss it. A signal takes the first waiter off the list that is not
//! about to leave by itself and wakes exactly that one: a later waiter cannot steal the wake-up,
//! and nobody wakes for nothing. A broadcast takes all.
//!
//! # Who touches the variable when
//! POSIX lets a program destroy the variable, and free its memory, once nobody is blocked on it,
//! though the threads that a broadcast woke have not run yet. A woken waiter therefore does not
//! touch it again; its waker touches only the waiter once the list's lock is released. Two kinds
//! of waiter do come back: one that timed out or was cancelled takes itself off the list, and one
//! that was signalled while others waited reports that it will not be passing the signal on
//! (which it must if it is cancelled before it can return). `pthread_cond_destroy` waits for
//! these two.
//!
//! # After a fork
//! The lock word carries the [process] it was last taken in. A child that takes
//! it finds its parent's number there, and starts with an empty list and a free lock.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use libc::pthread_cond_t;

use crate::waiter::{Waiter, state};
use crate::{futex, process};

/// Bytes that this layout may use. glibc 2.25 and later keep the mark of a process-shared variable
/// behind them, which must read zero here; see [`shared_condvar`](crate::shared_condvar).
pub(crate) const BYTES: usize = 28;

/// The low bits of the lock word; the process is above them.
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;
const LOCK_BITS: u32 = 32 - process::BITS;

/// How often to look at a held lock before sleeping; it is held for some tens of instructions.
const SPINS: u32 = 100;

/// In `departures`: somebody waits in `destroy`.
const DESTROYING: u32 = 1;
/// In `departures`: one waiter that has yet to report.
const DEPARTURE: u32 = 2;

/// What is in a `pthread_cond_t`. Never referred to as a whole, because its Rust size includes
/// padding beyond [`BYTES`].
#[repr(C)]
pub(crate) struct Condvar {
    /// Guards the list.
    lock: AtomicU32,
    /// Woken waiters that will still touch this object, times [`DEPARTURE`], and [`DESTROYING`].
    departures: AtomicU32,
    /// First of the list; written under the lock.
    head: AtomicPtr<Waiter>,
    /// Last of the list, valid if there is a first; accessed under the lock.
    tail: AtomicPtr<Waiter>,
    /// 1 if time-outs are measured on the monotonic clock, else 0.
    monotonic: AtomicU32,
}

const _: () = assert!(core::mem::offset_of!(Condvar, monotonic) + 4 <= BYTES);
const _: () = assert!(size_of::<Condvar>() <= size_of::<pthread_cond_t>());

impl Condvar {
    /// The condition variable in the program's object.
    ///
    /// # Safety
    /// `cond` was initialized by [`init`](Self::init) or statically, and lives for as long as the
    /// reference is used.
    #[inline]
    pub(crate) unsafe fn of<'a>(cond: *mut pthread_cond_t) -> &'a Self {
        // SAFETY: big enough, aligned to 8 bytes, and zero bytes or what `init` wrote are valid.
        // Every field is atomic.
        unsafe { &*cond.cast::<Self>() }
    }

    /// Initializes `cond`.
    ///
    /// # Safety
    /// `cond` points to a `pthread_cond_t` that is not in use.
    pub(crate) unsafe fn init(cond: *mut pthread_cond_t, clock: libc::clockid_t) {
        // SAFETY: the whole object is the caller's to write, and zero bytes are a valid one.
        unsafe {
            cond.write_bytes(0, 1);
            let monotonic = u32::from(clock == libc::CLOCK_MONOTONIC);
            Self::of(cond).monotonic.store(monotonic, Ordering::Relaxed);
        }
    }

    /// The clock of `pthread_cond_timedwait`.
    pub(crate) fn clock(&self) -> libc::clockid_t {
        if self.monotonic.load(Ordering::Relaxed) == 0 {
            libc::CLOCK_REALTIME
        } else {
            libc::CLOCK_MONOTONIC
        }
    }

    /// Appends `waiter`.
    ///
    /// # Safety
    /// `waiter` is on no list and stays in place until it has been woken or has left.
    pub(crate) unsafe fn enlist(&self, waiter: *mut Waiter) {
        self.acquire();
        let first = self.head.load(Ordering::Relaxed).is_null();
        let tail = self.tail.load(Ordering::Relaxed);
        // SAFETY: the lock is held, so the list's waiters stay and their links are ours.
        unsafe {
            (*waiter).next = ptr::null_mut();
            (*waiter).previous = if first { ptr::null_mut() } else { tail };
            if !first {
                (*tail).next = waiter;
            }
        }
        self.tail.store(waiter, Ordering::Relaxed);
        if first {
            self.head.store(waiter, Ordering::Relaxed);
        }
        self.release();
    }

    /// Takes a waiter in state `LEAVING` off the list.
    ///
    /// # Safety
    /// `waiter` is on this list, left by its own thread, the caller.
    pub(crate) unsafe fn delist(&self, waiter: *mut Waiter) {
        self.acquire();
        // SAFETY: the lock is held and the waiter on the list.
        unsafe { self.unlink(waiter) };
        let awaited = self.departures.load(Ordering::Relaxed) & DESTROYING != 0;
        if awaited {
            self.departures.fetch_and(!DESTROYING, Ordering::Relaxed);
        }
        let word = &raw const self.departures;
        self.release();
        // The object may be gone now; the word is only an address.
        if awaited {
            futex::wake_one(word);
        }
    }

    /// Wakes the waiter that came first, if there is one.
    pub(crate) fn signal(&self) {
        // A waiter that the caller knows of, because it has held the mutex since, is visible here:
        // it listed itself before it unlocked the mutex.
        if self.head.load(Ordering::Relaxed).is_null() {
            return;
        }
        self.acquire();
        let chosen = self.choose();
        let others = !self.head.load(Ordering::Relaxed).is_null();
        if !chosen.is_null() && others {
            self.departures.fetch_add(DEPARTURE, Ordering::Relaxed);
        }
        self.release();
        if !chosen.is_null() {
            let woken = if others { state::WOKEN_AMONG } else { state::WOKEN };
            // SAFETY: chosen just now, and not used again.
            unsafe { Waiter::wake(chosen, woken) };
        }
    }

    /// Wakes all waiters.
    pub(crate) fn broadcast(&self) {
        if self.head.load(Ordering::Relaxed).is_null() {
            return; // as in `signal`
        }
        self.acquire();
        let mut first: *mut Waiter = ptr::null_mut();
        let mut last: *mut Waiter = ptr::null_mut();
        loop {
            let chosen = self.choose();
            if chosen.is_null() {
                break;
            }
            if first.is_null() {
                first = chosen;
            } else {
                // SAFETY: a chosen waiter stays until it is woken, and its links are ours.
                unsafe { (*last).next = chosen };
            }
            last = chosen;
        }
        self.release();
        while !first.is_null() {
            let waiter = first;
            // SAFETY: not woken yet. Its link is read before it is, and it is not used again.
            unsafe {
                first = if waiter == last { ptr::null_mut() } else { (*waiter).next };
                Waiter::wake(waiter, state::WOKEN);
            }
        }
    }

    /// The first waiter that is not leaving, taken off the list and chosen, or null. The lock is
    /// held.
    fn choose(&self) -> *mut Waiter {
        let mut waiter = self.head.load(Ordering::Relaxed);
        while !waiter.is_null() {
            // SAFETY: waiters on the list stay while the lock is held.
            let chosen = unsafe { &(*waiter).state }.compare_exchange(
                state::WAITING,
                state::CHOSEN,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if chosen.is_ok() {
                // SAFETY: it is on the list.
                unsafe { self.unlink(waiter) };
                return waiter;
            }
            // SAFETY: as above.
            waiter = unsafe { (*waiter).next };
        }
        waiter
    }

    /// # Safety
    /// The lock is held and `waiter` is on the list.
    unsafe fn unlink(&self, waiter: *mut Waiter) {
        // SAFETY: the lock is held, so the list's waiters stay and their links are ours.
        unsafe {
            let (previous, next) = ((*waiter).previous, (*waiter).next);
            if previous.is_null() {
                self.head.store(next, Ordering::Relaxed);
            } else {
                (*previous).next = next;
            }
            if next.is_null() {
                self.tail.store(previous, Ordering::Relaxed);
            } else {
                (*next).previous = previous;
            }
        }
    }

    /// Reports that a waiter woken with `WOKEN_AMONG` will not touch this object again.
    pub(crate) fn depart(&self) {
        let word = &raw const self.departures;
        // Release: `destroy`, and the freeing that follows it, comes after.
        let before = self.departures.fetch_sub(DEPARTURE, Ordering::Release);
        if before == DEPARTURE | DESTROYING {
            futex::wake_one(word);
        }
    }

    /// Waits until no thread will touch the object any more.
    pub(crate) fn destroy(&self) {
        loop {
            self.acquire();
            let departures = self.departures.load(Ordering::Acquire);
            let done = departures < DEPARTURE && self.head.load(Ordering::Relaxed).is_null();
            let awaited = if done {
                departures
            } else {
                self.departures.fetch_or(DESTROYING, Ordering::Relaxed) | DESTROYING
            };
            self.release();
            if done {
                return;
            }
            futex::wait(&self.departures, awaited);
        }
    }

    fn acquire(&self) {
        let free = process::current() << LOCK_BITS;
        let mut spins = 0;
        let mut taken = free | LOCKED;
        loop {
            let now = self.lock.load(Ordering::Relaxed);
            if now >> LOCK_BITS != free >> LOCK_BITS || now == free {
                let exchanged = self.lock.compare_exchange_weak(
                    now,
                    taken,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                );
                if exchanged.is_ok() {
                    if now != free {
                        self.forget();
                    }
                    return;
                }
            } else if spins < SPINS {
                spins += 1;
                core::hint::spin_loop();
            } else {
                // Having slept, others may sleep still: say so when taking it.
                taken = free | CONTENDED;
                let exchanged =
                    self.lock.compare_exchange(now, taken, Ordering::Relaxed, Ordering::Relaxed);
                if exchanged.is_ok() {
                    futex::wait(&self.lock, taken);
                }
            }
        }
    }

    fn release(&self) {
        let free = process::current() << LOCK_BITS;
        let word = &raw const self.lock;
        if self.lock.swap(free, Ordering::Release) == free | CONTENDED {
            futex::wake_one(word);
        }
    }

    /// Starts afresh in a process that has not used this object yet. The lock is held.
    #[cold]
    fn forget(&self) {
        self.head.store(ptr::null_mut(), Ordering::Relaxed);
        self.departures.store(0, Ordering::Relaxed);
    }
}
