//! From a profile to a workload.
//!
//! Locks that are created at the same place become one [`LockUse`] with several instances. The
//! number of instances is chosen so that equally used instances would collide as often as the
//! profiled locks did. Acquisitions inside others become sections inside sections. Durations keep
//! the shape of their histograms, and add up to the profile's processor time less what the
//! simulation adds anew (`busy.rs`). If cores were unused and no reason was seen, a part of the
//! workload is serial (`conduct.rs`). Barriers at which threads met become rounds (`phases.rs`).

mod busy;
mod conduct;
mod group;
mod migration;
mod observed;
mod phases;
#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;
mod translation;

use kilocore_lock_profile::{Lock, Process, Profile, Run};
use thiserror::Error;

use crate::forecast::ForecastLock;
use crate::workload::Workload;
pub use conduct::{Conduct, ProcessorTime};
pub use group::{place_of, taker_of};
use translation::Translation;

/// The words by which an assumption says that a part of the computing is taken to be serial.
const SERIAL: &str = "of the computing is taken to be serial";

/// Why no workload can be made from a profile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProfileGap {
    /// The program took no lock that was recorded.
    #[error("the profile holds no lock acquisition: nothing that a lock could change")]
    NoLocks,
    /// The profile has no run.
    #[error("the profile holds no run")]
    NoRun,
}

/// A workload, with what was learnt while it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiled {
    /// The workload as profiled.
    pub workload: Workload,
    /// The same workload if everything that the profile leaves open turns out well, and if it turns
    /// out badly.
    pub bounds: [Workload; 2],
    /// The locks, in the order of [`Workload::locks`].
    pub locks: Vec<ForecastLock>,
    /// Outermost sections of the run. This many sections of the workload compute for
    /// [`ProcessorTime::work_ns`], at the host's clock.
    pub sections: f64,
    /// Mean computing between sections in nanoseconds of the host, without the serial part.
    pub think_ns: f64,
    /// Mean sleep between sections in nanoseconds.
    pub asleep_ns: f64,
    /// Threads that took locks.
    pub threads: u64,
    /// How the program ran while it was profiled.
    pub conduct: Conduct,
    /// What had to be assumed.
    pub assumptions: Vec<String>,
}

impl Profiled {
    /// The same under a load that never lets threads sleep between sections. This is what a server
    /// does if requests are always waiting for it, although it was profiled when they were not.
    #[must_use]
    pub fn saturated(mut self) -> Self {
        let [well, badly] = &mut self.bounds;
        for workload in [&mut self.workload, well, badly] {
            workload.asleep = 0.0;
            // The cores were unused because there was no work.
            workload.think = workload.think.lasting(workload.think.mean() + workload.serial);
            workload.serial = 0.0;
        }
        self.conduct.time.serial_ns = 0.0;
        self.assumptions.retain(|assumption| !assumption.contains(SERIAL));
        if self.asleep_ns > 0.0 {
            self.assumptions.push(
                "Threads are taken never to sleep between locks, as if there were always work \
                 waiting for them."
                    .to_owned(),
            );
        }
        self.asleep_ns = 0.0;
        self
    }

    /// The same program with a mutex in the place of each read-write lock, so that its readers
    /// exclude each other and the lock under comparison takes the place of that mutex.
    #[must_use]
    pub fn with_mutexes_only(mut self) -> Self {
        let [well, badly] = &mut self.bounds;
        for workload in [&mut self.workload, well, badly] {
            workload.make_exclusive();
        }
        self.assumptions.push(
            "Every read-write lock is taken for a mutex, which its readers hold alone.".to_owned(),
        );
        self
    }
}

/// The process of a run that a forecast is about: the one that took locks most often, if any did.
pub(crate) fn subject(run: &Run) -> Option<usize> {
    let of = |lock: &Lock| lock.acquisitions + lock.read.as_ref().map_or(0, |r| r.acquisitions);
    let uses = |process: &Process| process.locks.iter().map(of).sum::<u64>();
    let used = run.processes.iter().map(uses).enumerate().filter(|(_, uses)| *uses > 0);
    used.max_by_key(|(_, uses)| *uses).map(|(index, _)| index)
}

/// Makes a workload from the program's first run.
///
/// A cycle of the host's clock counts as a cycle of the target's.
///
/// # Errors
/// [`ProfileGap`] if there is nothing to make a workload from.
pub fn from_profile(profile: &Profile) -> Result<Profiled, ProfileGap> {
    let run = profile.runs.first().ok_or(ProfileGap::NoRun)?;
    let process_index = subject(run).ok_or(ProfileGap::NoLocks)?;
    let process = &run.processes[process_index];
    let mut assumptions = Vec::new();
    if run.processes.len() > 1 {
        assumptions.push(format!(
            "{} process images took locks; the forecast is for {} (process {}), which took most.",
            run.processes.len(),
            process.executable,
            process.pid
        ));
    }
    Ok(Translation::new(profile, run, process_index).workload(assumptions))
}
