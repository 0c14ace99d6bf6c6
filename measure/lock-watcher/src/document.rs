//! From what was recorded to the profile.
//!
//! A word becomes a lock, a condition or a barrier: by what its writes mean and, where that is not
//! enough, by what the stacks of its waiters say. Threads of some libraries sleep on words of their
//! own, whatever they wait for. Such words become one entry for each place that waits, of which
//! only the waits are known. All figures are of the windows, taken for the whole time.

mod histograms;
mod outside;
mod places;

use std::collections::{BTreeMap, BTreeSet};

use kilocore_java_threads::WaitKind as JavaWaits;
use kilocore_lock_profile::{
    Barrier, Caller, Condition, Family as LockFamily, Frame, Futexes, Handoffs, Histogram,
    Interval, Lock, MostlyBy, Precision, Process, ReadSide, Threads,
};
use kilocore_thread_time::WordKind;
use kilocore_word_names::{Names, WaitKind, Waiter, WordPlace, waiter};

use histograms::spread;
use outside::looks;
pub(crate) use outside::outside;
use places::{callers, own_part, release_places, stacks};

use crate::estimate::{Estimate, mean};
use crate::figures::{Figures, Side, figures};
use crate::ids::{Pid, Tid, Word};
use crate::java::JavaWait;
use crate::ledger::{Ledger, Waits};
use crate::pairing::Model;
use crate::progress::Computing;

/// The whole time for which the windows stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// In nanoseconds.
    pub(crate) wall_ns: f64,
    /// By how much more than in windows whose switches are known everything happened.
    pub(crate) scale: f64,
}

/// What a word turned out to be.
#[derive(Debug)]
enum Is {
    Lock,
    Condition,
    Barrier,
    /// Waiting for a thread to end, or of a runtime's thread for work.
    Join,
    Idle,
    Unknown,
}

/// A word with all that is known of it.
struct Known<'a> {
    word: Word,
    waits: &'a Waits,
    figures: Option<Figures>,
    /// For so many times as long as windows in which calls were watched the whole time was.
    parked_scale: f64,
    /// The stacks of those who wait, and of those who write.
    waiting: Vec<(f64, Vec<Frame>)>,
    /// Where it is given back.
    releases: Vec<Caller>,
    waiter: Option<Waiter>,
    place: WordPlace,
    /// The class of the object, if it is one of Java.
    class: Option<String>,
}

impl Known<'_> {
    /// What the writes to the word mean.
    fn model(&self) -> Model {
        self.figures.as_ref().map_or(Model::Unknown, |figures| figures.model)
    }

    /// Waits for it in the whole time: how many, and how long they were together.
    fn waited(&self, span: Span) -> (u64, f64) {
        let count = self.waits.count as f64 * span.scale;
        let parked = self.waits.parked as f64 * self.parked_scale;
        let ns = self.waits.ns * span.scale + self.waits.parked_ns * self.parked_scale;
        ((count + parked).round() as u64, ns)
    }

    /// Of these waits only the number and the sum are known.
    fn wait(&self, span: Span) -> Histogram {
        let (count, ns) = self.waited(span);
        spread(&[ns / count.max(1) as f64], count.max(1), ns)
    }

    fn is(&self) -> Is {
        let lock = self.model().is_lock();
        match self.waiter.map(|waiter| waiter.kind) {
            Some(WaitKind::Condition | WaitKind::Channel) => Is::Condition,
            Some(WaitKind::Barrier) => Is::Barrier,
            Some(WaitKind::Join | WaitKind::Once) => Is::Join,
            Some(WaitKind::Idle) => Is::Idle,
            Some(WaitKind::Semaphore) if !lock => Is::Condition,
            Some(_) => Is::Lock,
            None if lock => Is::Lock,
            // Those who are never woken in any window contend for nothing.
            None if self.waits.count + self.waits.parked == 0 => Is::Idle,
            None => Is::Unknown,
        }
    }

    fn named(&self) -> Named {
        let kind = match (self.is(), self.waiter.map(|waiter| waiter.kind)) {
            (_, Some(WaitKind::GlobalInterpreterLock)) => WordKind::GlobalInterpreterLock,
            (Is::Lock, Some(WaitKind::ReadWrite)) => WordKind::ReadWriteLock,
            (Is::Lock, _) => WordKind::Lock,
            (Is::Condition, _) => WordKind::Condition,
            (Is::Barrier, _) => WordKind::Barrier,
            (Is::Join, _) => WordKind::Join,
            (Is::Idle, _) => WordKind::Idle,
            (Is::Unknown, _) => WordKind::Unknown,
        };
        let what = self.waiter.map_or("a word", |waiter| waiter.what);
        let name = match (&self.place, self.site().first()) {
            (WordPlace::Symbol { symbol, .. }, _) => format!("{what} {symbol}"),
            (_, Some(frame)) => format!("{what} at {frame}"),
            (place, None) => format!("{what} {place}"),
        };
        Named { kind, name, model: self.model() }
    }

    /// The lock's place in its program, by which locks are told apart.
    fn site(&self) -> Vec<Frame> {
        if let WordPlace::Symbol { module, symbol, offset } = &self.place {
            return vec![Frame {
                function: symbol.clone(),
                module: module.clone(),
                offset: *offset,
                line: None,
            }];
        }
        let heaviest = self.waiting.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        heaviest.map_or_else(Vec::new, |(_, frames)| own_part(frames))
    }
}

/// The processes, in what futexes their threads slept, and what each word is.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) processes: Vec<Process>,
    pub(crate) futexes: Futexes,
    pub(crate) words: BTreeMap<Word, Named>,
}

/// What a word is in an account of time.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) kind: WordKind,
    pub(crate) name: String,
    /// What the writes to it mean.
    pub(crate) model: Model,
}

/// Makes the processes of a profile.
pub(crate) fn processes(
    ledger: &Ledger,
    names: &mut BTreeMap<Pid, Names>,
    members: Vec<(Process, Pid, BTreeSet<Tid>)>,
    span: Span,
) -> Made {
    let joins = looks(ledger.joining_ns, span.scale);
    let mut futexes = Futexes { joins, ..Futexes::default() };
    let (mut done, mut words) = (Vec::new(), BTreeMap::<Word, Named>::new());
    for (process, pid, threads) in members {
        let mut known: Vec<Known<'_>> = ledger
            .waits
            .iter()
            .filter(|(word, _)| word.pid == pid)
            .map(|(word, waits)| {
                let computing = ledger.computing(*word, &threads, span.wall_ns);
                known(*word, waits, ledger, (computing, span), names.get_mut(&pid))
            })
            .collect();
        known.sort_by(|a, b| b.waits.ns.total_cmp(&a.waits.ns).then(a.word.cmp(&b.word)));
        words.extend(known.iter().map(|known| (known.word, known.named())));
        for (word, of) in &ledger.aliases {
            if let Some(named) = words.get(of).cloned() {
                words.insert(*word, named);
            }
        }
        done.push(filled(process, &known, span, &mut futexes));
    }
    Made { processes: done, futexes, words }
}

fn known<'a>(
    word: Word,
    waits: &'a Waits,
    ledger: &'a Ledger,
    (computing, span): (Option<Computing>, Span),
    names: Option<&mut Names>,
) -> Known<'a> {
    let watched = ledger.watched.get(&word);
    let mut known = Known {
        word,
        waits,
        figures: watched.map(|watched| figures(watched, computing)),
        parked_scale: ledger.probed_ns.get(&word.pid).map_or(0.0, |probed| span.wall_ns / probed),
        waiting: Vec::new(),
        releases: Vec::new(),
        waiter: None,
        place: WordPlace::Unmapped,
        class: None,
    };
    if let Some(names) = names {
        known.place = names.word(word.address);
        known.waiting = stacks(names, &waits.scenes);
        let model = known.model();
        let releases = watched.map_or_else(BTreeSet::new, |watched| watched.releases(model));
        known.releases = release_places(&releases, waits, names);
    }
    let mut votes: Vec<(f64, Waiter)> = Vec::new();
    for (ns, frames) in &known.waiting {
        let Some(found) = waiter(frames) else { continue };
        match votes.iter_mut().find(|(_, other)| other.what == found.what) {
            Some((sum, _)) => *sum += ns,
            None => votes.push((*ns, found)),
        }
    }
    known.waiter = votes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, waiter)| waiter);
    let java = known.waiter.and_then(|waiter| in_java(waiter, word.pid, waits, ledger));
    if let Some((waiter, wait)) = java {
        known.waiter = Some(waiter);
        known.waiting = vec![(waits.ns, wait.frames.clone())];
        known.class = Some(wait.class.clone());
    }
    known
}

/// What the virtual machine says of a wait of threads of Java.
fn in_java<'a>(
    waiter: Waiter,
    pid: Pid,
    waits: &Waits,
    ledger: &'a Ledger,
) -> Option<(Waiter, &'a JavaWait)> {
    let kinds: &[JavaWaits] = match waiter.what {
        "Java monitor" => &[JavaWaits::Monitor],
        "Java Object.wait" => &[JavaWaits::Notification],
        "Java java.util.concurrent lock" => &[JavaWaits::Synchronizer, JavaWaits::Notification],
        _ => return None,
    };
    let wait = ledger.java.place(pid, &waits.threads, kinds)?;
    let waiter = match wait.kind {
        JavaWaits::Notification => {
            Waiter { kind: WaitKind::Condition, what: "Java condition", own: 0, ..waiter }
        }
        _ => Waiter { own: 0, ..waiter },
    };
    Some((waiter, wait))
}

fn filled(mut process: Process, known: &[Known<'_>], span: Span, futexes: &mut Futexes) -> Process {
    let mut parked: BTreeMap<ParkedAt, Lock> = BTreeMap::new();
    for known in known {
        let asleep = looks(known.waits.ns - known.waits.spun_ns, span.scale);
        match known.is() {
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

/// What is waited for, and where: the files and the addresses in them.
type ParkedAt = (&'static str, Vec<(String, u64)>);

/// Where a word belongs that is not the lock itself, but where threads park that wait for one.
fn parking(known: &Known<'_>) -> Option<ParkedAt> {
    let waiter = known.waiter.filter(|waiter| waiter.parks && known.waits.called == 0)?;
    if waiter.kind == WaitKind::GlobalInterpreterLock {
        // There is one, whose words are those of its conditions and its mutex.
        return Some((waiter.what, Vec::new()));
    }
    if known.model().is_lock() {
        return None;
    }
    let place = |frame: &Frame| (frame.module.clone(), frame.offset);
    Some((waiter.what, known.site().iter().map(place).collect()))
}

/// Gives the waits of those who parked to the lock that they waited for, if its word is known by
/// calls of its slow path.
fn belongs(waits: &Lock, what: &str, locks: &mut [Lock]) -> bool {
    let first = |lock: &Lock| -> BTreeSet<String> {
        let callers = lock.callers.iter().filter_map(|caller| caller.site.first());
        callers.map(|frame| frame.function.clone()).collect()
    };
    let places = first(waits);
    let same = |lock: &&mut Lock| {
        let known = lock.precision.as_ref().is_some_and(|p| p.acquisitions.is_some());
        known && lock.what.as_deref() == Some(what) && !first(lock).is_disjoint(&places)
    };
    let Some(lock) = locks.iter_mut().find(same) else { return false };
    lock.contended = lock.contended.max(waits.contended.min(lock.acquisitions));
    lock.wait = spread(&[waits.wait.mean_ns()], lock.contended, waits.wait.sum_ns);
    true
}

/// Two words at which threads wait at the same place, as one lock.
fn together(one: Lock, other: Lock) -> Lock {
    if one.acquisitions == 0 {
        return Lock { address: 0, ..other };
    }
    let mut wait = one.wait.clone();
    wait.merge(&other.wait);
    Lock {
        address: 0,
        acquisitions: one.acquisitions + other.acquisitions,
        contended: one.contended + other.contended,
        wait,
        ..one
    }
}

fn lock(known: &Known<'_>, span: Span) -> Lock {
    let figures = known.figures.as_ref();
    let model = known.model();
    let (waits, waited_ns) = known.waited(span);
    let place = match (&known.class, &known.place) {
        (Some(class), _) => Some(format!("an object of class {class}")),
        (None, WordPlace::Unmapped) => None,
        (None, place) => Some(place.to_string()),
    };
    let mut lock = Lock {
        family: match (model, known.waiter.map(|waiter| waiter.kind)) {
            (Model::Shared(..), _) | (_, Some(WaitKind::ReadWrite)) => LockFamily::ReadWrite,
            (_, Some(WaitKind::Spin)) => LockFamily::Spin,
            _ if known.waits.spun_ns > known.waits.ns / 2.0 => LockFamily::Spin,
            _ => LockFamily::Mutex,
        },
        address: known.word.address,
        instances: 1,
        site: known.site(),
        what: known.waiter.map(|waiter| waiter.what.to_owned()),
        place,
        callers: callers(&known.waiting, waits as f64, waited_ns),
        releases: known.releases.clone(),
        ..Lock::default()
    };
    if let Some(figures) = figures
        && model.is_lock()
        && parking(known).is_none()
    {
        fill_exclusive(&mut lock, &figures.exclusive, span);
        lock.read = figures.shared.as_ref().map(|side| Used::of(side, span).shared());
        lock.precision = Some(precision(figures, span));
        if lock.wait.count == 0 && waits > 0 {
            // Nobody was seen to try in vain: they spin by reading, and then sleep.
            lock.contended = waits.min(lock.acquisitions);
            lock.wait = spread(&[waited_ns / waits as f64], lock.contended, waited_ns);
        }
    } else {
        (lock.acquisitions, lock.contended) = (waits, waits);
        lock.wait = spread(&[waited_ns / waits.max(1) as f64], waits, waited_ns);
        lock.precision = Some(Precision {
            windows: figures.map_or(0, |figures| figures.windows),
            windows_ns: figures.map_or(0.0, |figures| figures.window_ns),
            writes: figures.map_or(0, |figures| figures.writes),
            acquisitions: None,
            hold_ns: None,
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
        windows_ns: figures.window_ns,
        writes: figures.writes,
        acquisitions: Some(interval(rate.times(span.wall_ns / 1e9))),
        hold_ns: side.hold.map(interval),
    }
}

/// What a side of a lock was used for in the whole time.
struct Used {
    acquisitions: u64,
    contended: u64,
    hold: Histogram,
    hold_asleep_ns: f64,
    wait: Histogram,
}

impl Used {
    fn of(side: &Side, span: Span) -> Self {
        let acquisitions = (side.rate.value * span.wall_ns / 1e9).round() as u64;
        let all = acquisitions as f64;
        let share = side.contended as f64 / side.seen.max(1) as f64;
        let contended = ((share * all).round() as u64).min(acquisitions);
        let hold = side.hold.map_or(0.0, |hold| hold.value);
        Self {
            acquisitions,
            contended,
            hold: spread(&side.holds, acquisitions, hold * all),
            hold_asleep_ns: side.hold_asleep * all,
            wait: spread(&side.waits, contended, mean(&side.waits) * contended as f64),
        }
    }

    fn shared(self) -> ReadSide {
        let Self { acquisitions, contended, hold, hold_asleep_ns, wait } = self;
        ReadSide { acquisitions, contended, failed_tries: 0, hold, hold_asleep_ns, wait }
    }
}

fn fill_exclusive(lock: &mut Lock, side: &Side, span: Span) {
    let Used { acquisitions, contended, hold, hold_asleep_ns, wait } = Used::of(side, span);
    (lock.acquisitions, lock.contended) = (acquisitions, contended);
    (lock.hold, lock.hold_asleep_ns, lock.wait) = (hold, hold_asleep_ns, wait);
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

fn condition(known: &Known<'_>, span: Span) -> Condition {
    let (address, site, wait) = (known.word.address, known.site(), known.wait(span));
    Condition { address, site, wait, ..Condition::default() }
}

fn barrier(known: &Known<'_>, span: Span) -> Barrier {
    let (address, site, wait) = (known.word.address, known.site(), known.wait(span));
    Barrier { address, site, wait, ..Barrier::default() }
}

/// The times between sections: as long as the processor time that no hold explains, and
/// distributed as those of the lock that was watched best.
fn think(threads: &mut Threads, known: &[Known<'_>], locks: &[Lock], span: Span) {
    let measured = |lock: &&Lock| lock.precision.as_ref().is_some_and(|p| p.acquisitions.is_some());
    let count: u64 = locks.iter().filter(measured).map(Lock::uses).sum();
    let sides = known
        .iter()
        .filter_map(|known| known.figures.as_ref())
        .flat_map(|figures| std::iter::once(&figures.exclusive).chain(&figures.shared));
    let Some(best) = sides.max_by_key(|side| side.thinks.len()) else { return };
    let left = (threads.cpu_ns - locks.iter().map(Lock::held_ns).sum::<f64>()).max(0.0);
    // Threads that take no lock compute, too: that is no thinking.
    threads.think = spread(&best.thinks, count, left.min(mean(&best.thinks) * count as f64 * 1.5));
    threads.think_asleep_ns = best.think_asleep * best.rate.value * span.wall_ns / 1e9;
}
