//! What is seen of a program from outside: in which system calls its threads sleep, and which of
//! its processes left no recording.
//!
//! The recorder sees only pthread locks. Without this view, a program that takes no locks would
//! look the same as one whose locks the recorder cannot see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was seen of a run from outside, by looking at all its threads at regular times.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outside {
    /// How many times threads were looked at, all that were alive at that time. Of very many only a
    /// part is; each then counts for those that were passed over.
    pub rounds: u64,
    /// The most threads that were seen at a time, over all processes.
    pub threads_peak: u64,
    /// Looks at threads that ran or were ready to.
    pub running: u64,
    /// Of those, looks at threads of processes that left no recording; none in profiles that did
    /// not tell them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_unrecorded: Option<u64>,
    /// How many threads wanted a core at a time.
    #[serde(default)]
    pub awake: Awake,
    /// Looks at threads that slept, by the name of the system call that they slept in; the empty
    /// name where that could not be read, `-` where a thread waited in no call, as for a page.
    pub asleep: BTreeMap<String, u64>,
    /// Looks at threads that slept in a futex, by what the recordings know of its word. Together
    /// they are those of `asleep` under `futex` and its relatives.
    #[serde(default)]
    pub futexes: Futexes,
    /// Switches from a thread to another because the first had to wait for something, over the
    /// whole run: of the program, and of the descendants that had ended.
    pub voluntary_switches: u64,
    /// Process images that were seen and left no recording: one for each executable and reason.
    pub unrecorded: Vec<Unrecorded>,
}

/// Rounds by how many threads ran or were ready to. Only rounds count that looked at all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Awake {
    /// All of them.
    pub rounds: u64,
    /// Those in which it was one thread.
    pub one: u64,
}

/// Looks at threads that slept in a futex.
///
/// The address of the word that a thread sleeps on was compared with those of the locks and
/// conditions that the recorder knew at some time in that process. Words of locks that were gone
/// before anybody asked, or that are recorded as one of many, are [`elsewhere`](Self::elsewhere).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Futexes {
    /// In a recorded mutex or read-write lock.
    pub locks: u64,
    /// In a recorded condition variable.
    pub conditions: u64,
    /// In a recorded barrier.
    #[serde(default)]
    pub barriers: u64,
    /// Waiting for a thread to end, as `pthread_join` does.
    pub joins: u64,
    /// In no recorded object: what no pthread lock explains.
    pub elsewhere: u64,
    /// Where the word could not be read.
    pub unknown: u64,
}

impl Futexes {
    /// All looks.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Self { locks, conditions, barriers, joins, elsewhere, unknown } = *self;
        [conditions, barriers, joins, elsewhere, unknown]
            .into_iter()
            .fold(locks, u64::saturating_add)
    }
}

/// A process image without a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unrecorded {
    /// Process id.
    pub pid: u32,
    /// Path of the executable; empty if it could not be read.
    pub executable: String,
    /// Why it has none.
    pub why: WhyUnrecorded,
}

/// Why a process image has no recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnrecorded {
    /// It is linked statically: nothing can be preloaded.
    Static,
    /// It runs with other rights than its starter's.
    OtherRights,
    /// It is of another architecture than the recorder, such as a 32-bit program.
    OtherArchitecture,
    /// It sees another file system, so that the recorder or its folder is not there.
    OtherRoot,
    /// The recorder was loaded and could not write, for lack of room, memory or permission.
    NoRoom,
    /// It was still running when its first process had ended. What it had recorded until then
    /// counts.
    StillRunning,
    /// Its environment no longer asked for the recorder.
    NotAsked,
    /// Nobody knows.
    Unknown,
}
