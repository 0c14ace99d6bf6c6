//! From what was recorded to the profile.
//!
//! A word becomes a lock, a condition or a barrier: by what its writes mean and, where that is not
//! enough, by what the stacks of its waiters say. Threads of some libraries sleep on words of their
//! own, whatever they wait for. Such words become one entry for each place that waits, of which
//! only the waits are known. All figures are of the windows, taken for the whole time.

mod histograms;
mod known;
mod outside;
mod parked;
mod places;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::word_names::{Names, WaitKind, WordPlace};
use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Barrier, Condition, Family as LockFamily, Futexes, Handoffs, Histogram, Interval, Lock,
    MostlyBy, Precision, Process, ReadSide, Threads, is_pthread,
};

use histograms::spread;
use known::{Is, KnownWord, known};
pub(crate) use known::{Named, Span};
use outside::looks;
pub(crate) use outside::outside;
use parked::{ParkedAt, belongs, parking, together};
use places::callers;
pub(crate) use places::frames;

use crate::estimate::{Estimate, mean};
use crate::figures::{Figures, ModeFigures};
use crate::ids::{Pid, Tid, Word};
use crate::ledger::Ledger;
use crate::model::Model;

/// The processes, in what futexes their threads slept, and what each word is.
#[derive(Debug)]
pub(crate) struct WatchedParts {
    pub(crate) processes: Vec<Process>,
    pub(crate) futexes: Futexes,
    pub(crate) words: BTreeMap<Word, Named>,
}

/// A process of the program.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) process: Process,
    pub(crate) threads: BTreeSet<Tid>,
    /// For how long of the whole time it was there.
    pub(crate) wall_time: Nanoseconds<f64>,
}

/// What is left out of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// What a library under it records: pthread locks, conditions and barriers.
    Pthread,
}

impl LeftOut {
    fn out(self, known: &KnownWord<'_>) -> bool {
        self == Self::Pthread && known.waiter.is_some_and(|waiter| is_pthread(waiter.what))
    }
}

/// Makes the processes of a profile. Everything happened `scale` times as often as in windows. In
/// processes that have loaded `library`, what it records is left out.
pub(crate) fn processes(
    ledger: &Ledger,
    names: &mut BTreeMap<Pid, Names>,
    members: Vec<Member>,
    scale: f64,
    library: Option<&Path>,
) -> WatchedParts {
    let joins = looks(ledger.joining, scale);
    let mut futexes = Futexes { joins, ..Futexes::default() };
    let (mut done, mut words) = (Vec::new(), BTreeMap::<Word, Named>::new());
    for Member { process, threads, wall_time } in members {
        let (pid, span) = (Pid(process.pid), Span { wall_time, scale });
        let mut known: Vec<KnownWord<'_>> = ledger
            .waits
            .iter()
            .filter(|(word, _)| word.pid == pid)
            .map(|(word, waits)| {
                let computing = ledger.computing(*word, &threads, span.wall_time);
                known(*word, waits, ledger, (computing, span), names.get_mut(&pid))
            })
            .filter(|known| !known.is_of_one_thread)
            .filter(|known| is_certain(known, ledger))
            .collect();
        known.sort_by(|a, b| b.waits.waited.total_cmp(&a.waits.waited).then(a.word.cmp(&b.word)));
        words.extend(known.iter().map(|known| (known.word, known.named())));
        for (word, of) in &ledger.aliases {
            if let Some(named) = words.get(of).cloned() {
                words.insert(*word, named);
            }
        }
        let is_loaded = |names: &Names| library.is_some_and(|library| names.has_file(library));
        let left = match names.get(&pid) {
            Some(names) if is_loaded(names) => LeftOut::Pthread,
            _ => LeftOut::Nothing,
        };
        done.push(filled(process, &known, (span, left), &mut futexes));
    }
    WatchedParts { processes: done, futexes, words }
}

/// Whether a word says more of its lock than others do. Those who wait for one of Java sleep elsewhere,
/// where their waits are known; and if the collector has moved it, it may be known by two words.
fn is_certain(known: &KnownWord<'_>, ledger: &Ledger) -> bool {
    let is_one = ledger.java_locks.what(known.word).is_some();
    !is_one || known.model().is_lock() && !ledger.java_locks.is_doubtful(known.word)
}

fn filled(
    mut process: Process,
    known: &[KnownWord<'_>],
    (span, left): (Span, LeftOut),
    futexes: &mut Futexes,
) -> Process {
    let mut parked: BTreeMap<ParkedAt, Lock> = BTreeMap::new();
    for known in known {
        let asleep = looks(known.waits.waited - known.waits.spun, span.scale);
        match known.is() {
            Is::Lock if left.out(known) => futexes.locks += asleep,
            Is::Condition if left.out(known) => futexes.conditions += asleep,
            Is::Barrier if left.out(known) => futexes.barriers += asleep,
            Is::Lock => {
                futexes.locks += asleep;
                let Some(key) = parking(known) else {
                    process.locks.push(lock(known, span));
                    continue;
                };
                let entry = parked.entry(key).or_default();
                *entry = together(std::mem::take(entry), lock(known, span));
            }
            Is::Condition => {
                futexes.conditions += asleep;
                process.conditions.push(condition(known, span));
            }
            Is::Barrier => {
                futexes.barriers += asleep;
                process.barriers.push(barrier(known, span));
            }
            Is::Join => futexes.joins += asleep,
            // A runtime's idle thread waits for nobody.
            Is::Idle => futexes.conditions += asleep,
            Is::Unknown => futexes.elsewhere += asleep,
        }
    }
    parked.retain(|(what, _), waits| !belongs(waits, what, &mut process.locks));
    process.locks.extend(parked.into_values());
    process.locks.sort_by_key(|lock| std::cmp::Reverse(lock.uses()));
    for (id, lock) in process.locks.iter_mut().enumerate() {
        lock.id = id as u32;
    }
    think(&mut process.threads, known, &process.locks, span);
    process
}

fn lock(known: &KnownWord<'_>, span: Span) -> Lock {
    let figures = known.figures.as_ref();
    let model = known.model();
    let (waits, waited) = known.waited(span);
    let place = match (&known.class, &known.place) {
        (Some(class), _) => Some(format!("an object of class {class}")),
        (None, WordPlace::Unmapped) => None,
        (None, place) => Some(place.to_string()),
    };
    let mut lock = Lock {
        family: match (model, known.waiter.map(|waiter| waiter.kind)) {
            (Model::Shared(..), _) | (_, Some(WaitKind::ReadWrite)) => LockFamily::ReadWrite,
            (_, Some(WaitKind::Spin)) => LockFamily::Spin,
            _ if known.waits.spun > known.waits.waited / 2.0 => LockFamily::Spin,
            _ => LockFamily::Mutex,
        },
        address: known.word.address,
        instances: 1,
        site: known.site(),
        what: known.waiter.map(|waiter| waiter.what.to_owned()),
        place,
        callers: callers(&known.waiting, waits as f64, waited),
        releases: known.releases.clone(),
        ..Lock::default()
    };
    if let Some(figures) = figures
        && figures.is_covered
        && figures.show_it_taken()
        && model.is_lock()
        && parking(known).is_none()
    {
        fill_exclusive(&mut lock, &figures.exclusive, span);
        lock.read = figures.shared.as_ref().map(|side| Used::of(side, span).shared());
        lock.precision = Some(precision(figures, span));
        if lock.wait.count == 0 && waits > 0 {
            // Nobody was seen to try in vain: they spin by reading, and then sleep.
            lock.contended = waits.min(lock.acquisitions);
            lock.wait = spread(&[waited.0 / waits as f64], lock.contended, waited);
        }
    } else {
        (lock.acquisitions, lock.contended) = (waits, waits);
        lock.wait = spread(&[waited.0 / waits.max(1) as f64], waits, waited);
        lock.precision = Some(Precision {
            windows: figures.map_or(0, |figures| figures.windows),
            window_time: figures.map_or(Nanoseconds(0.0), |figures| figures.window_time),
            writes: figures.map_or(0, |figures| figures.writes),
            acquisitions: None,
            hold: None,
        });
    }
    lock
}

fn precision(figures: &Figures, span: Span) -> Precision {
    let side = match &figures.shared {
        Some(shared) if shared.seen > figures.exclusive.seen => shared,
        _ => &figures.exclusive,
    };
    let interval = |estimate: Estimate| Interval { low: estimate.low, high: estimate.high };
    let readers = figures.shared.as_ref().map_or_else(Estimate::default, |shared| shared.rate);
    let rate = figures.exclusive.rate.and(readers);
    Precision {
        windows: figures.windows,
        window_time: figures.window_time,
        writes: figures.writes,
        acquisitions: Some(interval(rate.times(span.wall_time.seconds()))),
        hold: side.hold.map(|hold| interval(hold).map(Nanoseconds)),
    }
}

/// What a side of a lock was used for in the whole time.
struct Used {
    acquisitions: u64,
    contended: u64,
    hold: Histogram,
    hold_asleep: Nanoseconds<f64>,
    wait: Histogram,
}

impl Used {
    fn of(side: &ModeFigures, span: Span) -> Self {
        let acquisitions = (side.rate.value * span.wall_time.0 / 1e9).round() as u64;
        let all = acquisitions as f64;
        let share = side.contended as f64 / side.seen.max(1) as f64;
        let contended = ((share * all).round() as u64).min(acquisitions);
        let hold = side.hold.map_or(0.0, |hold| hold.value);
        Self {
            acquisitions,
            contended,
            hold: spread(&side.holds, acquisitions, Nanoseconds(hold * all)),
            hold_asleep: Nanoseconds(side.hold_asleep * all),
            wait: spread(&side.waits, contended, Nanoseconds(mean(&side.waits) * contended as f64)),
        }
    }

    fn shared(self) -> ReadSide {
        let Self { acquisitions, contended, hold, hold_asleep, wait } = self;
        ReadSide { acquisitions, contended, failed_tries: 0, hold, hold_asleep, wait }
    }
}

fn fill_exclusive(lock: &mut Lock, side: &ModeFigures, span: Span) {
    let Used { acquisitions, contended, hold, hold_asleep, wait } = Used::of(side, span);
    (lock.acquisitions, lock.contended) = (acquisitions, contended);
    (lock.hold, lock.hold_asleep, lock.wait) = (hold, hold_asleep, wait);
    let passed = (side.same_core + side.other_core).max(1) as f64;
    let other = (side.other_core as f64 / passed * acquisitions as f64).round() as u64;
    let other_core = other.min(acquisitions);
    lock.handoffs = Handoffs { same_core: acquisitions - other_core, other_core };
    let all: u64 = side.by_thread.values().sum();
    lock.mostly_by = side
        .by_thread
        .iter()
        .find(|(_, count)| 2 * **count > all)
        .map(|(tid, count)| MostlyBy { thread: tid.0, share: *count as f64 / all as f64 });
    lock.waiters_met = vec![contended];
}

fn condition(known: &KnownWord<'_>, span: Span) -> Condition {
    let (address, site, wait) = (known.word.address, known.site(), known.wait(span));
    Condition { address, site, wait, ..Condition::default() }
}

fn barrier(known: &KnownWord<'_>, span: Span) -> Barrier {
    let (address, site, wait) = (known.word.address, known.site(), known.wait(span));
    Barrier { address, site, wait, ..Barrier::default() }
}

/// The times between sections: as long as the processor time that no hold explains, and
/// distributed as those of the lock that was watched best.
fn think(threads: &mut Threads, known: &[KnownWord<'_>], locks: &[Lock], span: Span) {
    let measured = |lock: &&Lock| lock.precision.as_ref().is_some_and(|p| p.acquisitions.is_some());
    let count: u64 = locks.iter().filter(measured).map(Lock::uses).sum();
    let sides = known
        .iter()
        .filter_map(|known| known.figures.as_ref())
        .flat_map(|figures| std::iter::once(&figures.exclusive).chain(&figures.shared));
    let Some(best) = sides.max_by_key(|side| side.thinks.len()) else { return };
    let left = (threads.cpu_time - locks.iter().map(Lock::held).sum()).max(Nanoseconds(0.0));
    // Threads that take no lock compute, too: that is no thinking.
    threads.think =
        spread(&best.thinks, count, left.min(Nanoseconds(mean(&best.thinks) * count as f64 * 1.5)));
    threads.think_asleep =
        Nanoseconds(best.think_asleep * best.rate.value * span.wall_time.0 / 1e9);
}
