//! The document itself.

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};

use crate::scaling::none_lost;
use crate::{
    CpuLimit, Frame, Histogram, HostThread, Interference, Outside, Precision, Scaling, ThreadTimes,
    Trace, Traced, Watching,
};

/// A lock profile. Durations are wall-clock nanoseconds of the host, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What kind of document this is: always [`FORMAT`](crate::FORMAT).
    pub format: String,
    /// The version of the format: 1.
    pub version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The machine it ran on.
    pub host: Host,
    /// The runs of the program. In the first run it had all the cores that are allowed, and this is
    /// the run that counts. In the second one, if there was one, it was confined to a single core.
    /// That only shows how much longer sections last when their data moves between cores.
    pub runs: Vec<Run>,
    /// A further run of the program under QEMU, in which its locks were traced. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// How much more the program does on more cores, as measured without a recorder. Absent in profiles
    /// that nobody asked it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
}

/// The machine a profile was taken on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The processor's name for itself.
    pub processor: String,
    /// Hardware threads the program could use.
    pub cores: u32,
    /// Frequency of the time-stamp counter in GHz.
    pub clock_ghz: f64,
    /// One-way core-to-core latency, measured between the cores that the program
    /// used when it was profiled. Absent if it used only one core.
    #[serde(rename = "core_to_core_ns", default, skip_serializing_if = "Option::is_none")]
    pub core_to_core: Option<Nanoseconds<f64>>,
    /// The release of its Linux kernel, as `uname -r` gives it.
    pub kernel: String,
    /// The cores that were turned off, such as `4-7`. Absent if none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<String>,
    /// The hardware threads that the program could use, in the order in which timed runs are given more of
    /// them. Empty if nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hardware_threads: Vec<HostThread>,
}

/// One execution of the program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Run {
    /// How many cores it was allowed.
    pub cores: u32,
    /// The time from its start to its end.
    #[serde(rename = "wall_ns")]
    pub wall_time: Nanoseconds<f64>,
    /// The limit that a control group set on its use of the cores, such as a container's. Absent if
    /// there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<CpuLimit>,
    /// How many of its cores were turned off or taken from it before its end. Absent if none were.
    #[serde(default, skip_serializing_if = "none_lost")]
    pub cores_lost: u32,
    /// The process of `kilocore steer` that steered it meanwhile. Absent if none was seen to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steered_by: Option<u32>,
    /// How it ended, as a shell reports it: its exit status, or 128 plus the signal.
    pub exit_status: i32,
    /// The processor time of the program and its descendants, if the whole run counts.
    #[serde(rename = "cpu_ns", default, skip_serializing_if = "Option::is_none")]
    pub cpu_time: Option<Nanoseconds<f64>>,
    /// What others took of the cores meanwhile. Absent if the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<Interference>,
    /// Each process image that took a lock. A fork adds one, and so does an exec.
    pub processes: Vec<Process>,
    /// What was seen of the program from outside, including what no recording tells. Absent if it
    /// was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Where the threads' time went. Absent if the recorder does not see that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<ThreadTimes>,
    /// How it was watched, if that is where the figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watching: Option<Watching>,
}

/// What one process did with its locks, from the start of one program image to its end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Process {
    /// The process id. If the process executed several programs, their entries have the same one.
    pub pid: u32,
    /// Path of the executable.
    pub executable: String,
    /// What its threads did.
    pub threads: Threads,
    /// Its locks, the one with the most acquisitions first.
    pub locks: Vec<Lock>,
    /// Its condition variables, the one with the most waits first.
    pub conditions: Vec<Condition>,
    /// Its barriers, the one with the most waits first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barriers: Vec<Barrier>,
    /// How many locks were not recorded because the recorder had no room for them.
    pub locks_not_recorded: u64,
}

/// What the threads of a process did, summed over all of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Threads {
    /// How many there were over the whole run.
    pub started: u64,
    /// How many of them took a lock at all.
    pub locking: u64,
    /// The largest number alive at the same time.
    pub peak: u64,
    /// Processor time of all threads.
    #[serde(rename = "cpu_ns")]
    pub cpu_time: Nanoseconds<f64>,
    /// Times on the processor while a thread held no lock: from the release of its last lock to its
    /// request for the next. They are sampled, as [`Lock::hold`] is. Intervals below about 30 µs
    /// count as spent on the processor altogether.
    pub think: Histogram,
    /// Time in the same intervals in which the thread did not run because it had given up its core
    /// by its own will: it slept, and then was perhaps ready but not running. Waiting for locks and
    /// conditions is not in it.
    #[serde(rename = "think_asleep_ns")]
    pub think_asleep: Nanoseconds<f64>,
}

/// What kind of lock the program asked for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// A `pthread_mutex_t`, or another lock that one thread holds at a time and whose waiters
    /// sleep.
    #[default]
    Mutex,
    /// A `pthread_rwlock_t`, or another lock that readers share.
    ReadWrite,
    /// A `pthread_spinlock_t`, or another lock whose waiters spin.
    Spin,
}

/// One lock, from its initialization or first use to its destruction. If `instances` is above 1, it
/// stands for several locks that the same code created at the same place, one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Lock {
    /// Its number in this process. Locks are numbered in the order of their creation. Locks that
    /// were never taken leave gaps.
    pub id: u32,
    /// Whether it is a mutex, a read-write lock or a spin lock.
    pub family: Family,
    /// Attributes that differ from the default: `recursive`, `errorcheck`, `robust`, `pshared`,
    /// `prio-inherit`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// Its address. It is 0 if the lock was destroyed or stands for many.
    pub address: u64,
    /// How many locks this entry stands for. They lived one after the other. Beyond some thousand
    /// locks of one site, they may also have lived at the same time.
    pub instances: u64,
    /// The callers that created it, the innermost first. If it was initialized statically, they are
    /// those that first took it.
    pub site: Vec<Frame>,
    /// Exclusive acquisitions. Exact. It does not count if the holder of a recursive lock takes it
    /// again. It does count if a thread takes a mutex back after it waited for a condition.
    pub acquisitions: u64,
    /// Exclusive acquisitions that had to wait. Exact, except that the C library hides whether a
    /// thread had to wait when it took a mutex back after waiting for a condition.
    pub contended: u64,
    /// Tries (and timed waits) that did not get the lock.
    pub failed_tries: u64,
    /// Exclusive holds, from acquisition to release. The time in which other locks were taken or
    /// held inside is left out, and so is the time off the processor. Taking and releasing the lock
    /// itself is not in it either.
    ///
    /// If a thread takes locks in quick succession, only a sample of its holds is timed. Each of
    /// these also counts for holds that were not timed, so that `count` is an estimate of
    /// [`acquisitions`](Self::acquisitions).
    pub hold: Histogram,
    /// Time in exclusive holds in which the holder did not run because it had given up its core by
    /// its own will: it slept, and then was perhaps ready but not running. This time is not in
    /// [`hold`](Self::hold). Nor is time in which another thread had taken the holder's core.
    #[serde(rename = "hold_asleep_ns", default, skip_serializing_if = "is_zero")]
    pub hold_asleep: Nanoseconds<f64>,
    /// Waits of the contended exclusive acquisitions.
    pub wait: Histogram,
    /// How many other waiters the contended acquisitions met. Index 0 counts those that met none,
    /// but only the holder.
    pub waiters_met: Vec<u64>,
    /// Who held it before.
    pub handoffs: Handoffs,
    /// The thread that took it more often than all others together. Absent if no thread did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mostly_by: Option<MostlyBy>,
    /// Locks that were held when this one was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested_in: Vec<Nesting>,
    /// Shared acquisitions, for a read-write lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadSide>,
    /// What it is to its program, such as `Go sync.Mutex`, if that is known of one that is no
    /// pthread lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Where its word lies: a symbol, a file and an offset, the heap. Absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How well its figures are known, if it was watched in windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Where it is released, as of a sample of writes to its word. The most frequent come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<Caller>,
    /// Where it is taken, in any mode. The callers with the longest waits come first. Sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// What was counted of it under QEMU. Absent if it was not traced, or if no word of the trace is known
    /// to be this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<Traced>,
}

impl Lock {
    /// Acquisitions in any mode.
    #[must_use]
    pub fn uses(&self) -> u64 {
        self.acquisitions.saturating_add(self.read.as_ref().map_or(0, |read| read.acquisitions))
    }

    /// Acquisitions in any mode that had to wait.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.contended.saturating_add(self.read.as_ref().map_or(0, |read| read.contended))
    }

    /// Time of holds in any mode in which the holder ran.
    #[must_use]
    pub fn held(&self) -> Nanoseconds<f64> {
        self.hold.sum + self.read.as_ref().map_or(Nanoseconds(0.0), |read| read.hold.sum)
    }

    /// Time waited for it in any mode.
    #[must_use]
    pub fn waited(&self) -> Nanoseconds<f64> {
        self.wait.sum + self.read.as_ref().map_or(Nanoseconds(0.0), |read| read.wait.sum)
    }
}

/// A place at which a lock is taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Caller {
    /// The callers that take it, the innermost first.
    pub site: Vec<Frame>,
    /// Acquisitions there. An estimate.
    pub acquisitions: u64,
    /// How many of them had to wait. An estimate.
    pub contended: u64,
    /// Time that they waited. An estimate.
    #[serde(rename = "wait_ns")]
    pub waited: Nanoseconds<f64>,
}

fn is_zero(time: &Nanoseconds<f64>) -> bool {
    time.0 == 0.0
}

/// Shared acquisitions of a read-write lock.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReadSide {
    /// How often the lock was acquired in this mode.
    pub acquisitions: u64,
    /// Shared acquisitions that had to wait.
    pub contended: u64,
    /// Tries and timed waits that did not get it.
    pub failed_tries: u64,
    /// Shared holds, without the time spent on locks taken inside.
    pub hold: Histogram,
    /// As [`Lock::hold_asleep`], in shared holds.
    #[serde(rename = "hold_asleep_ns", default, skip_serializing_if = "is_zero")]
    pub hold_asleep: Nanoseconds<f64>,
    /// Waits of the contended shared acquisitions.
    pub wait: Histogram,
}

/// From where the lock came to each new holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Handoffs {
    /// Acquisitions on the core of the previous holder. The very first acquisition counts here.
    pub same_core: u64,
    /// Acquisitions on another core.
    pub other_core: u64,
}

/// A thread that took a lock more often than all others together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MostlyBy {
    /// The thread's number, which no other thread has at the same time.
    pub thread: u32,
    /// At least this share of all acquisitions was its own.
    pub share: f64,
}

/// How often a lock was taken while another was the innermost lock held. This is an estimate if
/// holds are sampled. A few outer locks are kept apart. Those of many stand for the rest too: the counts of one inner
/// lock add up to all the times that it was taken inside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nesting {
    /// The other lock's number.
    pub outer: u32,
    /// How often this lock was taken while that one was held.
    pub count: u64,
}

/// A condition variable, and how threads waited on it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Condition {
    /// The address of its `pthread_cond_t` in the process.
    pub address: u64,
    /// The lock with which it was last waited on.
    pub lock: Option<u32>,
    /// The callers that first waited on it or signalled it.
    pub site: Vec<Frame>,
    /// Waits on it. The time to get the lock back is in them, because the C library does not tell
    /// it apart.
    pub wait: Histogram,
    /// Waits that ended by their time limit.
    pub timed_out: u64,
    /// Calls of `pthread_cond_signal`, each of which wakes one thread at most.
    pub signals: u64,
    /// Calls of `pthread_cond_broadcast`, each of which wakes all threads that wait.
    pub broadcasts: u64,
}

/// A barrier of the C library, and how threads waited at it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Barrier {
    /// The address of its `pthread_barrier_t` in the process.
    pub address: u64,
    /// The callers that initialized it or, if that was not seen, first waited at it.
    pub site: Vec<Frame>,
    /// How many threads it waits for.
    pub parties: u32,
    /// How many times it let its threads go on.
    pub rounds: u64,
    /// Waits at it. The last thread to arrive counts as well.
    pub wait: Histogram,
}
