//! From a profile to a workload.
//!
//! Locks that are created at the same place become one [`LockUse`] with several instances. The
//! number of instances is chosen so that equally used instances would collide as often as the
//! profiled locks did, and those that are used much more than others are a class of their own (`unequal.rs`).
//! Locks that threads only try are polled (`polling.rs`).
//! Acquisitions inside others become sections inside sections. Durations keep
//! the shape of their histograms, and add up to the profile's processor time less what the
//! simulation adds anew (`busy.rs`). If cores were unused and no reason was seen, a part of the
//! workload is serial (`conduct.rs`). Barriers at which threads met become rounds (`phases.rs`).

mod alone;
pub(crate) mod around_locks;
mod assumed;
mod busy;
mod conduct;
mod described;
mod group;
mod migration;
mod nesting;
mod observed;
mod phases;
mod polling;
mod profiled;
#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;
mod translation;
mod unequal;

use kilocore_lock_profile::{Lock, Process, Profile, Run};
use thiserror::Error;

pub use conduct::{Conduct, ProcessorTime};
pub(crate) use group::{UNKNOWN_PLACE, wanted_at};
pub use group::{place_of, taker_of};
pub use profiled::Profiled;
use translation::Translation;

use crate::uncounted::{is_uncounted, without_uncounted};

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

/// The process of a run that a forecast is about: the one that took locks most often, if any did.
pub(crate) fn subject(run: &Run) -> Option<usize> {
    let uses = |process: &Process| -> u64 {
        process.locks.iter().filter(|lock| !is_uncounted(lock)).map(Lock::uses).sum()
    };
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
    let profile = &*without_uncounted(profile);
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
