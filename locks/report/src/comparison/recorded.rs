//! The recorded run of a profile, in sums, and what its figures are of each.

use kilocore_lock_profile::{Histogram, Lock, Process, Profile, RUN, Run};
use serde::Serialize;

/// What figures of a recorded run are of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Per {
    /// A whole run, which does the same work each time.
    Run,
    /// A second of processor time: the work of the runs is not known.
    CpuSecond,
}

impl Per {
    /// What suits two profiles.
    pub(super) fn of(before: &Profile, after: &Profile) -> Self {
        let is_run = |profile: &Profile| {
            let whole = profile.runs.first().is_some_and(|run| run.cpu_time.is_some());
            let unit = profile.scaling.as_ref().map_or(RUN, |scaling| &scaling.unit);
            whole && (unit == RUN || unit.is_empty())
        };
        if is_run(before) && is_run(after) { Self::Run } else { Self::CpuSecond }
    }

    /// How many of these a run is.
    pub(super) fn in_run(self, run: &Run) -> f64 {
        match self {
            Self::Run => 1.0,
            Self::CpuSecond => {
                let threads: f64 =
                    run.processes.iter().map(|process| process.threads.cpu_time.0).sum();
                run.cpu_time.map_or(threads, |time| time.0).max(1.0) / 1e9
            }
        }
    }
}

/// A recorded run, in sums over its locks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Recorded {
    pub(super) cores: u32,
    pub(super) wall_ns: f64,
    pub(super) cpu_ns: Option<f64>,
    #[serde(flatten)]
    pub(super) locks: LockUse,
}

impl Recorded {
    /// The run that counts.
    pub(super) fn of(profile: &Profile) -> Option<Self> {
        let run = profile.runs.first()?;
        let mut locks = LockUse::default();
        run.processes.iter().flat_map(|process: &Process| &process.locks).for_each(|lock| {
            locks.add(lock);
        });
        let cpu_ns = run.cpu_time.map(|time| time.0);
        Some(Self { cores: run.cores, wall_ns: run.wall_time.0, cpu_ns, locks })
    }
}

/// How locks were used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(super) struct LockUse {
    /// Acquisitions in any mode.
    pub(super) acquisitions: f64,
    /// Those of them that had to wait.
    pub(super) contended: f64,
    /// Time in which they were held.
    pub(super) hold_ns: f64,
    /// Time in which threads waited for them.
    pub(super) wait_ns: f64,
}

impl LockUse {
    /// Adds a lock.
    pub(super) fn add(&mut self, lock: &Lock) {
        self.acquisitions += lock.uses() as f64;
        self.contended += lock.waits() as f64;
        let mut times = |hold: &Histogram, wait: &Histogram| {
            self.hold_ns += hold.sum.0;
            self.wait_ns += wait.sum.0;
        };
        times(&lock.hold, &lock.wait);
        if let Some(read) = &lock.read {
            times(&read.hold, &read.wait);
        }
        self.hold_ns += lock.hold_asleep.0;
    }

    /// The same of a part.
    pub(super) fn divided_by(self, parts: f64) -> Self {
        Self {
            acquisitions: self.acquisitions / parts,
            contended: self.contended / parts,
            hold_ns: self.hold_ns / parts,
            wait_ns: self.wait_ns / parts,
        }
    }

    /// The share of the acquisitions that had to wait.
    pub(super) fn waited(self) -> f64 {
        if self.acquisitions > 0.0 { self.contended / self.acquisitions } else { 0.0 }
    }

    /// Time of threads that it took.
    pub(super) fn time_ns(self) -> f64 {
        self.hold_ns + self.wait_ns
    }
}
