//! The document itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Histogram, Outside};

/// A lock profile. All durations are wall-clock nanoseconds of the host unless they say
/// otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Always `kilocore-profile`.
    pub format: String,
    /// The version of the format: 1.
    pub version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The machine it ran on.
    pub host: Host,
    /// The same program once on all the cores allowed and, unless that was declined or there is
    /// only one, once confined to a single core. The first run is the one that counts; the
    /// second only shows how much longer sections last when their data moves between cores.
    pub runs: Vec<Run>,
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
    /// One-way core-to-core latency in nanoseconds, measured at profiling time between the
    /// cores that the program used; absent with only one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_to_core_ns: Option<f64>,
    /// Kernel release.
    pub kernel: String,
}

/// One execution of the program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Run {
    /// How many cores it was allowed.
    pub cores: u32,
    /// From its start to its end.
    pub wall_ns: f64,
    /// How it ended, as a shell reports it: its exit status, or 128 plus the signal.
    pub exit_status: i32,
    /// Each process image that took a lock: forks and execs add one each.
    pub processes: Vec<Process>,
    /// What was seen of the program from outside, also of what no recording tells; absent if
    /// nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
}

/// One process image.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
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
    /// Locks beyond what the recorder has room for, which it passed on unrecorded.
    pub locks_not_recorded: u64,
}

/// What the threads of a process did, all together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Threads {
    /// How many there were over the whole run.
    pub started: u64,
    /// How many of them took a lock at all.
    pub locking: u64,
    /// The largest number alive at the same time.
    pub peak: u64,
    /// Processor time of all threads.
    pub cpu_ns: f64,
    /// Times on the processor between a thread's release of its last lock and its asking for the
    /// next, with no lock held. Sampled, as [`Lock::hold`] is. Intervals below some 30 µs
    /// are taken to be spent on the processor altogether.
    pub think: Histogram,
    /// Time in those same intervals that the thread did not run, where it had given up its core
    /// by its own will: asleep, and then perhaps ready but not running. Times waiting for locks and conditions are not in it.
    pub think_asleep_ns: f64,
}

/// What kind of lock the program asked for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// `pthread_mutex_t`
    #[default]
    Mutex,
    /// `pthread_rwlock_t`
    ReadWrite,
    /// `pthread_spinlock_t`
    Spin,
}

/// One lock, from its first use (or initialization) to its destruction. Locks that are created
/// one after the other at the same place by the same code are counted as one when `instances`
/// is above 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Lock {
    /// Its number in this process. Numbers are given in the order of creation; locks that were
    /// never taken leave gaps.
    pub id: u32,
    /// What it is.
    pub family: Family,
    /// Attributes that differ from the default: `recursive`, `errorcheck`, `robust`, `pshared`,
    /// `prio-inherit`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// Its address; 0 for one that is destroyed or stands for many.
    pub address: u64,
    /// How many locks this entry stands for: one after the other or, beyond some thousand of one
    /// site, at the same time.
    pub instances: u64,
    /// Who created it or, for one that was initialized statically, who first took it; the
    /// innermost caller first.
    pub site: Vec<Frame>,
    /// Exclusive acquisitions. Exact. A recursive lock that its holder takes again does not
    /// count; taking a mutex back after waiting for a condition does.
    pub acquisitions: u64,
    /// Exclusive acquisitions that had to wait. Exact, but for taking a mutex back after waiting
    /// for a condition, where the C library hides it.
    pub contended: u64,
    /// Tries (and timed waits) that did not get the lock.
    pub failed_tries: u64,
    /// Exclusive holds, from acquisition to release, less the times in them that were spent
    /// taking or holding other locks inside, or off the processor. Taking and releasing the lock
    /// itself is not in it.
    ///
    /// Threads that take locks in quick succession are sampled, and each hold that was timed
    /// counts for those that were not, so that `count` is an estimate of
    /// [`acquisitions`](Self::acquisitions).
    pub hold: Histogram,
    /// Time in exclusive holds during which the holder did not run because it had given up its
    /// core by its own will: asleep, and then perhaps ready but not running. It is not in
    /// [`hold`](Self::hold); nor is time in which others had taken the holder's core from it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hold_asleep_ns: f64,
    /// Waits of the contended exclusive acquisitions.
    pub wait: Histogram,
    /// How many other waiters a contended acquisition met: index 0 is none but the holder.
    pub waiters_met: Vec<u64>,
    /// Who held it before.
    pub handoffs: Handoffs,
    /// The thread that took it more often than all others together; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mostly_by: Option<MostlyBy>,
    /// Locks that were held when this one was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested_in: Vec<Nesting>,
    /// Shared acquisitions, for a read-write lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadSide>,
    /// Where it is taken, in any mode: the callers with the longest waits first. Sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
}

/// A place at which a lock is taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Caller {
    /// Who takes it, the innermost caller first.
    pub site: Vec<Frame>,
    /// Acquisitions there. An estimate.
    pub acquisitions: u64,
    /// How many of them had to wait. An estimate.
    pub contended: u64,
    /// Time that they waited. An estimate.
    pub wait_ns: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Shared acquisitions of a read-write lock.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReadSide {
    /// Shared acquisitions.
    pub acquisitions: u64,
    /// Shared acquisitions that had to wait.
    pub contended: u64,
    /// Tries and timed waits that did not get it.
    pub failed_tries: u64,
    /// Shared holds, less what was spent on locks taken inside.
    pub hold: Histogram,
    /// As [`Lock::hold_asleep_ns`], in shared holds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hold_asleep_ns: f64,
    /// Waits of the contended shared acquisitions.
    pub wait: Histogram,
}

/// From where the lock came to each new holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Handoffs {
    /// Acquisitions on the core of the previous holder, the very first one included.
    pub same_core: u64,
    /// Acquisitions on another core.
    pub other_core: u64,
}

/// A thread that took a lock more often than all others together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MostlyBy {
    /// Which: a number that no other thread has at the same time.
    pub thread: u32,
    /// At least this share of all acquisitions was its own.
    pub share: f64,
}

/// How often a lock was taken while another was held, that one being the innermost. An estimate
/// where holds are sampled. At most a few outer locks are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nesting {
    /// The other lock's number.
    pub outer: u32,
    /// How often.
    pub count: u64,
}

/// A condition variable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Condition {
    /// Its address.
    pub address: u64,
    /// The lock it was last waited on with.
    pub lock: Option<u32>,
    /// Who first waited on it or woke somebody.
    pub site: Vec<Frame>,
    /// Waits on it, with the time to get the lock back, which the C library does not tell apart.
    pub wait: Histogram,
    /// Waits that ended by their time limit.
    pub timed_out: u64,
    /// Calls of `pthread_cond_signal`.
    pub signals: u64,
    /// Calls of `pthread_cond_broadcast`.
    pub broadcasts: u64,
}

/// A `pthread_barrier_t`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Barrier {
    /// Its address.
    pub address: u64,
    /// Who initialized it or, if nobody was seen to, first waited at it.
    pub site: Vec<Frame>,
    /// How many threads it waits for.
    pub parties: u32,
    /// How many times it let its threads go on.
    pub rounds: u64,
    /// Waits at it, those of the last to arrive included.
    pub wait: Histogram,
}

/// A place in the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function, demangled; empty if nothing is known.
    pub function: String,
    /// The program or library it is in; empty if it is in none.
    pub module: String,
    /// The address of the call as that file numbers it, which is what `addr2line -e` takes; in
    /// memory, if there is no file. Functions that were inlined there have the same.
    pub offset: u64,
    /// Source file and line, where the debugging information has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// In a line: `function (file.c:12)`, or what is known of it.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.module.rsplit('/').next().unwrap_or(&self.module);
        match (self.function.as_str(), &self.line) {
            ("", _) => write!(f, "{file}+{:#x}", self.offset),
            (function, Some(line)) => write!(f, "{function} ({line})"),
            (function, None) => write!(f, "{function} in {file}"),
        }
    }
}
