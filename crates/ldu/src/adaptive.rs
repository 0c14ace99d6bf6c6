//! Logging where it pays, and nowhere else.
//!
//! A log loses where a structure is read about as often as it is updated: each read has to apply
//! what little has gathered, as the writer. Where it breaks even depends on the machine, the number
//! of cores, the structure and what the program does beside; the paper measured 65 to 85 % updates,
//! and leaves a log that is used only above that to the future (section 2.7).
//!
//! # The idea
//! Nothing about the machine is assumed: both ways are tried, and the faster one is taken for a
//! good while. A trial is four windows of some hundred operations each, in the order one, other,
//! other, one, so that a drift of the load favours neither. What counts is how many operations the
//! root does in a time, reads and updates alike. Then nothing is counted or tried for twenty times
//! as long as the trial lasted, and longer if it keeps saying the same, so that trials cost a
//! twentieth of the time at most, also where one of the ways is hopeless: its windows are cut short.
//!
//! Operations are counted where that is free: updates under the lock. Readers count themselves only
//! while a window is open, in a few words that are spread over cores. Roots that are hardly used are
//! never tried, begin without a log, and allocate nothing for it.

use alloc::boxed::Box;
use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform, SharedCell};

use crate::policy::Policy;

/// Updates are to be logged.
const LOG: u32 = 1;
/// Readers are to count themselves.
const COUNT: u32 = 2;

/// Operations of a window.
const WINDOW: u64 = 256;
/// Direct updates between two looks at the clock.
const LOOK: u64 = 32;
/// Updates before the first trial.
const COLD: u64 = 512;
/// A window is cut short when it has lasted so many times as long as the first one.
const CUT: u64 = 8;
/// How many times as long as a trial the time after it is.
const REST: u64 = 20;
/// The same after trials that kept saying the same.
const LONGEST_REST: u64 = 160;
/// Words that readers count themselves in.
const STRIPES: usize = 8;

/// The windows of a trial: whether each is of the way that was used before.
const TRIAL: [bool; 4] = [true, false, false, true];

/// Tries what is faster, logging or not.
pub struct Adaptive<P: Platform> {
    /// [`LOG`] and [`COUNT`]. Read by all, and written twice a window, under the lock.
    advice: P::U32,
    /// How many readers have come while they were to count themselves. Null until the first trial.
    readers: P::Ptr<Readers<P>>,
    /// Used under the lock.
    book: P::Cell<Book>,
}

struct Readers<P: Platform> {
    stripes: [Padded<P::U64>; STRIPES],
}

/// What was seen in windows.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    operations: u64,
    cycles: u64,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// No trial yet.
    Cold,
    /// Until then, or when the clock is next looked at.
    Resting { until: Cycles },
    /// In this window of a trial.
    Trying { window: usize, began: Cycles, readers: u64, cut: u64 },
}

#[derive(Debug, Clone, Copy)]
struct Book {
    phase: Phase,
    /// Updates since the phase or window began, and since the clock was last looked at.
    updates: u64,
    since_look: u64,
    logging: bool,
    used: Seen,
    other: Seen,
    rest: u64,
}

impl<P: Platform> Adaptive<P> {
    /// Limits that a checker shrinks, so that it sees switches.
    const fn scaled(limit: u64) -> u64 {
        if P::CHECKED { 1 } else { limit }
    }

    fn readers(&self) -> u64 {
        let readers = self.readers.load(Ordering::Acquire);
        if readers.is_null() {
            return 0;
        }
        // SAFETY: once there, they stay until the root is dropped.
        let stripes = unsafe { &(*readers).stripes };
        stripes.iter().fold(0, |sum, stripe| sum.wrapping_add(stripe.load(Ordering::Relaxed)))
    }

    /// Takes note of updates. The caller holds the root's lock.
    #[inline]
    fn note(&self, updates: u64, look: bool) {
        self.book.with_mut(|book| {
            // SAFETY: the lock's holder is alone with it.
            let book = unsafe { &mut *book };
            book.updates += updates;
            book.since_look += updates;
            if look || book.since_look >= Self::scaled(LOOK) {
                book.since_look = 0;
                self.look(book);
            }
        });
    }

    #[cold]
    fn look(&self, book: &mut Book) {
        match book.phase {
            Phase::Cold if book.updates >= Self::scaled(COLD) => {
                let readers =
                    Box::new(Readers { stripes: core::array::from_fn(|_| Padded(P::U64::new(0))) });
                self.readers.store(Box::into_raw(readers), Ordering::Release);
                self.open(book, 0, u64::MAX);
            }
            Phase::Resting { until } if P::now() >= until => {
                (book.used, book.other) = Default::default();
                self.open(book, 0, u64::MAX);
            }
            Phase::Trying { window, began, readers, cut } => {
                let cycles = P::now().since(began).0.max(1);
                let operations = book.updates + self.readers().wrapping_sub(readers);
                if operations >= Self::scaled(WINDOW) || cycles >= cut {
                    self.close(book, window, Seen { operations, cycles }, cut);
                }
            }
            Phase::Cold | Phase::Resting { .. } => {}
        }
    }

    fn open(&self, book: &mut Book, window: usize, cut: u64) {
        book.updates = 0;
        self.advise(book.logging == TRIAL[window], COUNT);
        let readers = self.readers();
        book.phase = Phase::Trying { window, began: P::now(), readers, cut };
    }

    fn close(&self, book: &mut Book, window: usize, seen: Seen, cut: u64) {
        let all = if TRIAL[window] { &mut book.used } else { &mut book.other };
        all.operations += seen.operations;
        all.cycles += seen.cycles;
        if window + 1 < TRIAL.len() {
            self.open(book, window + 1, cut.min(seen.cycles.saturating_mul(CUT)));
            return;
        }
        let rate = |one: Seen, other: Seen| u128::from(one.operations) * u128::from(other.cycles);
        if rate(book.other, book.used) > rate(book.used, book.other) {
            book.logging = !book.logging;
            book.rest = REST;
        } else {
            book.rest = (book.rest * 2).clamp(REST, LONGEST_REST);
        }
        let trial = book.used.cycles + book.other.cycles;
        let until = P::now().0.saturating_add(trial.saturating_mul(Self::scaled(book.rest)));
        book.phase = Phase::Resting { until: Cycles(until) };
        self.advise(book.logging, 0);
    }

    fn advise(&self, log: bool, count: u32) {
        let log = if log { LOG } else { 0 };
        self.advice.store(log | count, Ordering::Relaxed);
    }
}

impl<P: Platform> Policy<P> for Adaptive<P> {
    fn new() -> Self {
        Self {
            advice: P::U32::new(0),
            readers: P::Ptr::new(ptr::null_mut()),
            book: P::Cell::new(Book {
                phase: Phase::Cold,
                updates: 0,
                since_look: 0,
                logging: false,
                used: Seen::default(),
                other: Seen::default(),
                rest: 0,
            }),
        }
    }

    #[inline]
    fn logs(&self) -> bool {
        self.advice.load(Ordering::Relaxed) & LOG != 0
    }

    #[inline]
    fn reading(&self) {
        if self.advice.load(Ordering::Relaxed) & COUNT == 0 {
            return;
        }
        // Acquire: the words that are counted in.
        let readers = self.readers.load(Ordering::Acquire);
        if !readers.is_null() {
            // SAFETY: once there, they stay until the root is dropped.
            let stripes = unsafe { &(*readers).stripes };
            stripes[P::cpu().0 as usize % STRIPES].fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn applied(&self, updates: u64) {
        // The clock is looked at each time: a log is applied rarely, or else it will be soon.
        self.note(updates, true);
    }

    #[inline]
    fn updated(&self) {
        self.note(1, false);
    }
}

impl<P: Platform> Drop for Adaptive<P> {
    fn drop(&mut self) {
        let readers = self.readers.load(Ordering::Relaxed);
        if !readers.is_null() {
            P::discard(readers);
            // SAFETY: it came from a Box in `look`, and this is the root's end.
            drop(unsafe { Box::from_raw(readers) });
        }
    }
}

impl<P: Platform> fmt::Debug for Adaptive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adaptive").field("logs", &Policy::logs(self)).finish_non_exhaustive()
    }
}
