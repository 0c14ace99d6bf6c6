//! How much of a program the recorder saw.
//!
//! The recorder sees pthread locks, conditions and barriers of programs that can be preloaded, and
//! nothing else. The looks from outside see all threads, and in which system calls they sleep.
//! Sleep that the recorder cannot explain may be waiting for locks that the recorder does not know.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Finding, Lock, Outside, Process, Profile, Run, Unrecorded, WhyUnrecorded,
};
use serde::Serialize;

use crate::evidence::{Evidence, FEW_ACQUISITIONS};
use crate::from_profile::around_locks;
use crate::own_locks::subject;
use crate::words::{counted, percent, rounded};

/// System calls in which threads wait for locks, whoever made the locks.
const LOCK_CALLS: [&str; 6] =
    ["futex", "futex_wait", "futex_waitv", "semop", "semtimedop", "flock"];
/// Locks are only said not to matter if at most this share of the threads' sleep is unexplained.
pub(crate) const MOST_UNEXPLAINED: f64 = 0.1;
/// Unexplained sleep does not count if it is less than this share of all the threads' time.
const NEGLIGIBLE: f64 = 0.05;
/// The least share of the processor time that the process under forecast must have used.
const LEAST_RECORDED: f64 = 0.5;
/// The least share of that process's processor time that its threads must have spent under locks and between them.
const LEAST_AROUND_LOCKS: f64 = 0.1;
/// Threads are in one another's way if an acquisition takes them this many times the processor time
/// that it takes on one core.
const STRAINED: f64 = 1.25;
/// If cores are busy by this share without locks, they were computing, or spinning.
const BUSY: f64 = 0.5;
/// How many system calls are named.
const NAMED_CALLS: usize = 3;

/// How much of a program the recorder saw.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Coverage {
    /// What threads slept in; `None` if there were no looks from outside, or too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<Sleep>,
    /// Programs without a recording.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<UnrecordedPrograms>,
    /// Locks that the recorder had no room for.
    pub locks_not_recorded: u64,
    /// The share of the program's processor time that the process under forecast used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_share: Option<f64>,
    /// The share of that process's processor time that its threads spent under locks and between two of
    /// them. `None` if that was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around_locks: Option<f64>,
    /// The share of the threads' time of which it is known where it went, of a program that was
    /// watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<f64>,
    /// That threads spin for one another, in words.
    #[serde(skip)]
    spinning: Option<String>,
    /// Processor time for each acquisition on all cores, as a multiple of that on one core; `None`
    /// without a second run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strain: Option<f64>,
}

/// What threads slept in, apart from waiting for other threads to end. Where nobody saw in which
/// futex each thread slept, one thread of each process with several threads is assumed to wait for
/// the others.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sleep {
    /// How many threads slept, on average.
    pub threads: f64,
    /// The share of all the threads' time in which they slept. The other shares are shares of that
    /// sleep.
    pub share: f64,
    /// The share in recorded locks, conditions and barriers.
    pub explained: f64,
    /// The share in system calls that wait for locks, where no recorded lock explains the wait.
    pub unexplained: f64,
    /// The share in system calls that could not be read.
    pub unread: f64,
    /// The other calls and their shares, the largest first: for input, for time, for children.
    pub elsewhere: Vec<(String, f64)>,
    /// The share of all the threads' time in which they waited for others to end. That is no part of
    /// the sleep.
    #[serde(skip)]
    for_the_end: f64,
    /// The share of all the threads' time in which they slept by other accounts than the looks: the
    /// recorder's, and that of the windows.
    #[serde(skip)]
    pub(crate) recorded: f64,
    /// Whether locks of any kind were looked for, and not pthread locks alone.
    #[serde(skip)]
    watched: bool,
}

/// Programs that left no recording, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnrecordedPrograms {
    /// Why they left none.
    pub why: WhyUnrecorded,
    /// How many process images there were.
    pub images: u64,
    /// Their executables, each named once.
    pub executables: Vec<String>,
}

impl Coverage {
    /// The coverage of a profile's first run.
    pub(crate) fn of(profile: &Profile, run: &Run, evidence: &Evidence) -> Self {
        let outside = run.outside.as_ref();
        Self {
            sleep: outside.and_then(|outside| Sleep::of(run, outside)),
            unseen: outside.map_or_else(Vec::new, |outside| unseen(&outside.unrecorded)),
            locks_not_recorded: run.processes.iter().map(|p| p.locks_not_recorded).sum(),
            recorded_share: outside
                .filter(|outside| outside.is_enough())
                .and_then(|_| recorded_share(run, evidence)),
            around_locks: subject(run).and_then(around_locks::share),
            known: known(run),
            spinning: spinning(run),
            strain: strain(profile, run),
        }
    }

    /// What was not seen, in one sentence for each gap, the weightiest first. There are none if the
    /// recorder saw enough to say that locks do not matter.
    pub(crate) fn gaps(&self, evidence: &Evidence) -> Vec<String> {
        let mut gaps: Vec<String> = self.unseen.iter().map(UnrecordedPrograms::sentence).collect();
        match &self.sleep {
            Some(sleep) => gaps.extend(sleep.gap()),
            None => gaps.push(
                "the program was not watched from outside, or too shortly, so that it is not known \
                 whether its threads waited for locks of other kinds"
                    .to_owned(),
            ),
        }
        if let Some(share) = self.recorded_share.filter(|share| *share < LEAST_RECORDED) {
            gaps.push(format!(
                "the process whose locks were seen used {} of the program's processor time",
                percent(share)
            ));
        }
        if let Some(share) = self.around_locks.filter(|share| *share < LEAST_AROUND_LOCKS) {
            gaps.push(around_locks::gap(share));
        }
        if self.locks_not_recorded > 0 {
            gaps.push(format!(
                "the recorder had no room for {} of the locks",
                self.locks_not_recorded
            ));
        }
        // A single thread is in nobody's way. Its two runs differ for other reasons.
        let strained = |strain: &f64| evidence.threads != 1 && *strain > STRAINED;
        if let Some(strain) = self.strain.filter(strained) {
            gaps.push(format!(
                "for each acquisition the program needed {} times the processor time that it needs \
                 on one core: its threads get into one another's way at something that is no \
                 pthread lock",
                rounded(strain)
            ));
        }
        if evidence.threads != 1
            && evidence.few()
            && evidence.wanted_cores >= BUSY * evidence.able()
        {
            let busy = format!(
                "threads kept {:.1} of {} busy and hardly took a",
                evidence.busy_cores,
                counted(evidence.cores.into(), "core")
            );
            gaps.push(match (&self.spinning, &self.known) {
                (Some(spinning), _) => format!("{busy} lock that was seen, but {spinning}"),
                (None, Some(known)) => format!(
                    "{busy} lock that was seen, and it is known where {} of their time went",
                    percent(*known)
                ),
                (None, None) => format!(
                    "{busy} pthread lock: seen from outside, computing and spinning at a lock of the \
                     program's own look the same"
                ),
            });
        }
        gaps
    }

    /// Whether the process under forecast, or what its threads did around their locks, used too small a part
    /// of the program's processor time.
    pub(crate) fn is_of_a_lesser_part(&self) -> bool {
        let less = |share: Option<f64>, than: f64| share.is_some_and(|share| share < than);
        less(self.recorded_share, LEAST_RECORDED) || less(self.around_locks, LEAST_AROUND_LOCKS)
    }

    /// How much of the threads' sleep is known, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        match &self.sleep {
            Some(sleep) => sleep.sentence(),
            None => "How much of the threads' sleep the locks explain is unknown.".to_owned(),
        }
    }
}

/// The share of all the threads' time in which they slept in futexes that no recorded lock or condition explains,
/// or in calls that could not be read. `None` if there were too few looks.
pub(crate) fn unexplained_sleep(run: &Run) -> Option<f64> {
    let sleep = Sleep::of(run, run.outside.as_ref()?)?;
    Some(sleep.share * (sleep.unexplained + sleep.unread))
}

/// The share of the threads' time of which it is known where it went, if spinning was looked for.
fn known(run: &Run) -> Option<f64> {
    let times = run.times.as_ref().filter(|times| run.watching.is_some() && times.is_enough())?;
    let coverage = times.coverage;
    let unknown = coverage.unknown_share + coverage.unclassified_share;
    coverage.ticks_seen.then_some((1.0 - unknown).max(0.0))
}

/// That threads spin for one another, where they do.
fn spinning(run: &Run) -> Option<String> {
    let findings = &run.times.as_ref().filter(|_| run.watching.is_some())?.findings;
    let (spin, longest) = findings.iter().find_map(|finding| match finding {
        Finding::Spinning { spin, longest } => Some((*spin, longest)),
        _ => None,
    })?;
    let place = longest.as_ref().map_or_else(String::new, |place| format!(", most in {place}"));
    Some(format!(
        "for {} of their time on a core they spin until another thread writes to memory{place}",
        percent(spin)
    ))
}

impl Sleep {
    fn of(run: &Run, outside: &Outside) -> Option<Self> {
        if !outside.is_enough() {
            return None;
        }
        let looks = outside.rounds as f64;
        let asleep: u64 = outside.asleep.values().sum();
        let threads = asleep as f64 / looks;
        // All quantities below are numbers of threads: how many slept in this way on average.
        let (mut in_locks, mut unread) = (0.0, 0.0);
        let mut elsewhere: BTreeMap<&str, f64> = BTreeMap::new();
        for (call, &times) in &outside.asleep {
            let threads = times as f64 / looks;
            match call.as_str() {
                "" => unread += threads,
                "-" => *elsewhere.entry("page faults").or_default() += threads,
                call if LOCK_CALLS.contains(&call) => in_locks += threads,
                call => *elsewhere.entry(call).or_default() += threads,
            }
        }
        let wall = run.wall_time.max(Nanoseconds(1.0));
        let seen = run.processes.iter().map(seen_sleep).sum::<Nanoseconds<f64>>() / wall;
        let words = &outside.futexes;
        let by_word = (words.locks + words.conditions + words.barriers) as f64 / looks;
        // The looks may miss sleep in locks that are gone. The recorder's times cover it.
        let explained = seen.max(by_word).min(in_locks);
        let several = run.processes.iter().filter(|process| process.threads.peak > 1).count();
        let joining = if words.total() > 0 { words.joins as f64 / looks } else { several as f64 };
        let waiting_for_the_end = (in_locks - explained).min(joining);
        let unknown =
            (words.unknown as f64 / looks).min(in_locks - explained - waiting_for_the_end);
        let unexplained = in_locks - explained - waiting_for_the_end - unknown;
        unread += unknown;
        let running = outside.running as f64 / looks;
        let all = (threads + running).max(f64::MIN_POSITIVE);
        let for_the_end = waiting_for_the_end / all;
        let times = run.times.as_ref().filter(|times| times.is_enough());
        let recorded = times.map_or(0.0, |times| {
            let total = times.total();
            let asleep = total.waiting().saturating_add(total.sleep);
            asleep.share_of(total.present()) - for_the_end
        });
        let recorded = recorded.max(seen / all);
        let threads = threads - waiting_for_the_end;
        let share = threads / (threads + outside.running as f64 / looks).max(f64::MIN_POSITIVE);
        let whole = threads.max(f64::MIN_POSITIVE);
        let mut elsewhere: Vec<(String, f64)> =
            elsewhere.into_iter().map(|(call, t)| (call.to_owned(), t / whole)).collect();
        elsewhere.sort_by(|a, b| b.1.total_cmp(&a.1));
        let [explained, unexplained, unread] = [explained, unexplained, unread].map(|t| t / whole);
        let watched = run.watching.is_some();
        let of = Self { threads, share, explained, unexplained, unread, ..Self::default() };
        Some(Self { elsewhere, for_the_end, recorded, watched, ..of })
    }

    /// A sentence on the unexplained sleep, if there is too much of it to say that locks do not
    /// matter.
    fn gap(&self) -> Option<String> {
        let unknown = self.unexplained + self.unread;
        if unknown <= MOST_UNEXPLAINED || unknown * self.share <= NEGLIGIBLE {
            return None;
        }
        Some(if self.unexplained >= self.unread {
            format!(
                "{} of the time that threads slept was in futexes or semaphores that no {} \
                 explains",
                percent(self.unexplained),
                if self.watched { "lock that was seen" } else { "pthread lock" }
            )
        } else {
            format!(
                "{} of the time that threads slept was in system calls that could not be read",
                percent(self.unread)
            )
        })
    }

    fn sentence(&self) -> String {
        if self.share < NEGLIGIBLE && self.recorded >= NEGLIGIBLE {
            return format!(
                "How much threads slept is not known: looks found them hardly asleep, and another \
                 account has them asleep {} of their time.",
                percent(self.recorded.min(1.0))
            );
        }
        if self.share < NEGLIGIBLE {
            let but =
                if self.for_the_end < NEGLIGIBLE { "" } else { ", but to wait for others to end" };
            return format!("Threads hardly slept{but}.");
        }
        let mut parts =
            vec![format!("{} in the locks and conditions seen", percent(self.explained))];
        if self.unexplained > 0.001 {
            parts.push(format!("{} in futexes that none explains", percent(self.unexplained)));
        }
        if self.unread > 0.001 {
            parts.push(format!("{} in calls that could not be read", percent(self.unread)));
        }
        let elsewhere: f64 = self.elsewhere.iter().map(|(_, share)| share).sum();
        if elsewhere > 0.001 {
            let named = self.elsewhere.iter().take(NAMED_CALLS).map(|(call, _)| call.as_str());
            let named: Vec<&str> = named.collect();
            parts.push(format!("{} elsewhere ({})", percent(elsewhere), named.join(", ")));
        }
        format!("Of the time that threads slept, {}.", parts.join(", "))
    }
}

/// How long threads of a process slept in what the recorder sees.
fn seen_sleep(process: &Process) -> Nanoseconds<f64> {
    let locks = process.locks.iter().map(Lock::waited);
    let conditions = process.conditions.iter().map(|condition| condition.wait.sum);
    let barriers = process.barriers.iter().map(|barrier| barrier.wait.sum);
    locks.chain(conditions).chain(barriers).sum()
}

fn recorded_share(run: &Run, evidence: &Evidence) -> Option<f64> {
    let outside = run.outside.as_ref()?;
    let recorded: Nanoseconds<f64> =
        run.processes.iter().map(|process| process.threads.cpu_time).sum();
    let all = match outside.running_unrecorded {
        // Looks are compared only with looks, because threads that are ready may be waiting for a
        // core that other programs have.
        Some(unrecorded) if unrecorded < outside.running && recorded > Nanoseconds(0.0) => {
            recorded * outside.running as f64 / (outside.running - unrecorded) as f64
        }
        _ => run.wall_time * evidence.busy_cores,
    };
    let own = subject(run)?.threads.cpu_time;
    // The share of next to no processor time says nothing.
    (evidence.busy_cores > 0.05).then(|| (own / all).min(1.0))
}

/// Processor time for each acquisition, against that of the confined run.
fn strain(profile: &Profile, run: &Run) -> Option<f64> {
    let confined = profile.runs.iter().skip(1).find(|confined| confined.cores < run.cores)?;
    let (here, there) = (subject(run)?, subject(confined)?);
    let uses =
        |process: &Process| -> f64 { process.locks.iter().map(Lock::uses).sum::<u64>() as f64 };
    if uses(here).min(uses(there)) < FEW_ACQUISITIONS as f64 {
        return None;
    }
    let each = |process: &Process| process.threads.cpu_time / uses(process);
    let strain = each(here) / each(there);
    (here.executable == there.executable && strain.is_finite()).then_some(strain)
}

fn unseen(images: &[Unrecorded]) -> Vec<UnrecordedPrograms> {
    let mut by_why: BTreeMap<WhyUnrecorded, UnrecordedPrograms> = BTreeMap::new();
    for image in images {
        let unseen = by_why.entry(image.why).or_insert_with(|| UnrecordedPrograms {
            why: image.why,
            images: 0,
            executables: Vec::new(),
        });
        unseen.images += 1;
        if !unseen.executables.contains(&image.executable) {
            unseen.executables.push(image.executable.clone());
        }
    }
    by_why.into_values().collect()
}

impl UnrecordedPrograms {
    /// Returns a sentence that names these programs and says why they left no recording.
    fn sentence(&self) -> String {
        let names: Vec<&str> = self
            .executables
            .iter()
            .map(|path| path.rsplit('/').next().unwrap_or(path))
            .map(|name| if name.is_empty() { "a program without a name" } else { name })
            .collect();
        let named = match names.as_slice() {
            [] => "a program".to_owned(),
            [one] => (*one).to_owned(),
            [one, other] => format!("{one} and {other}"),
            [first, .., last] => format!("{} programs ({first} to {last})", names.len()),
        };
        if self.why == WhyUnrecorded::StillRunning {
            return format!("{named} ran on when the program had ended, and was seen until then");
        }
        let why = match self.why {
            WhyUnrecorded::Static => "linked statically",
            WhyUnrecorded::OtherRights => "run with other rights than its starter's",
            WhyUnrecorded::OtherArchitecture => "of another architecture than the recorder",
            WhyUnrecorded::OtherLibrary => "of another C library than glibc",
            WhyUnrecorded::ThreadSanitizer => "compiled with ThreadSanitizer",
            WhyUnrecorded::OtherRoot => "in a file system where the recorder is not",
            WhyUnrecorded::NoRoom => "without room to write the recording: disk, memory or limit",
            WhyUnrecorded::StillRunning => "still running when the program had ended",
            WhyUnrecorded::NotAsked => "started with an environment without the recorder",
            WhyUnrecorded::Unknown => "without a recording, for an unknown reason",
        };
        format!("no lock of {named} could be seen ({why})")
    }
}

#[cfg(test)]
mod tests;
