//! How right the watcher was, over some runs of a program.

use kilocore_lock_profile::{Frame, Interval, Lock, Precision, Process};

use crate::expected::Expected;
use crate::trial::Trial;

/// How often something was so, of how many runs in which it could have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// How often it was so.
    pub so: u64,
    /// Of how many.
    pub of: u64,
}

impl Count {
    fn add(&mut self, so: bool) {
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
    /// See `holds`.
    pub holds_right: Count,
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
    /// Adds a run.
    pub fn add(&mut self, trial: &Trial) {
        let expected = Expected::of(trial.program.name());
        let Some(run) = trial.profile.runs.first() else { return };
        if let Expected::Sentence(words) = expected {
            let said: Vec<String> = run
                .times
                .iter()
                .flat_map(|times| &times.findings)
                .map(ToString::to_string)
                .collect();
            let first = said.first().is_some_and(|sentence| sentence.starts_with(words));
            self.first.add(first);
            if !first {
                self.instead.push(said.first().cloned().unwrap_or_else(|| "nothing".to_owned()));
            }
            return;
        }
        let mut waited: Vec<Waited> =
            run.processes.iter().flat_map(|process| waits(process)).collect();
        waited.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        let Some(first) = waited.first() else {
            self.first.add(false);
            self.instead.push("nothing".to_owned());
            return;
        };
        let planted = is_planted(trial, first);
        self.first.add(planted);
        if !planted {
            self.instead.push(first.what.clone());
        }
        let Some(planted) = waited.iter().find(|waited| is_planted(trial, waited)) else { return };
        self.named.add(is_named(planted));
        if expected.has_figures() {
            self.compare(trial, planted.lock, run.wall_ns);
        }
    }

    fn compare(&mut self, trial: &Trial, lock: Option<&Lock>, watched_ns: f64) {
        let truth = &trial.truth;
        let wall_ns = truth.wall.as_nanos() as f64;
        let reads = truth.reads.as_ref();
        let sections = truth.acquisitions + reads.map_or(0, |reads| reads.acquisitions);
        // Who comes back from a condition variable takes the mutex, and gives it back soon.
        let taken = sections + truth.condition_waits.unwrap_or(0);
        let rate = taken as f64 * watched_ns / wall_ns;
        let precision = lock.and_then(|lock| lock.precision.as_ref());
        let within = |interval: Option<Interval>, truth: f64| {
            interval.is_some_and(|interval| (interval.low..=interval.high).contains(&truth))
        };
        let known = |get: fn(&Precision) -> Option<Interval>| precision.and_then(get);
        let acquisitions = known(|precision| precision.acquisitions);
        let ratio = match (acquisitions, lock) {
            (Some(_), Some(lock)) => lock.uses() as f64 / rate,
            _ => 0.0,
        };
        self.acquisitions.push(ratio);
        self.acquisitions_right.add((ratio - 1.0).abs() <= 0.1 || within(acquisitions, rate));
        let hold = truth.held().as_nanos() as f64 / taken as f64;
        let holds = known(|precision| precision.hold_ns);
        let ratio = match (holds, lock) {
            (Some(_), Some(lock)) => lock.hold.mean_ns() / hold,
            _ => 0.0,
        };
        self.holds.push(ratio);
        self.holds_right.add((ratio - 1.0).abs() <= 0.15 || within(holds, hold));
    }
}

fn waits(process: &Process) -> impl Iterator<Item = Waited<'_>> {
    let locks = process.locks.iter().map(|lock| Waited {
        ns: lock.waited_ns(),
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
    let conditions = process.conditions.iter().map(|condition| Waited {
        ns: condition.wait.sum_ns,
        address: condition.address,
        what: format!("condition {:#x} {}", condition.address, functions(&condition.site)),
        frames: condition.site.iter().collect(),
        lock: None,
    });
    let barriers = process.barriers.iter().map(|barrier| Waited {
        ns: barrier.wait.sum_ns,
        address: barrier.address,
        what: format!("barrier {:#x} {}", barrier.address, functions(&barrier.site)),
        frames: barrier.site.iter().collect(),
        lock: None,
    });
    locks.chain(conditions).chain(barriers)
}

fn functions(site: &[Frame]) -> String {
    site.iter().take(3).map(|frame| frame.function.as_str()).collect::<Vec<_>>().join(" < ")
}

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
        ["planted_lock", "planted_section", "planted_reading", "plantedlock"]
            .iter()
            .any(|name| text.contains(name))
    };
    planted(&waited.what) || waited.frames.iter().any(|frame| planted(&frame.function))
}
