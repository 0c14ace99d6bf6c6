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
    /// It is one of the kernel's.
    #[error(
        "process {0} is a thread of the kernel and no program's: name the process of a program, see `ps -e` for those \
         there are"
    )]
    Kernels(u32),
    /// All processes would be steered.
    #[error(
        "process 1 has started all others, so that everything on this system, or in this container, would be steered: \
         name the process that you mean or, if you mean all of them, add --whole-system"
    )]
    WholeSystem,
    /// Somebody steers it already.
    #[error(
        "process {pid} is steered already, by the kilocore that is process {by}, and each would undo what the other \
         orders: end that one first, as with `kill {by}`, or wait for its end"
    )]
    Steered {
        /// The process that is to be steered.
        pid: u32,
        /// The process that steers it already.
        by: u32,
    },
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
    /// Threads cannot be confined by cgroups.
    #[error(transparent)]
    NoCpusets(#[from] NoCpusets),
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
         confined=N or fair, which need none, or see what {0} would do on a simulated machine: \
         kilocore-lab sched --experiment cache --scheduler fair,{0}"
    )]
    NoCounters(PolicyName, #[source] NoCounters),
    /// The policy decides by what only a driver inside a scheduler sees.
    #[error(
        "policy {0} has to see which tasks run side by side from switch to switch, which only a driver \
         inside the scheduler does. Choose lock-aware, or complement where there are hardware counters, or \
         see what {0} would do on a simulated machine: kilocore-lab sched --experiment cache \
         --scheduler fair,{0}"
    )]
    NeedsScheduler(PolicyName),
}

/// Why threads cannot be confined by cgroups.
#[derive(Debug, thiserror::Error)]
pub enum NoCpusets {
    /// There is no such hierarchy.
    #[error(
        "no cgroups with cpusets are mounted: /proc/self/mountinfo has no mount of version 1 with the option \
         cpuset, and none of version 2 whose cgroup.controllers has cpuset. Take --control affinity, or, as \
         root, mount -t cgroup -o cpuset cpuset FOLDER"
    )]
    NoHierarchy,
    /// A process is in a cgroup that is not seen.
    #[error(
        "process {0} is in no cgroup that is seen below {point}: take --control affinity, or run kilocore outside \
         of its container", point = .1.display()
    )]
    Hidden(u32, PathBuf),
    /// It is somebody else's, or mounted to be read only.
    #[error(
        "cannot confine threads by cgroups, as {path} cannot be written to: {1}. Take --control affinity, or run \
         as root where cgroups are not mounted read-only, or in a cgroup that is yours: systemd-run --user \
         --scope -p Delegate=yes kilocore steer …", path = .0.display()
    )]
    NotWritable(PathBuf, #[source] io::Error),
    /// Cgroups that want no threads beside those of their children are in use there.
    #[error(
        "cgroup {path} cannot have threaded children with cpusets: {1}. It has children with processes, or its \
         cgroup.subtree_control has controllers that are not for threads, such as memory. Take --control \
         affinity, or start the program in a cgroup of its own: systemd-run --scope -p Delegate=yes …",
        path = .0.display()
    )]
    NotThreaded(PathBuf, #[source] io::Error),
    /// The system refuses for another reason.
    #[error(
        "no cgroup with a cpuset can be made in {path}: {1}. Take --control affinity, or see that its parents \
         give the controller cpuset and have cores and memory in cpuset.cpus and cpuset.mems",
        path = .0.display()
    )]
    Refused(PathBuf, #[source] io::Error),
}
