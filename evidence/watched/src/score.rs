//! How right the watcher was, over some runs of a program.

use std::time::Duration;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Frame, Histogram, Interval, Lock, Process};

use crate::expected::Expected;
use crate::trial::{Attachment, Trial};

/// How often something was so, of how many runs in which it could have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// How often it was so.
    pub so: u64,
    /// How many runs there were in which it could have been.
    pub of: u64,
}

impl Count {
    pub(crate) fn add(&mut self, so: bool) {
        self.so += u64::from(so);
        self.of += 1;
    }
}

/// How right the watcher was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Score {
    /// Whether what was planted came first.
    pub first: Count,
    /// Whether it was named by its place.
    pub named: Count,
    /// What the watcher said of the number of acquisitions, as a multiple of the truth, by run.
    pub acquisitions: Vec<f64>,
    /// Whether that was within 10 %, or the printed interval held the truth.
    pub acquisitions_right: Count,
    /// The same of the mean hold, as far as the holder ran; within 15 %.
    pub holds: Vec<f64>,
    /// In how many runs the mean hold was that near, or the printed interval held the truth.
    pub holds_right: Count,
    /// Runs of which something failed.
    pub failed: u64,
    /// What else came first, or was said.
    pub instead: Vec<String>,
}

/// Something that threads waited for.
struct Waited<'a> {
    ns: f64,
    address: u64,
    what: String,
    frames: Vec<&'a Frame>,
    lock: Option<&'a Lock>,
}

/// How far within the lock object the word may lie that threads wait for, in bytes.
const OBJECT: u64 = 64;

impl Score {
    /// Adds what a run shows.
    pub fn add(&mut self, trial: &Trial) {
        let expected = Expected::of(trial.program.name());
        let Some(run) = trial.profile.runs.first() else { return };
        if let Expected::Sentence(words) = expected {
            let findings = run.times.iter().flat_map(|times| &times.findings);
            let said: Vec<String> = findings.map(ToString::to_string).collect();
            // Threads without a core are said first, which is true on a machine with few.
            let mut rest = said.iter().filter(|one| !one.starts_with("Not enough cores"));
            self.comes_first(rest.any(|sentence| sentence.starts_with(words)), said.first());
            return;
        }
        let mut waited: Vec<Waited> = run.processes.iter().flat_map(waits).collect();
        waited.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        let first = waited.first();
        let is_first = first.is_some_and(|first| is_planted(trial, first));
        self.comes_first(is_first, first.map(|first| &first.what));
        // What is not found is not named, and its figures are not right.
        let planted = || waited.iter().filter(|waited| is_planted(trial, waited));
        self.named.add(planted().next().is_some_and(is_named));
        if expected == Expected::Lock {
            let locks: Vec<&Lock> = planted().filter_map(|waited| waited.lock).collect();
            self.compare(trial, &locks, run.wall_time.0);
        }
    }

    fn comes_first(&mut self, so: bool, first: Option<&String>) {
        self.first.add(so);
        if !so {
            self.instead.push(first.map_or_else(|| "nothing".to_owned(), String::clone));
        }
    }

    /// `locks` are those of all processes that share it; none if it was not found.
    fn compare(&mut self, trial: &Trial, locks: &[&Lock], watched_ns: f64) {
        let truth = &trial.truth;
        let reads = truth.reads.as_ref();
        let sections = truth.acquisitions + reads.map_or(0, |reads| reads.acquisitions);
        // Who comes back from a condition variable takes the mutex, and gives it back soon.
        let taken = sections + truth.condition_waits.unwrap_or(0);
        let expected = match trial.how {
            Attachment::Attached => taken as f64 * watched_ns / truth.wall.as_nanos() as f64,
            // It was watched from before it began until after it ended.
            Attachment::Started => taken as f64,
        };
        let known: Vec<(&&Lock, Interval)> = locks
            .iter()
            .filter_map(|lock| Some((lock, lock.precision.as_ref()?.acquisitions?)))
            .collect();
        let uses: u64 = known.iter().map(|(lock, _)| lock.uses()).sum();
        let ratio = uses as f64 / expected;
        let low: f64 = known.iter().map(|(_, interval)| interval.low).sum();
        let high: f64 = known.iter().map(|(_, interval)| interval.high).sum();
        self.acquisitions.push(ratio);
        self.acquisitions_right.add(near(ratio, 0.1) || (low..=high).contains(&expected));
        let held = truth.held()
            + reads.map_or(Duration::ZERO, |reads| reads.hold * reads.acquisitions as u32);
        let hold = held.as_nanos() as f64 / taken as f64;
        let held: f64 = known.iter().map(|(lock, _)| lock.held().0).sum();
        let ratio = held / uses.max(1) as f64 / hold;
        let within = |interval: Interval<Nanoseconds<f64>>| {
            (interval.low..=interval.high).contains(&Nanoseconds(hold))
        };
        let inside = known.iter().any(|(lock, _)| {
            lock.precision.as_ref().and_then(|precision| precision.hold).is_some_and(within)
        });
        self.holds.push(ratio);
        self.holds_right.add(near(ratio, 0.15) || inside);
    }
}

fn near(ratio: f64, by: f64) -> bool {
    (ratio - 1.0).abs() <= by
}

fn waits(process: &Process) -> impl Iterator<Item = Waited<'_>> {
    let locks = process.locks.iter().map(|lock| Waited {
        ns: lock.waited().0,
        address: lock.address,
        what: format!(
            "{} at {}",
            lock.what.clone().unwrap_or_else(|| format!("{:?}", lock.family)),
            lock.place.clone().unwrap_or_else(|| format!("{:#x}", lock.address))
        ),
        frames: lock
            .site
            .iter()
            .chain(lock.callers.iter().chain(&lock.releases).flat_map(|caller| &caller.site))
            .collect(),
        lock: Some(lock),
    });
    let conditions = process
        .conditions
        .iter()
        .map(|condition| other("condition", condition.address, &condition.wait, &condition.site));
    let barriers = process
        .barriers
        .iter()
        .map(|barrier| other("barrier", barrier.address, &barrier.wait, &barrier.site));
    locks.chain(conditions).chain(barriers)
}

/// What is waited for and is no lock.
fn other<'a>(kind: &str, address: u64, wait: &Histogram, site: &'a [Frame]) -> Waited<'a> {
    let functions: Vec<&str> = site.iter().take(3).map(|frame| frame.function.as_str()).collect();
    Waited {
        ns: wait.sum.0,
        address,
        what: format!("{kind} {address:#x} {}", functions.join(" < ")),
        frames: site.iter().collect(),
        lock: None,
    }
}

/// What the planted programs call what is waited for, and where. The queue has conditions as well.
const NAMES: [&str; 6] = [
    "planted_lock",
    "planted_section",
    "planted_reading",
    "planted_sending",
    "not_empty",
    "not_full",
];

/// Whether this is what was planted, by its address or its name.
fn is_planted(trial: &Trial, waited: &Waited) -> bool {
    let object = |begin: u64| (begin..begin + OBJECT).contains(&waited.address);
    let here = trial.ready.lock.is_some_and(object);
    here || trial.ready.second.is_some_and(|(_, there)| object(there)) || is_named(waited)
}

/// Whether its name or the stacks of those who wait for it or release it tell where it is in the
/// source.
fn is_named(waited: &Waited) -> bool {
    let planted = |text: &str| {
        let text = text.to_lowercase();
        NAMES.iter().any(|name| text.contains(name))
    };
    planted(&waited.what) || waited.frames.iter().any(|frame| planted(&frame.function))
}
