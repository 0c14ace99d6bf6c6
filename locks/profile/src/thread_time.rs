//! Where the threads' time went, and who waited for whom.
//!
//! The program is watched in short windows. For each *role*, which is a group of threads that do the
//! same, the document has the time in each activity. Together these are the time that its threads
//! were watched. A graph has an edge from each role that waits to the role that it waits for. The
//! ranking puts the roles first for whose work the others wait, directly or through others.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};

use crate::kernel_locks::KernelLockWaits;
use crate::spin_places::SpinPlace;
use crate::thread_findings::Finding;

/// Where the time of a run's threads went. All durations are wall-clock nanoseconds of the windows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ThreadTimes {
    /// The sum of the lengths of the windows in which the threads were watched.
    #[serde(rename = "observed_ns")]
    pub observed: Nanoseconds,
    /// How many windows there were.
    pub windows: u64,
    /// The roles, in the order of their `id`, which is their place in this list.
    pub roles: Vec<RoleTimes>,
    /// The words that threads waited for, in the order of their `id`, which is their place in this
    /// list. The one with the longest waits comes first.
    pub words: Vec<WaitedWord>,
    /// The kernel's own locks that threads waited for, the one with the longest waits first. Empty if
    /// that could not be seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_locks: Vec<KernelLockWaits>,
    /// Where threads were found spinning for other threads, the place with the most samples first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spins: Vec<SpinPlace>,
    /// Who waits for whom. The edge with the longest waits in all comes first.
    pub edges: Vec<WaitEdge>,
    /// The roles that others wait for, the one with the longest waits first.
    pub ranking: Vec<Bottleneck>,
    /// How much of all this is known.
    pub coverage: TimesCoverage,
    /// What the figures say, the most important first.
    pub findings: Vec<Finding>,
}

/// Threads that were watched for less than this may have done anything the rest of the time.
const LEAST_OBSERVED: Nanoseconds = Nanoseconds(50_000_000);

impl ThreadTimes {
    /// Whether the threads were watched for long enough to say what they do.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.observed >= LEAST_OBSERVED
    }

    /// Returns the activities of all threads together.
    #[must_use]
    pub fn total(&self) -> Activities {
        self.roles.iter().map(|role| role.times).sum()
    }
}

/// A group of threads of a process that have the same name, up to numbers in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoleTimes {
    /// Its place in [`ThreadTimes::roles`].
    pub id: u32,
    /// The id of the process that its threads belong to.
    pub process: u32,
    /// The threads' name without numbers. Where threads of one name do different things, ` in ` and the
    /// function in which these are all the time. It is empty if the name is not known.
    pub name: String,
    /// Whether this is the main thread of its process, which is a role of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub main: bool,
    /// How many threads there were, at any time.
    pub threads: u64,
    /// For how long the thread that computed longest did.
    #[serde(rename = "busiest_ns")]
    pub busiest: Nanoseconds,
    /// What they did, summed over the threads.
    pub times: Activities,
    /// For which words they waited, the one with the longest waits first.
    pub waits: Vec<RoleWait>,
}

/// The role in a few words: `worker`, `server (main thread)`.
impl fmt::Display for RoleTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "threads without a name" } else { &self.name };
        write!(f, "{name}{}", if self.main { " (main thread)" } else { "" })
    }
}

/// What threads did. The sum of all is the time of the windows, once for each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Activities {
    /// On a core, in the program and its libraries, other than spinning.
    #[serde(rename = "user_ns")]
    pub user: Nanoseconds,
    /// On a core, in a loop of the program that does nothing but wait for another thread to write to
    /// memory.
    #[serde(rename = "spinning_ns")]
    pub spinning: Nanoseconds,
    /// On a core, in the kernel.
    #[serde(rename = "kernel_ns")]
    pub kernel: Nanoseconds,
    /// On a core, where no timer sample tells user and kernel apart.
    #[serde(rename = "undivided_ns")]
    pub undivided: Nanoseconds,
    /// Ready to run, and without a core.
    #[serde(rename = "ready_ns")]
    pub ready: Nanoseconds,
    /// Waiting for a lock of the program.
    #[serde(rename = "locks_ns")]
    pub locks: Nanoseconds,
    /// Waiting for work: condition variables, channels, queues, semaphores.
    #[serde(rename = "work_ns")]
    pub work: Nanoseconds,
    /// Parked by a runtime that had nothing to do.
    #[serde(rename = "idle_ns")]
    pub idle: Nanoseconds,
    /// Waiting at a barrier for other threads.
    #[serde(rename = "barriers_ns")]
    pub barriers: Nanoseconds,
    /// Waiting for a thread or a child process to end.
    #[serde(rename = "ends_ns")]
    pub ends: Nanoseconds,
    /// Waiting for a futex word of which nobody knows what it is.
    #[serde(rename = "unclassified_ns")]
    pub unclassified: Nanoseconds,
    /// Asleep for a time that the thread itself chose.
    #[serde(rename = "sleep_ns")]
    pub sleep: Nanoseconds,
    /// Waiting for input or output.
    #[serde(rename = "io_ns")]
    pub io: Nanoseconds,
    /// Waiting for one of the kernel's own locks, asleep or, where that is seen, spinning.
    #[serde(rename = "kernel_locks_ns")]
    pub kernel_locks: Nanoseconds,
    /// Waiting for a page.
    #[serde(rename = "page_faults_ns")]
    pub page_faults: Nanoseconds,
    /// Waiting for something else that is known.
    #[serde(rename = "other_ns")]
    pub other: Nanoseconds,
    /// Time of which no event tells what the thread did.
    #[serde(rename = "unknown_ns")]
    pub unknown: Nanoseconds,
    /// Windows in which nothing at all was seen or said of a thread: it had not begun yet, or had
    /// ended. This is not a part of the thread's time.
    #[serde(rename = "absent_ns")]
    pub absent: Nanoseconds,
}

impl Activities {
    /// Time on a core, whether a thread computes there or spins.
    #[must_use]
    pub fn computing(&self) -> Nanoseconds {
        let Self { user, spinning, kernel, undivided, .. } = *self;
        Nanoseconds::saturating_sum([user, spinning, kernel, undivided])
    }

    /// Time on a core in which a thread does not spin for another one.
    #[must_use]
    pub fn working(&self) -> Nanoseconds {
        self.computing().saturating_sub(self.spinning)
    }

    /// Time asleep in futexes: for locks, work, barriers, the end of threads, and unclassified.
    #[must_use]
    pub fn waiting(&self) -> Nanoseconds {
        let Self { locks, work, idle, barriers, ends, unclassified, .. } = *self;
        Nanoseconds::saturating_sum([locks, work, idle, barriers, ends, unclassified])
    }

    /// The threads' time: all of it but the windows in which they were absent.
    #[must_use]
    pub fn present(&self) -> Nanoseconds {
        let Self { ready, sleep, io, kernel_locks, page_faults, other, unknown, .. } = *self;
        Nanoseconds::saturating_sum([
            self.computing(),
            self.waiting(),
            ready,
            sleep,
            io,
            kernel_locks,
            page_faults,
            other,
            unknown,
        ])
    }

    /// The threads' time in which they have work: all but waiting for work and for other threads, and
    /// sleep of their own choice. Of unknown time, some may be without work.
    #[must_use]
    pub fn with_work(&self) -> Nanoseconds {
        let Self { work, idle, barriers, ends, sleep, .. } = *self;
        let without = Nanoseconds::saturating_sum([work, idle, barriers, ends, sleep]);
        self.present().saturating_sub(without)
    }

    /// Every activity that is a part of the threads' time, with its name for people, in the order in
    /// which tables show them.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Nanoseconds); 17] {
        [
            ("user", self.user),
            ("spinning", self.spinning),
            ("kernel", self.kernel),
            ("computing", self.undivided),
            ("no core", self.ready),
            ("locks", self.locks),
            ("work", self.work),
            ("idle", self.idle),
            ("barriers", self.barriers),
            ("ends", self.ends),
            ("futexes", self.unclassified),
            ("sleep", self.sleep),
            ("I/O", self.io),
            ("kernel locks", self.kernel_locks),
            ("pages", self.page_faults),
            ("other", self.other),
            ("unknown", self.unknown),
        ]
    }
}

impl AddAssign for Activities {
    fn add_assign(&mut self, other: Self) {
        let sum = |a: &mut Nanoseconds, b| *a = a.saturating_add(b);
        sum(&mut self.user, other.user);
        sum(&mut self.spinning, other.spinning);
        sum(&mut self.kernel, other.kernel);
        sum(&mut self.undivided, other.undivided);
        sum(&mut self.ready, other.ready);
        sum(&mut self.locks, other.locks);
        sum(&mut self.work, other.work);
        sum(&mut self.idle, other.idle);
        sum(&mut self.barriers, other.barriers);
        sum(&mut self.ends, other.ends);
        sum(&mut self.unclassified, other.unclassified);
        sum(&mut self.sleep, other.sleep);
        sum(&mut self.io, other.io);
        sum(&mut self.kernel_locks, other.kernel_locks);
        sum(&mut self.page_faults, other.page_faults);
        sum(&mut self.other, other.other);
        sum(&mut self.unknown, other.unknown);
        sum(&mut self.absent, other.absent);
    }
}

impl Sum for Activities {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// The waits of a role for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoleWait {
    /// The word, by its place in [`ThreadTimes::words`].
    pub word: u32,
    /// How long all its threads waited for it.
    #[serde(rename = "ns")]
    pub waited: Nanoseconds,
    /// How many waits. A wait that lasts over several windows counts in each of them.
    pub count: u64,
}

/// What a word is for that threads wait for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum WordKind {
    /// A lock that one thread holds at a time.
    Lock,
    /// A lock that readers share.
    ReadWriteLock,
    /// A condition variable, channel, queue or semaphore: who waits there waits for work.
    Condition,
    /// A barrier: who waits there waits for other threads to arrive.
    Barrier,
    /// Waiting for a thread to end.
    Join,
    /// A runtime's idle parking.
    Idle,
    /// The one lock that an interpreter's threads take in turn.
    GlobalInterpreterLock,
    /// Nothing that was seen tells what the word is for.
    #[default]
    Unknown,
}

impl WordKind {
    /// Whether a thread that waits there waits for a lock.
    #[must_use]
    pub fn is_lock(self) -> bool {
        matches!(self, Self::Lock | Self::ReadWriteLock | Self::GlobalInterpreterLock)
    }
}

/// A word that threads waited for, or several of the same kind with short waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WaitedWord {
    /// Its place in [`ThreadTimes::words`].
    pub id: u32,
    /// The process id. It is 0 if the entry stands for several words.
    pub process: u32,
    /// Its address in the process. It is 0 if the entry stands for several words.
    pub address: u64,
    /// What the word is: a lock, a condition, a barrier or something else.
    pub kind: WordKind,
    /// Its name for people. It may be empty.
    pub name: String,
    /// How long all threads together waited for it.
    #[serde(rename = "ns")]
    pub waited: Nanoseconds,
    /// How many waits. A wait that lasts over several windows counts in each of them.
    pub count: u64,
    /// How many different threads waited for it. If the entry stands for several words, a thread
    /// counts once for each of them.
    pub threads: u64,
    /// How many words the entry stands for.
    pub words: u64,
}

/// The word for people: its name, or else its kind and address.
impl fmt::Display for WaitedWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            WordKind::Lock => "lock",
            WordKind::ReadWriteLock => "read-write lock",
            WordKind::Condition => "condition",
            WordKind::Barrier => "barrier",
            WordKind::Join => "end of a thread",
            WordKind::Idle => "idle parking",
            WordKind::GlobalInterpreterLock => "interpreter lock",
            WordKind::Unknown => "futex",
        };
        match (self.words, self.name.as_str()) {
            (words, _) if words > 1 => write!(f, "{words} others of the kind {kind}"),
            (_, "") => write!(f, "{kind} at {:#x}", self.address),
            (_, name) => f.write_str(name),
        }
    }
}

/// Whom a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitedFor {
    /// A role, by its `id`.
    Role(u32),
    /// A thread that was not watched: one of another program, or the kernel.
    Outside,
    /// Nothing that was seen tells whom.
    Unknown,
}

/// An edge of the graph: a role waits for another, through a word.
///
/// `direct` is how long the role's own threads waited so. `in_all` also counts those that
/// waited at the same time for one of these waiting threads, directly or through others (Zhou, Gan,
/// Ma and Wang, *wPerf*, OSDI 2018).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitEdge {
    /// The role that waits, by its `id`.
    pub from: u32,
    /// Whom it waits for.
    pub to: WaitedFor,
    /// Through which word, by its `id`.
    pub word: u32,
    /// The waits of the role's own threads.
    #[serde(rename = "direct_ns")]
    pub direct: Nanoseconds,
    /// These, and the waits that others had because of them.
    #[serde(rename = "in_all_ns")]
    pub in_all: Nanoseconds,
}

/// A role that others wait for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Bottleneck {
    /// The role, by its `id`.
    pub role: u32,
    /// How long threads waited, directly or through others, while one of the role's threads was the
    /// end of the chain: the one that waited for nobody.
    #[serde(rename = "waited_for_ns")]
    pub waited_for: Nanoseconds,
    /// The share of this in all waits of the graph, from 0 to 1.
    pub score: f64,
    /// The part in which the role's thread was on a core.
    #[serde(rename = "computing_ns")]
    pub computing: Nanoseconds,
    /// The part in which it had no core, and would have run.
    #[serde(rename = "ready_ns")]
    pub ready: Nanoseconds,
    /// The part in which it slept, or waited for input, output or the kernel. For the rest, nobody
    /// knows what it did.
    #[serde(rename = "asleep_ns")]
    pub asleep: Nanoseconds,
}

/// How much is known of where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TimesCoverage {
    /// The share of the threads' time of which nobody knows where it went, from 0 to 1.
    pub unknown_share: f64,
    /// The share of the threads' time in futexes of which nobody knows what they are, from 0 to 1.
    pub unclassified_share: f64,
    /// The share of the time waited in futexes for which nobody knows whom it was waited for, from 0
    /// to 1.
    pub unknown_target_share: f64,
    /// Whether the moments were seen in which threads became ready, for most waits. A wait for which
    /// it was not lasts until the thread has a core again, and who woke it is not known.
    pub wakings_seen: bool,
    /// Whether waits for the kernel's own locks were seen as such. Otherwise they are guessed from the
    /// system call that a thread sleeps in, and spinning for them counts as computing.
    #[serde(default)]
    pub kernel_locks_seen: bool,
    /// Whether timer samples told user and kernel apart.
    pub ticks_seen: bool,
    /// The time of the windows that the graph is made from. It is less than the time observed if
    /// there was too much to keep.
    #[serde(rename = "graph_ns")]
    pub graph_time: Nanoseconds,
}
