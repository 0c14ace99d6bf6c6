//! How much a run shows of how a program uses cores and locks.
//!
//! A forecast can be made from anything: from one acquisition, from a single thread, from a server
//! that nobody called. Such a forecast says nothing. So there are thresholds, and below them there
//! is no verdict.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{CpuLimit, Run};
use serde::Serialize;

use crate::surroundings::allowance;
use crate::words::{counted, percent};

/// Fewer acquisitions than this say little, unless threads waited often and long.
pub const FEW_ACQUISITIONS: u64 = 1_000;
/// Threads waited often if at least this many acquisitions had to wait.
const MANY_WAITS: u64 = 100;
/// Threads waited long if on average at least this many threads were waiting.
const WAITED_LONG: f64 = 0.1;
/// Cores count as idle if the share of them that is busy or waited for is less than this.
const IDLE: f64 = 0.1;
/// Up to this many threads running at a time, on average, a program counts as running one thread at
/// a time.
const ONE_AT_A_TIME: f64 = 1.1;

/// How much a run shows of how the program uses cores and locks.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Evidence {
    /// The largest number of threads alive at a time.
    pub threads: u64,
    /// Cores that were allowed.
    pub cores: u32,
    /// The limit on their use by a control group, if it binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<CpuLimit>,
    /// The process of `kilocore steer` that steered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steered_by: Option<u32>,
    /// How many of these cores other programs and other guests of the machine had, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_cores: Option<f64>,
    /// How many of these cores the program kept busy, on average. Where its processor time is not
    /// known, a thread that lacks a core counts as well.
    pub busy_cores: f64,
    /// How many of these cores its threads had or lacked, on average.
    pub wanted_cores: f64,
    /// How many threads waited for locks on average.
    pub waiting_threads: f64,
    /// Acquisitions of all locks.
    pub acquisitions: u64,
    /// How many of these acquisitions had to wait.
    pub contended: u64,
    /// Whether only one thread ran at a time, as far as was seen.
    pub one_at_a_time: bool,
}

/// The reason for which a run shows too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The cores had nothing to do.
    Work,
    /// Threads ran one at a time.
    Threads,
    /// Locks were hardly taken.
    Acquisitions,
}

impl Evidence {
    /// The evidence of a run.
    pub(crate) fn of(run: &Run) -> Self {
        let wall = run.wall_time.max(Nanoseconds(1.0));
        let recorded: Nanoseconds<f64> =
            run.processes.iter().map(|process| process.threads.cpu_time).sum();
        let recorded = recorded / wall;
        let outside = run.outside.as_ref().filter(|outside| outside.rounds > 0);
        // Looks do not tell a thread that lacks a core from one that runs.
        let windows = run.times.as_ref().filter(|times| times.is_enough());
        let windows = windows.map(|times| times.total().computing().share_of(times.observed));
        // A thread that is held up by a limit looks as if it ran.
        let limit = run.limit.clone().filter(|limit| limit.binds(run.cores));
        let cores = f64::from(run.cores);
        let most = limit.as_ref().map_or(cores, |limit| limit.cores).min(cores);
        // The threads of all processes that run or want to run.
        let running = outside.map(|outside| outside.running as f64 / outside.rounds as f64);
        let awake = outside.zip(running).map(|(outside, running)| {
            let awake = running.min(most);
            // A few looks may have missed them, and a limit may be exceeded for a while.
            let vague = !outside.is_enough() || running > most;
            windows.filter(|_| vague).map_or(awake, |windows| windows.max(awake))
        });
        // The processor time by the length of the run, as in the table of timed runs.
        let known = run.busy_cores();
        let ran = known.unwrap_or(0.0).max(recorded);
        let wanted_cores = awake.or(windows).unwrap_or(0.0).max(ran).min(cores);
        let busy_cores = known.or(windows.map(|cores| cores.max(recorded)));
        let busy_cores = busy_cores.map_or(wanted_cores, |cores| cores.min(wanted_cores));
        let peak = run.processes.iter().map(|process| process.threads.peak).max().unwrap_or(0);
        let all_seen = outside.is_none_or(|outside| outside.unrecorded.is_empty());
        let mut evidence = Self {
            threads: outside.map_or(0, |outside| outside.threads_peak).max(peak),
            cores: run.cores,
            limit,
            steered_by: run.steered_by,
            others_cores: run.interference.map(|others| others.cores(run.wall_time)),
            busy_cores,
            wanted_cores,
            one_at_a_time: all_seen
                && peak <= 1
                && running.unwrap_or(0.0).max(windows.unwrap_or(0.0)).max(ran) <= ONE_AT_A_TIME,
            ..Self::default()
        };
        let mut waits = Nanoseconds(0.0);
        for lock in run.processes.iter().flat_map(|process| &process.locks) {
            evidence.acquisitions += lock.acquisitions;
            evidence.contended += lock.contended;
            waits += lock.wait.sum;
            if let Some(read) = &lock.read {
                evidence.acquisitions += read.acquisitions;
                evidence.contended += read.contended;
                waits += read.wait.sum;
            }
        }
        evidence.waiting_threads = waits / wall;
        evidence
    }

    /// The cores for which there were threads.
    pub(crate) fn able(&self) -> f64 {
        let allowed = self.limit.as_ref().map_or(f64::INFINITY, |limit| limit.cores);
        f64::from(self.cores).min(self.threads.max(1) as f64).min(allowed)
    }

    /// Whether locks were taken too seldom to say anything about them.
    pub(crate) fn few(&self) -> bool {
        let waited = self.contended >= MANY_WAITS && self.waiting_threads >= WAITED_LONG;
        self.acquisitions < FEW_ACQUISITIONS && !waited
    }

    /// Returns what there was too little of, if it was too little for any verdict.
    pub(crate) fn lack(&self) -> Option<Lack> {
        if self.threads == 0 {
            // If nobody saw anything, it is not known either that the program did nothing.
            None
        } else if self.wanted_cores + self.waiting_threads < IDLE * self.able() {
            Some(Lack::Work)
        } else if self.one_at_a_time {
            Some(Lack::Threads)
        } else if self.few() {
            Some(Lack::Acquisitions)
        } else {
            None
        }
    }

    /// Returns what was seen, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "Seen: {} acquired {}, {:.1} of {} busy.",
            counted(self.threads, "thread"),
            match self.acquisitions {
                0 => "no lock".to_owned(),
                1 => "locks once".to_owned(),
                times => format!("locks {} times", grouped(times)),
            },
            self.busy_cores,
            counted(self.cores.into(), "core"),
        ) + &self.limit.as_ref().map_or_else(String::new, |limit| {
            format!(" Its {}.", allowance(limit, self.busy_cores))
        }) + &self.steered_by.map_or_else(String::new, |by| {
            format!(
                " kilocore steer (process {by}) steered it meanwhile: these are the figures of a program that is \
                 confined to some of the cores from time to time. Measure again without that."
            )
        })
    }
}

impl Lack {
    /// Returns what was lacking, worded such that it can follow a colon.
    pub(crate) fn words(self, evidence: &Evidence) -> String {
        match self {
            Lack::Work => format!(
                "what was seen of the program kept its cores busy for {} of the time",
                percent((evidence.busy_cores / evidence.able()).min(1.0))
            ),
            Lack::Threads => "its threads ran one at a time, if there was more than one".to_owned(),
            Lack::Acquisitions => match evidence.acquisitions {
                0 => "it acquired no lock that can be seen".to_owned(),
                1 => "it acquired a lock once".to_owned(),
                times => format!("it acquired locks {times} times in all"),
            },
        }
    }

    /// Returns the advice on how to get a better profile.
    pub(crate) fn mend(self) -> &'static str {
        match self {
            Lack::Work => "Profile it under load: with as much work as it has where it is slow.",
            Lack::Threads => {
                "How it scales with threads shows only when it runs several: profile it with at \
                 least two. If it has no more than one, more cores change nothing."
            }
            Lack::Acquisitions => "Profile a longer run, under load.",
        }
    }
}

/// A whole number with commas between its thousands: `12,345,678`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use kilocore_lock_profile::{Outside, Run};

    use super::{Evidence, Lack, grouped};
    use crate::from_profile::synthetic::{mutex, run};

    fn busy(acquisitions: u64) -> Run {
        run(vec![mutex(1, "store", acquisitions)], 10_000)
    }

    #[test]
    fn a_busy_program_of_several_threads_and_many_acquisitions_lacks_nothing() {
        let evidence = Evidence::of(&busy(10_000));
        assert_eq!(evidence.lack(), None, "{evidence:?}");
        assert_eq!(
            (evidence.threads, evidence.acquisitions, evidence.contended),
            (2, 10_000, 1_000)
        );
        assert!((evidence.busy_cores - 2.0).abs() < 1e-9, "{evidence:?}");
    }

    #[test]
    fn one_acquisition_a_single_thread_and_an_idle_server_lack_something() {
        assert_eq!(Evidence::of(&busy(1)).lack(), Some(Lack::Acquisitions));
        let mut single = busy(10_000);
        single.processes[0].threads.peak = 1;
        single.wall_time *= 2.0;
        assert_eq!(Evidence::of(&single).lack(), Some(Lack::Threads));
        let mut idle = busy(10_000);
        idle.wall_time *= 1e3;
        assert_eq!(Evidence::of(&idle).lack(), Some(Lack::Work));
        idle.processes.clear();
        assert_eq!(Evidence::of(&idle).lack(), None, "nobody saw what it did");
    }

    #[test]
    fn it_is_said_that_a_program_was_steered_meanwhile() {
        let mut steered = busy(10_000);
        assert!(!Evidence::of(&steered).sentence().contains("steered"));
        steered.steered_by = Some(77);
        let said = Evidence::of(&steered).sentence();
        assert!(said.contains("kilocore steer (process 77) steered it meanwhile"), "{said}");
    }

    #[test]
    fn long_waits_for_few_acquisitions_are_evidence() {
        let mut coarse = busy(900);
        coarse.processes[0].locks[0].contended = 800;
        coarse.processes[0].locks[0].wait.sum = coarse.wall_time;
        assert_eq!(Evidence::of(&coarse).lack(), None);
    }

    #[test]
    fn processes_of_one_thread_each_count_if_they_run_side_by_side() {
        let mut many = busy(10_000);
        many.processes[0].threads.peak = 1;
        many.outside =
            Some(Outside { rounds: 100, threads_peak: 5, running: 190, ..Outside::default() });
        assert_eq!(Evidence::of(&many).lack(), None);
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [(7, "7"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), text);
        }
    }
}
