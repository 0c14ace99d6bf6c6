//! Why programs are not steered.

use std::io;
use std::path::PathBuf;

use kilocore_sched_policy::PolicyName;

use crate::counters::NoCounters;

/// What stops the daemon.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// A process is not there.
    #[error("there is no process {0}: see `ps -e` for those there are")]
    NoProcess(u32),
    /// A process is somebody else's.
    #[error(
        "process {0} belongs to another user, whose threads you may not confine: run kilocore as that \
         user, or with the capability CAP_SYS_NICE"
    )]
    NotOurs(u32),
    /// What is to be put back cannot be written down.
    #[error("cannot write down what is to be put back, so nothing is ordered: {0}")]
    Journal(#[source] io::Error),
    /// There is nobody to put things back after a kill.
    #[error(
        "cannot start the process that puts things back after a kill, so nothing is ordered: {0}"
    )]
    Guardian(#[source] io::Error),
    /// A metric was asked for that this host does not offer.
    #[error("{0}")]
    Metrics(String),
    /// There is no folder for what the measuring library records.
    #[error(
        "cannot make the folder {0:?} for what the measuring library records: {1}; let TMPDIR name a folder \
         with room, or take --metrics auto"
    )]
    Recordings(PathBuf, #[source] io::Error),
    /// The policy decides by what hardware counters count, and there are none.
    #[error(
        "policy {0} decides by hardware counters, and {1}. Or choose lock-aware, malthusian, pinned, \
         confined=N or fair, which need none, or see what {0} would do on a simulated machine: kilocore \
         simulate sched --experiment cache --policy fair,{0}"
    )]
    NoCounters(PolicyName, #[source] NoCounters),
    /// The policy decides by what only a driver inside a scheduler sees.
    #[error(
        "policy {0} has to see which tasks run side by side from switch to switch, which only a driver \
         inside the scheduler does. Choose lock-aware, or complement where there are hardware counters, or \
         see what {0} would do on a simulated machine: kilocore simulate sched --experiment cache \
         --policy fair,{0}"
    )]
    NeedsScheduler(PolicyName),
}
