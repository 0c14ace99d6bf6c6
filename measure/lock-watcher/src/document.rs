//! From what was recorded to the profile.
//!
//! A word becomes a lock, a condition or a barrier: by what its writes mean and, where that is not
//! enough, by what the stacks of its waiters say. Threads of some libraries sleep on words of their
//! own, whatever they wait for. Such words become one entry for each place that waits, of which
//! only the waits are known. All figures are of the windows, taken for the whole time.

use std::collections::BTreeMap;

use kilocore_lock_profile::{
    Barrier, Caller, Condition, Family as LockFamily, Frame, Futexes, Handoffs, Histogram,
    Interval, Lock, MostlyBy, Outside, Precision, Process, ReadSide, Threads,
};
use kilocore_thread_time::WordKind;
use kilocore_word_names::{Names, WaitKind, Waiter, WordPlace, own_frame, waiter};

use crate::estimate::Estimate;
use crate::figures::{Figures, Side, figures};
use crate::ids::{Pid, Word};
use crate::pairing::{Model, releases};
use crate::session::{Ledger, Scene, Waits};
use crate::watched::Watched;

/// How many callers of a place are kept, and how many places of a lock.
const DEPTH: usize = 8;
const PLACES: usize = 12;

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
    /// The stacks of those who wait, and of those who write.
    waiting: Vec<(f64, Vec<Frame>)>,
    /// Where it is given back.
    releases: Vec<Caller>,
    waiter: Option<Waiter>,
    place: WordPlace,
}

impl Known<'_> {
    fn is(&self) -> Is {
        let model = self.figures.as_ref().map(|figures| figures.model);
        let lock = matches!(model, Some(Model::Exclusive(_) | Model::Shared(..)));
        match self.waiter.map(|waiter| waiter.kind) {
            Some(WaitKind::Condition | WaitKind::Channel) => Is::Condition,
            Some(WaitKind::Barrier) => Is::Barrier,
            Some(WaitKind::Join | WaitKind::Once) => Is::Join,
            Some(WaitKind::Idle) => Is::Idle,
            Some(WaitKind::Semaphore) if !lock => Is::Condition,
            Some(_) => Is::Lock,
            None if lock => Is::Lock,
            // Those who are never woken in any window contend for nothing.
            None if self.waits.count == 0 => Is::Idle,
            None => Is::Unknown,
        }
    }

    /// The kind and the name of the word in an account of time.
    fn in_times(&self) -> (WordKind, String) {
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
        let name = match &self.place {
            WordPlace::Symbol { symbol, .. } => format!("{what} {symbol}"),
            _ => match self.site().first() {
                Some(frame) => format!("{what} at {frame}"),
                None => what.to_owned(),
            },
        };
        (kind, name)
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

/// The part of a stack that belongs to the program: from the caller of the library on.
fn own_part(frames: &[Frame]) -> Vec<Frame> {
    let own = waiter(frames).map_or_else(|| own_frame(frames), |waiter| waiter.own);
    let own = if own >= frames.len() { 0 } else { own };
    frames[own..].iter().take(DEPTH).cloned().collect()
}

/// The processes, in what futexes their threads slept, and what each word is.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) processes: Vec<Process>,
    pub(crate) futexes: Futexes,
    pub(crate) words: BTreeMap<Word, (WordKind, String)>,
}

/// Makes the processes of a profile.
pub(crate) fn processes(
    ledger: &Ledger,
    names: &mut BTreeMap<Pid, Names>,
    members: Vec<(Process, Pid)>,
    span: Span,
) -> Made {
    let joins = (ledger.joining_ns * span.scale / 1e6).round() as u64;
    let mut futexes = Futexes { joins, ..Futexes::default() };
    let (mut done, mut words) = (Vec::new(), BTreeMap::new());
    for (process, pid) in members {
        let mut known: Vec<Known<'_>> = ledger
            .waits
            .iter()
            .filter(|(word, _)| word.pid == pid)
            .map(|(word, waits)| known(*word, waits, ledger, names.get_mut(&pid)))
            .collect();
        known.sort_by(|a, b| b.waits.ns.total_cmp(&a.waits.ns).then(a.word.cmp(&b.word)));
        words.extend(known.iter().map(|known| (known.word, known.in_times())));
        done.push(filled(process, &known, span, &mut futexes));
    }
    Made { processes: done, futexes, words }
}

fn known<'a>(
    word: Word,
    waits: &'a Waits,
    ledger: &'a Ledger,
    names: Option<&mut Names>,
) -> Known<'a> {
    let watched = ledger.watched.get(&word);
    let mut known = Known {
        word,
        waits,
        figures: watched.map(figures),
        waiting: Vec::new(),
        releases: Vec::new(),
        waiter: None,
        place: WordPlace::Unmapped,
    };
    if let Some(names) = names {
        known.place = names.word(word.address);
        known.waiting = stacks(names, &waits.scenes);
        known.releases = release_places(watched, known.figures.as_ref(), waits, names);
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
    known
}

fn stacks(names: &mut Names, scenes: &[Scene]) -> Vec<(f64, Vec<Frame>)> {
    let mut of = |scene: &Scene| {
        let registers = (scene.registers.ip(), scene.registers.sp(), scene.registers.bp());
        let frames = match scene.at_entry {
            true => names.stack_at_entry(registers, &scene.stack),
            false => names.stack(registers, &scene.stack),
        };
        (scene.ns, frames)
    };
    scenes.iter().map(&mut of).collect()
}

fn filled(mut process: Process, known: &[Known<'_>], span: Span, futexes: &mut Futexes) -> Process {
    // Looks are taken to come once a millisecond.
    let looks = |waits: &Waits| ((waits.ns - waits.spun_ns) * span.scale / 1e6).round() as u64;
    let mut parked: BTreeMap<ParkedAt, Lock> = BTreeMap::new();
    for known in known {
        let asleep = looks(known.waits);
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
    process.locks.extend(parked.into_values());
    let uses = |lock: &Lock| lock.acquisitions + lock.read.as_ref().map_or(0, |r| r.acquisitions);
    process.locks.sort_by_key(|lock| std::cmp::Reverse(uses(lock)));
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
    let waiter = known.waiter.filter(|waiter| waiter.parks)?;
    if waiter.kind == WaitKind::GlobalInterpreterLock {
        // There is one, whose words are those of its conditions and its mutex.
        return Some((waiter.what, Vec::new()));
    }
    let model = known.figures.as_ref().map(|figures| figures.model);
    if matches!(model, Some(Model::Exclusive(_) | Model::Shared(..))) {
        return None;
    }
    let place = |frame: &Frame| (frame.module.clone(), frame.offset);
    Some((waiter.what, known.site().iter().map(place).collect()))
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
    let model = figures.map_or(Model::Unknown, |figures| figures.model);
    let waits = (known.waits.count as f64 * span.scale).round() as u64;
    let place = match &known.place {
        WordPlace::Unmapped => None,
        place => Some(place.to_string()),
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
        callers: callers(known, span),
        releases: known.releases.clone(),
        ..Lock::default()
    };
    if let Some(figures) = figures
        && matches!(model, Model::Exclusive(_) | Model::Shared(..))
        && parking(known).is_none()
    {
        fill_exclusive(&mut lock, &figures.exclusive, span);
        lock.read = figures.shared.as_ref().map(|side| read_side(side, span));
        lock.precision = Some(precision(figures, span));
        let slept = known.waits.ns * span.scale;
        if lock.wait.count == 0 && waits > 0 {
            // Nobody was seen to try in vain: they spin by reading, and then sleep.
            lock.contended = waits.min(lock.acquisitions);
            lock.wait = spread(&[slept / waits as f64], lock.contended, slept);
        }
    } else {
        let slept = known.waits.ns * span.scale;
        (lock.acquisitions, lock.contended) = (waits, waits);
        lock.wait = spread(&[slept / waits.max(1) as f64], waits, slept);
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
    Precision {
        windows: figures.windows,
        windows_ns: figures.window_ns,
        writes: figures.writes,
        acquisitions: Some(interval(side.rate.times(span.wall_ns / 1e9))),
        hold_ns: side.hold.map(interval),
    }
}

fn fill_exclusive(lock: &mut Lock, side: &Side, span: Span) {
    let acquisitions = (side.rate.value * span.wall_ns / 1e9).round() as u64;
    let share =
        |part: u64| (part as f64 / side.seen.max(1) as f64 * acquisitions as f64).round() as u64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    lock.acquisitions = acquisitions;
    lock.contended = share(side.contended).min(acquisitions);
    let hold = side.hold.map_or(0.0, |hold| hold.value);
    lock.hold = spread(&side.holds, acquisitions, hold * acquisitions as f64);
    lock.hold_asleep_ns = side.hold_asleep * acquisitions as f64;
    lock.wait = spread(&side.waits, lock.contended, mean(&side.waits) * lock.contended as f64);
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
    lock.waiters_met = vec![lock.contended];
}

fn read_side(side: &Side, span: Span) -> ReadSide {
    let acquisitions = (side.rate.value * span.wall_ns / 1e9).round() as u64;
    let share = side.contended as f64 / side.seen.max(1) as f64;
    let contended = ((share * acquisitions as f64).round() as u64).min(acquisitions);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let hold = side.hold.map_or(0.0, |hold| hold.value);
    ReadSide {
        acquisitions,
        contended,
        failed_tries: 0,
        hold: spread(&side.holds, acquisitions, hold * acquisitions as f64),
        hold_asleep_ns: side.hold_asleep * acquisitions as f64,
        wait: spread(&side.waits, contended, mean(&side.waits) * contended as f64),
    }
}

/// So many durations, distributed as the sample is, with this sum.
fn spread(sample: &[f64], count: u64, sum_ns: f64) -> Histogram {
    if count == 0 || sample.is_empty() {
        return Histogram::default();
    }
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for value in sample {
        *buckets.entry(lower_bound(*value)).or_default() += 1;
    }
    // The counts add up to the whole: what rounding leaves over goes to the largest.
    let part = count as f64 / sample.len() as f64;
    let mut scaled: Vec<(f64, u64)> = buckets
        .into_iter()
        .map(|(lower, times)| (lower as f64, (times as f64 * part).floor() as u64))
        .collect();
    let rest = count - scaled.iter().map(|(_, times)| times).sum::<u64>().min(count);
    if let Some((_, times)) = scaled.iter_mut().max_by_key(|(_, times)| *times) {
        *times += rest;
    }
    scaled.retain(|(_, times)| *times > 0);
    Histogram { count, sum_ns: sum_ns.max(0.0), buckets: scaled }
}

/// The lower bound of a duration's bucket: four steps for each power of two from 16 on.
fn lower_bound(ns: f64) -> u64 {
    let whole = ns.max(0.0) as u64;
    if whole < 16 {
        return 0;
    }
    let step = 1 << (whole.ilog2() - 2);
    whole / step * step
}

/// Where a lock is taken, by the stacks of those who waited.
fn callers(known: &Known<'_>, span: Span) -> Vec<Caller> {
    let mut places: Vec<(f64, f64, Vec<Frame>)> = Vec::new();
    for (ns, frames) in &known.waiting {
        let site = own_part(frames);
        match places.iter_mut().find(|(.., other)| *other == site) {
            Some((sum, count, _)) => {
                *sum += ns;
                *count += 1.0;
            }
            None => places.push((*ns, 1.0, site)),
        }
    }
    let all_ns: f64 = places.iter().map(|(ns, ..)| ns).sum::<f64>().max(1.0);
    let all: f64 = places.iter().map(|(_, count, _)| count).sum::<f64>().max(1.0);
    places.sort_by(|a, b| b.0.total_cmp(&a.0));
    let waits = known.waits.count as f64 * span.scale;
    let whole_ns = known.waits.ns * span.scale;
    places
        .into_iter()
        .take(PLACES)
        .map(|(ns, count, site)| Caller {
            site,
            acquisitions: (waits * count / all).round() as u64,
            contended: (waits * count / all).round() as u64,
            wait_ns: whole_ns * ns / all_ns,
        })
        .collect()
}

fn condition(known: &Known<'_>, span: Span) -> Condition {
    let waits = (known.waits.count as f64 * span.scale).round() as u64;
    let slept = known.waits.ns * span.scale;
    Condition {
        address: known.word.address,
        site: known.site(),
        wait: spread(&[slept / waits.max(1) as f64], waits.max(1), slept),
        ..Condition::default()
    }
}

fn barrier(known: &Known<'_>, span: Span) -> Barrier {
    let waits = (known.waits.count as f64 * span.scale).round() as u64;
    let slept = known.waits.ns * span.scale;
    Barrier {
        address: known.word.address,
        site: known.site(),
        parties: 0,
        rounds: 0,
        wait: spread(&[slept / waits.max(1) as f64], waits.max(1), slept),
    }
}

/// The times between sections: as long as the processor time that no hold explains, and
/// distributed as those of the lock that was watched best.
fn think(threads: &mut Threads, known: &[Known<'_>], locks: &[Lock], span: Span) {
    let held =
        |lock: &Lock| lock.hold.sum_ns + lock.read.as_ref().map_or(0.0, |read| read.hold.sum_ns);
    let uses = |lock: &Lock| lock.acquisitions + lock.read.as_ref().map_or(0, |r| r.acquisitions);
    let measured = |lock: &&Lock| lock.precision.as_ref().is_some_and(|p| p.acquisitions.is_some());
    let count: u64 = locks.iter().filter(measured).map(uses).sum();
    let sides = known
        .iter()
        .filter_map(|known| known.figures.as_ref())
        .flat_map(|figures| std::iter::once(&figures.exclusive).chain(&figures.shared));
    let Some(best) = sides.max_by_key(|side| side.thinks.len()) else { return };
    let left = (threads.cpu_ns - locks.iter().map(held).sum::<f64>()).max(0.0);
    let mean = best.thinks.iter().sum::<f64>() / best.thinks.len().max(1) as f64;
    // Threads that take no lock compute, too: that is no thinking.
    threads.think = spread(&best.thinks, count, left.min(mean * count as f64 * 1.5));
    threads.think_asleep_ns = best.think_asleep * best.rate.value * span.wall_ns / 1e9;
}

/// Where the lock is released, by the stacks of those who wrote to its word.
fn release_places(
    watched: Option<&Watched>,
    figures: Option<&Figures>,
    waits: &Waits,
    names: &mut Names,
) -> Vec<Caller> {
    let (Some(watched), Some(figures)) = (watched, figures) else { return Vec::new() };
    let windows: Vec<_> =
        watched.windows.iter().map(|watch| watch.history.operations.as_slice()).collect();
    let places = releases(&windows, figures.model);
    let mut found: Vec<(u64, Vec<Frame>)> = Vec::new();
    for (ip, scene) in waits.writers.iter().filter(|(ip, _)| places.contains(ip)) {
        debug_assert_eq!(*ip, scene.registers.ip());
        let registers = (scene.registers.ip(), scene.registers.sp(), scene.registers.bp());
        let site = own_part(&names.stack(registers, &scene.stack));
        match found.iter_mut().find(|(_, other)| *other == site) {
            Some((count, _)) => *count += 1,
            None => found.push((1, site)),
        }
    }
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let of = |(count, site)| Caller { site, acquisitions: count, contended: 0, wait_ns: 0.0 };
    found.into_iter().take(PLACES).map(of).collect()
}

/// What was seen from outside, as if somebody had looked at all threads once a millisecond.
pub(crate) fn outside(ledger: &Ledger, futexes: Futexes, scale: f64, threads_peak: u64) -> Outside {
    let looks = |ns: f64| (ns * scale / 1e6).round() as u64;
    let mut asleep: BTreeMap<String, u64> = ledger
        .asleep
        .iter()
        .map(|(call, ns)| ((*call).to_owned(), looks(*ns)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if futexes.total() > 0 {
        asleep.insert("futex".to_owned(), futexes.total());
    }
    let unread = looks(ledger.unknown_ns);
    if unread > 0 {
        asleep.insert(String::new(), unread);
    }
    Outside {
        rounds: looks(ledger.surveyed_ns),
        threads_peak,
        running: looks(ledger.running_ns),
        running_unrecorded: Some(0),
        asleep,
        futexes,
        voluntary_switches: (ledger.voluntary as f64 * scale).round() as u64,
        awake: kilocore_lock_profile::Awake {
            rounds: looks(ledger.surveyed_ns),
            one: looks(ledger.one_awake_ns),
        },
        unrecorded: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_to_the_whole_with_its_sum() {
        let histogram = spread(&[10.0, 100.0, 110.0], 10, 500.0);
        assert_eq!((histogram.count, histogram.sum_ns), (10, 500.0));
        assert_eq!(histogram.buckets.iter().map(|(_, count)| count).sum::<u64>(), 10);
        assert_eq!(histogram.buckets[0].0, 0.0);
        assert_eq!(spread(&[], 5, 5.0), Histogram::default());
    }

    #[test]
    fn buckets_are_no_wider_than_a_quarter_of_their_bound() {
        for ns in [16.0, 17.0, 100.0, 127.0, 128.0, 1e6, 123_456.0] {
            let lower = lower_bound(ns) as f64;
            assert!(lower <= ns && ns < lower * 1.25 + 1.0, "{ns} in {lower}");
        }
        assert_eq!(lower_bound(3.0), 0);
    }
}
