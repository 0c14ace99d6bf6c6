//! A policy that logs updates where logging is faster, and makes them directly elsewhere.
//!
//! A log loses where a structure is read about as often as it is updated, because each read then has
//! to apply a short log as the writer. The share of updates at which a log breaks even depends on
//! the machine, the number of cores, the structure, and the rest of the program. The paper measured
//! shares of 65 to 85 % updates. It leaves a log that is used only above that share to the future
//! (section 2.7).
//!
//! # The idea
//! There are two *ways* to make updates: to log them, or to make them directly. The policy assumes
//! nothing about the machine. It tries both ways, and then uses the way whose operations take less
//! time for a good while.
//!
//! A trial has four windows of some hundred operations each. The first and the last window use the
//! current way, and the two between them use the other way, so a steady drift of the load favours
//! neither. In each window every operation is timed, its waiting included. Updates and reads are
//! averaged separately and weighted by their shares in the whole trial. So a way does not lose
//! because its windows happened to contain more of the expensive kind of operation. (Throughput
//! would be easier to count, but it misleads: if another root limits the program, this root's
//! throughput is the same either way.)
//!
//! After a trial comes a rest, in which nothing is timed or tried. The rest is many times as long as
//! the trial. It is longer if the worse way wastes more time, and each time that a trial confirms
//! the one before. If the other way turns out to be hopeless, the trial ends at once. A way that was
//! found to be the faster one is given up only after it has lost two trials in a row. A root that is
//! hardly used is never tried: it stays without a log and allocates nothing for one.

mod record;

use alloc::boxed::Box;
use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, Cycles, Ordering, Platform, SharedCell};

use self::record::{Record, Sums, WASTE_OF_ALL};
use crate::policy::{Advice, Kind, Policy};

/// The bit of the advice that says that updates are to be logged.
const LOG: u32 = 1;
/// The bit of the advice that says that operations are to be timed.
const TIME: u32 = 2;

/// Number of operations in a window.
const WINDOW: u64 = 256;
/// The number of reads that a window of a root which is read should contain. A window with fewer
/// reads goes on for up to [`PATIENCE`] times as many operations, because reads pay for what a log
/// saves updates.
const READS: u64 = 3;
const PATIENCE: u64 = 16;
/// A window lasts at least this many times as long as a mean operation of the slower kind. It also
/// has at least this many times as many operations as are under way at one time. The reason is that
/// an operation that is under way when the window changes belongs to neither way, and slow
/// operations are the most likely to be under way then.
const OVERLAP: u64 = 8;
/// Number of updates between two looks at the progress of a window.
const LOOK: u64 = 32;
/// Number of direct updates before the first trial.
const COLD: u64 = 1024;
/// A window is cut short when it has lasted this many times as long as the trial's first window.
const CUT: u64 = 8;
/// The shortest rest, as a multiple of the trial. A trial that left a doubt is followed by this rest.
const REST: u64 = 5;
/// The least rest, as a multiple of the trial, if all the time in the worse way was wasted. If half
/// of the time was wasted, the least rest is half as long, and so on. Half of a trial runs in the
/// worse way, the threads that wait when the trial ends are served after it, and a program may have
/// a dozen roots. So trials cost a program some per cent at first. The rest doubles each time that a
/// trial confirms the one before.
const REST_FROM_WASTE: u64 = 400;
/// The longest rest to which doubling leads, as a multiple of the trial. If trials take a
/// millisecond, the rest is some seconds.
const LONGEST_REST: u64 = 2560;

/// Each time that a log is given up again, the least rest doubles; from this many times on it stays
/// as it is. Some roots look better with a log until they have one: without a log they do not limit
/// the program, and with a log they do.
const MOST_DISTRUST: u32 = 6;
/// The least rest, as a multiple of the trial, after a log was given up once.
const DISTRUSTED_REST: u64 = 40;

/// The windows of a trial. A window that is true uses the way that was used before the trial.
const TRIAL: [bool; 4] = [true, false, false, true];

/// A policy that finds out by trials whether logging is faster, and logs only then.
pub struct Adaptive<P: Platform> {
    /// [`LOG`] and [`TIME`]. Read by all, and written once a window, under the lock.
    advice: P::U32,
    /// What a trial has timed. Null until the first one.
    record: P::Ptr<Record<P>>,
    /// Used under the lock.
    book: P::Cell<Book>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// There was no trial yet.
    Cold,
    /// The policy rests until `until`, or until it next looks at the clock after that. If that look
    /// comes more than `again` late, which is the length of a trial, it rests once more for as long.
    Resting { until: Cycles, again: Option<u64> },
    /// In a window of a trial that `began` with so many operations of its way timed before.
    Trying { window: usize, began: Cycles, before: Sums },
}

#[derive(Debug, Clone, Copy)]
struct Book {
    phase: Phase,
    /// Direct updates since the last look.
    unseen: u64,
    /// Which way was found to be the faster one.
    logging: bool,
    /// Whether there were reads in the last trial.
    is_read: bool,
    /// When the trial began.
    trial_began: Cycles,
    /// How long a window of the trial may last.
    cut: u64,
    /// The rest after the trial, as a multiple of the trial. It is 0 before the first trial.
    rest: u64,
    /// Whether the last trial said that the other way is faster.
    doubted: bool,
    /// How often a log was given up again since a log was last found to be far better.
    distrust: u32,
}

impl Book {
    /// Decides how long the policy rests after a trial that left no doubt, as a multiple of the
    /// trial.
    fn settle(&mut self, better: Sums, worse: Sums, changed: bool, first: bool) {
        if changed && !self.logging {
            self.distrust = (self.distrust + 1).min(MOST_DISTRUST);
        } else if self.logging && better.costs_far_less_than(worse) {
            self.distrust = 0;
        }
        let least = (worse.waste(better) * REST_FROM_WASTE / WASTE_OF_ALL).max(REST);
        self.rest = match (changed, first) {
            // The first trial comes early, when what the program does may not be what it will do.
            (true, true) => REST,
            (true, false) => least,
            (false, _) => (self.rest * 2).clamp(least, LONGEST_REST),
        };
        if !self.logging && self.distrust > 0 {
            self.rest = self.rest.max(DISTRUSTED_REST << (self.distrust - 1));
        }
    }
}

impl<P: Platform> Adaptive<P> {
    /// Limits that a checker shrinks, so that it sees switches.
    const fn scaled(limit: u64) -> u64 {
        if P::CHECKED { 1 } else { limit }
    }

    fn record(&self) -> Option<&Record<P>> {
        // Acquire: the record's words.
        // SAFETY: once there, it stays until the root is dropped.
        unsafe { self.record.load(Ordering::Acquire).as_ref() }
    }

    /// Takes note of a moment.
    ///
    /// # Safety
    /// The caller holds the root's lock as the writer.
    #[inline]
    unsafe fn note(&self, updates: u64, at_least: u64) {
        self.book.with_mut(|book| {
            // SAFETY: the lock's holder is alone with it.
            let book = unsafe { &mut *book };
            book.unseen += updates;
            if book.unseen >= Self::scaled(at_least) {
                self.consider(book);
            }
        });
    }

    #[cold]
    fn consider(&self, book: &mut Book) {
        match book.phase {
            Phase::Cold => {
                if book.unseen < Self::scaled(COLD) {
                    return;
                }
                self.record.store(Box::into_raw(Box::new(Record::new())), Ordering::Release);
                self.begin_trial(book);
            }
            Phase::Resting { until, again } => {
                let now = P::now();
                match again {
                    _ if now < until => {}
                    // Nobody has used the root for a while: all of it is out of the caches, which
                    // the first window must not answer for.
                    Some(trial) if now.since(until).0 > trial => {
                        let until = Cycles(now.0.saturating_add(trial));
                        book.phase = Phase::Resting { until, again: None };
                    }
                    _ => self.begin_trial(book),
                }
            }
            Phase::Trying { window, began, before } => {
                let (used, other) = (self.sums(book.logging), self.sums(!book.logging));
                let timed = if TRIAL[window] { used } else { other }.since(before);
                let lasted = P::now().since(began).0;
                let is_read = book.is_read || timed.reads.ended > 0;
                let few_reads = is_read && timed.reads.ended < READS;
                let wanted = if few_reads { WINDOW * PATIENCE } else { WINDOW };
                let overlap = Self::scaled(OVERLAP);
                let enough = timed.operations()
                    >= Self::scaled(wanted).max(timed.under_way().saturating_mul(overlap))
                    && lasted >= timed.longest_mean().saturating_mul(overlap);
                if used.costs_far_less_than(other) {
                    self.end_trial(book, used, other);
                } else if enough || lasted >= book.cut {
                    self.close(book, window, lasted, used, other);
                }
            }
        }
        book.unseen = 0;
    }

    fn sums(&self, logged: bool) -> Sums {
        self.record().map_or(Sums::default(), |record| record.sums(logged))
    }

    fn begin_trial(&self, book: &mut Book) {
        if let Some(record) = self.record() {
            record.clear();
        }
        book.trial_began = P::now();
        book.cut = u64::MAX;
        self.open(book, 0);
    }

    fn open(&self, book: &mut Book, window: usize) {
        let logged = book.logging == TRIAL[window];
        let before = self.sums(logged);
        book.phase = Phase::Trying { window, began: P::now(), before };
        self.advise(logged, TIME);
    }

    fn close(&self, book: &mut Book, window: usize, lasted: u64, used: Sums, other: Sums) {
        if let (0, Some(record)) = (window, self.record()) {
            record.take_measure(used);
        }
        // That the other way is far better is believed at a window's end only: its first operations
        // find nobody before them.
        if window + 1 == TRIAL.len() || other.costs_far_less_than(used) {
            self.end_trial(book, used, other);
        } else {
            book.cut = book.cut.min(lasted.saturating_mul(CUT)).max(1);
            self.open(book, window + 1);
        }
    }

    fn end_trial(&self, book: &mut Book, used: Sums, other: Sums) {
        // If the two ways are close, the root stays without a log. A root that does not limit the
        // program costs the same either way, and with a log it may become what limits the program.
        let loses = if book.logging {
            other.costs_less_than(used)
        } else {
            other.costs_clearly_less_than(used)
        };
        book.is_read = used.reads.ended + other.reads.ended > 0;
        // A way that was once found to be the faster one has to lose twice in a row. One trial may
        // mislead: an operation's time depends on the waiting that other operations cause, and the
        // rest of the program may need longer than a window to adapt to the other way. But if doing
        // without a log is hopeless, there is no doubt: a trial hardly ever favours the log
        // wrongly, since the log's reads pay for its updates.
        let first = book.rest == 0;
        let hopeless = !book.logging && other.costs_far_less_than(used);
        book.doubted = loses && !(first || book.doubted || hopeless);
        if !book.doubted {
            book.logging ^= loses;
            let (better, worse) = if loses { (other, used) } else { (used, other) };
            book.settle(better, worse, loses, first);
        }
        let rest = if book.doubted { REST } else { book.rest };
        let now = P::now();
        let trial = now.since(book.trial_began).0;
        let until = now.0.saturating_add(trial.saturating_mul(Self::scaled(rest)));
        book.phase = Phase::Resting { until: Cycles(until), again: Some(trial) };
        self.advise(book.logging, 0);
    }

    fn advise(&self, logged: bool, time: u32) {
        let log = if logged { LOG } else { 0 };
        self.advice.store(log | time, Ordering::Relaxed);
    }
}

impl<P: Platform> Policy<P> for Adaptive<P> {
    fn new() -> Self {
        Self {
            advice: P::U32::new(0),
            record: P::Ptr::new(ptr::null_mut()),
            book: P::Cell::new(Book {
                phase: Phase::Cold,
                unseen: 0,
                logging: false,
                is_read: false,
                trial_began: Cycles(0),
                cut: 0,
                rest: 0,
                doubted: false,
                distrust: 0,
            }),
        }
    }

    #[inline]
    fn begin(&self, kind: Kind) -> Advice {
        let advice = self.advice.load(Ordering::Relaxed);
        let logs = advice & LOG != 0;
        if advice & TIME == 0 {
            return Advice { logs, began: None };
        }
        if let Some(record) = self.record() {
            record.begin(logs, kind);
        }
        Advice { logs, began: Some(P::now()) }
    }

    #[inline]
    fn done(&self, kind: Kind, advice: Advice) -> bool {
        let Some(began) = advice.began else { return false };
        let took = P::now().since(began);
        let Some(record) = self.record() else { return false };
        let before = record.end(advice.logs, kind, took);
        // Direct updates look at the progress themselves, in `updated`.
        advice.logs && before % Self::scaled(LOOK) == 0
    }

    fn owed(&self, took: Cycles) {
        if let Some(record) = self.record() {
            record.add_to_logged(took);
        }
    }

    #[inline]
    unsafe fn look(&self) {
        // SAFETY: by the caller's promise.
        unsafe { self.note(0, 0) };
    }

    #[inline]
    unsafe fn updated(&self) {
        // SAFETY: by the caller's promise.
        unsafe { self.note(1, LOOK) };
    }
}

impl<P: Platform> Drop for Adaptive<P> {
    fn drop(&mut self) {
        let record = self.record.load(Ordering::Relaxed);
        if !record.is_null() {
            P::discard(record);
            // SAFETY: it came from a Box in `consider`, and this is the root's end.
            drop(unsafe { Box::from_raw(record) });
        }
    }
}

impl<P: Platform> fmt::Debug for Adaptive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let logs = self.advice.load(Ordering::Relaxed) & LOG != 0;
        f.debug_struct("Adaptive").field("logs", &logs).finish_non_exhaustive()
    }
}
