//! What can be seen of a program from outside: in which system calls its threads sleep, and which
//! of its processes left no recording.
//!
//! The recorder sees only pthread locks. Without this view, a program that takes no locks would
//! look the same as one whose locks the recorder cannot see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Fewer rounds of looks from outside than this say nothing.
const FEW_LOOKS: u64 = 20;

/// What was seen of a run from outside. In regular rounds, an observer looks at all its threads.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outside {
    /// The number of rounds. A round looks at all threads that are alive. If there are very many,
    /// it looks at a part of them, and each then counts for those that were passed over.
    pub rounds: u64,
    /// The largest number of threads of all processes together that a round has seen.
    pub threads_peak: u64,
    /// How often a thread was seen that ran or was ready to run.
    pub running: u64,
    /// How many of those belonged to processes that left no recording. It is `None` in old
    /// profiles, which did not tell them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_unrecorded: Option<u64>,
    /// In how many rounds how many threads wanted a core.
    #[serde(default)]
    pub awake: Awake,
    /// How often a thread was seen that slept, by the name of the system call. The name is empty if
    /// it could not be read, and `-` if the thread waited in no system call, for example for a
    /// page.
    pub asleep: BTreeMap<String, u64>,
    /// How often a thread was seen that slept in a futex, by what the recordings know of the
    /// futex's word. Together these are the threads that `asleep` has under `futex` and its
    /// relatives.
    #[serde(default)]
    pub futexes: Futexes,
    /// How often a thread left its core over the whole run because it had to wait. The program and
    /// those of its descendants that had ended are counted.
    pub voluntary_switches: u64,
    /// The process images that were seen and left no recording, one for each executable and reason.
    pub unrecorded: Vec<Unrecorded>,
}

/// How many rounds saw how many threads that ran or were ready to run. Only rounds that looked at
/// all threads count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Awake {
    /// The number of all rounds that count.
    pub rounds: u64,
    /// The rounds in which it was one thread.
    pub one: u64,
}

impl Outside {
    /// Whether there were rounds enough to say anything.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.rounds >= FEW_LOOKS
    }
}

impl Awake {
    /// Whether there were rounds enough to say anything.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.rounds >= FEW_LOOKS
    }
}

/// How often threads were seen that slept in a futex, by the object whose word it was.
///
/// The address of the word was compared with the addresses of the locks and conditions that the
/// recorder knew at some time in that process. The word of a lock that was gone before its address
/// was asked for, or that is recorded together with many others, counts as
/// [`elsewhere`](Self::elsewhere).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Futexes {
    /// In a recorded mutex or read-write lock.
    pub locks: u64,
    /// In a recorded condition variable.
    pub conditions: u64,
    /// In a recorded barrier.
    #[serde(default)]
    pub barriers: u64,
    /// In a thread's identifier: waiting for the thread to end, as `pthread_join` does.
    pub joins: u64,
    /// In no recorded object. No pthread lock explains this sleep.
    pub elsewhere: u64,
    /// In a word whose address could not be read.
    pub unknown: u64,
}

impl Futexes {
    /// Returns the sum of all.
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
    /// The id of the process that executed it.
    pub pid: u32,
    /// The path of the executable. It is empty if it could not be read.
    pub executable: String,
    /// Why the process image has no recording.
    pub why: WhyUnrecorded,
}

/// Why a process image has no recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnrecorded {
    /// It is linked statically, so nothing can be preloaded.
    Static,
    /// It runs with other rights than the program that started it.
    OtherRights,
    /// It is of another architecture than the recorder, such as a 32-bit program.
    OtherArchitecture,
    /// It is linked with another C library than glibc, such as musl.
    OtherLibrary,
    /// It was compiled with ThreadSanitizer, and the recorder leaves it alone.
    ThreadSanitizer,
    /// It sees another file system, in which the recorder or its folder does not exist.
    OtherRoot,
    /// The recorder was loaded and could not write, for lack of room, memory or permission.
    NoRoom,
    /// It was still running when its first process had ended. What it had recorded until then
    /// counts.
    StillRunning,
    /// Its environment no longer asked for the recorder.
    NotAsked,
    /// The reason is not known.
    Unknown,
}
