//! What the threads' times say, in plain words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A sentence about where the threads' time went, with its figures. Shares are from 0 to 1. Names
/// are those of the roles and words, so that each finding can be read alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// One thread computes nearly all the time, and the others wait or sleep, or there are no others.
    OneBusyThread {
        /// Its role, by `id`.
        role: u32,
        /// The name of the thread's role.
        name: String,
        /// The share of its time in which it computes.
        busy: f64,
        /// How many other threads there are.
        others: u64,
        /// How many cores all the others keep busy together.
        others_cores: f64,
        /// The share of the others' time in which they wait for threads, for input, or for a time of
        /// their own choice.
        others_wait: f64,
    },
    /// Threads compute in turn, because all of them need the same lock to compute at all.
    GlobalLock {
        /// The lock, by `id`.
        word: u32,
        /// The name of the lock for people.
        name: String,
        /// Whether it is known to be an interpreter's global lock. Otherwise the times say so.
        interpreter: bool,
        /// How many threads take turns at it.
        threads: u64,
        /// The share of these threads' time spent waiting for it.
        wait: f64,
        /// How many cores the process keeps busy.
        cores: f64,
    },
    /// The stage of a pipeline that never waits, while another waits for it.
    SlowestStage {
        /// The stage, by `id` of its role.
        role: u32,
        /// The name of the stage's role.
        name: String,
        /// The share of its time in which it computes.
        busy: f64,
        /// The role that waits longest for it, by `id`.
        waiting_role: u32,
        /// The name of the role that waits.
        waiting_name: String,
        /// The share of the time in which it waits for the stage, of that in which it does not lack a
        /// core.
        waiting: f64,
    },
    /// Many wait for one lock.
    ContendedLock {
        /// The lock, by `id`.
        word: u32,
        /// The name of the lock for people.
        name: String,
        /// How many threads wait for it.
        threads: u64,
        /// The share of all threads' time spent waiting for it.
        wait: f64,
    },
    /// Threads spin for one another.
    Spinning {
        /// The share of all threads' time on a core in which they do nothing but wait for another
        /// thread to write to memory.
        spin: f64,
        /// The function in which they do so most, if it was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        longest: Option<String>,
    },
    /// Many wait for the kernel's own locks.
    KernelLocks {
        /// The share of all threads' time spent waiting for them.
        wait: f64,
        /// The lock with the longest waits, in a few words, if it was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        longest: Option<String>,
    },
    /// Threads that could run have no core.
    NotEnoughCores {
        /// Of the time in which threads run or could run, the share in which they have no core.
        without_core: f64,
        /// How many cores the threads keep busy.
        cores: f64,
    },
    /// The windows show other numbers of busy cores than the whole run had.
    WindowsDiffer {
        /// How many cores the threads kept busy in the windows.
        windows: f64,
        /// And over the whole run.
        run: f64,
    },
    /// The windows show no waits for locks, but the recorder counted some.
    WaitsDiffer {
        /// The share of all threads' time spent waiting for locks in the windows.
        windows: f64,
        /// And over the whole run.
        run: f64,
    },
    /// Threads do not wait for locks, and enough is known to say so.
    NoContention {
        /// The share of all threads' time spent waiting for locks, the kernel's own among them.
        wait: f64,
        /// The share of all threads' time of which it is known where it went.
        known: f64,
    },
}

/// A share in whole per cents, or as little as can be said of a small one.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        match percent {
            0.0 => write!(f, "0 %"),
            p if p < 0.1 => write!(f, "less than 0.1 %"),
            p if p < 9.95 => write!(f, "{p:.1} %"),
            p => write!(f, "{p:.0} %"),
        }
    }
}

/// `1 thread`, `2 threads`.
struct CountOf(u64, &'static str);

impl fmt::Display for CountOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// The finding in one or two English sentences.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneBusyThread { name, busy, others: 0, .. } => write!(
                f,
                "One busy thread: {name} computes {} of the time, and no other thread was seen then.",
                Percent(*busy)
            ),
            Self::OneBusyThread { name, busy, others, others_cores, others_wait, .. } => write!(
                f,
                "One busy thread: {name} computes {} of the time. Besides it there {} {}, which \
                 together keep {others_cores:.2} cores busy and wait or sleep {} of the time.",
                Percent(*busy),
                if *others == 1 { "is" } else { "are" },
                CountOf(*others, "other thread"),
                Percent(*others_wait)
            ),
            Self::GlobalLock { name, interpreter, threads, wait, cores, .. } => {
                let what = if *interpreter {
                    "A global interpreter lock"
                } else {
                    "One lock for everything, like a global interpreter lock"
                };
                write!(
                    f,
                    "{what}: {name} has {} that take turns at it. They wait for it {} of \
                     their time, and the whole process keeps {cores:.2} cores busy.",
                    CountOf(*threads, "thread"),
                    Percent(*wait)
                )
            }
            Self::SlowestStage { name, busy, waiting_name, waiting, .. } => write!(
                f,
                "The slowest stage of a pipeline: {name} computes {} of its time and hardly ever \
                 waits, while {waiting_name} waits for it {} of the time in which it does not lack \
                 a core.",
                Percent(*busy),
                Percent(*waiting)
            ),
            Self::ContendedLock { name, threads, wait, .. } => write!(
                f,
                "A contended lock: {} {} for {name}, which takes {} of all threads' time.",
                CountOf(*threads, "thread"),
                if *threads == 1 { "waits" } else { "wait" },
                Percent(*wait)
            ),
            Self::Spinning { spin, longest } => {
                write!(
                    f,
                    "Spinning: for {} of their time on a core, threads are in loops that only \
                     wait until another thread writes to memory",
                    Percent(*spin)
                )?;
                longest.iter().try_for_each(|place| write!(f, ", most in {place}"))?;
                f.write_str(".")
            }
            Self::KernelLocks { wait, longest } => {
                write!(
                    f,
                    "Locks in the kernel: threads wait {} of their time for the kernel's own locks",
                    Percent(*wait)
                )?;
                longest.iter().try_for_each(|lock| write!(f, ", longest for {lock}"))?;
                f.write_str(".")
            }
            Self::NotEnoughCores { without_core, cores } => write!(
                f,
                "Not enough cores: of the time in which threads run or could run, they have no core \
                 for {}. They keep {cores:.2} cores busy.",
                Percent(*without_core)
            ),
            Self::WindowsDiffer { windows, run } => write!(
                f,
                "The windows do not show what the whole run was like: threads kept {windows:.1} cores \
                 busy in them, and {run:.1} over the whole run. So it is not said here how many are \
                 busy."
            ),
            Self::WaitsDiffer { windows, run } => write!(
                f,
                "The windows do not show what the whole run was like: threads waited for locks {} of \
                 their time in them, and {} over the whole run.",
                Percent(*windows),
                Percent(*run)
            ),
            Self::NoContention { wait, known } => write!(
                f,
                "No contention: threads wait for locks {} of their time. Where the time went is \
                 known for {} of it.",
                Percent(*wait),
                Percent(*known)
            ),
        }
    }
}
