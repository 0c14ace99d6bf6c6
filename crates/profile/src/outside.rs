//! What a program shows to whoever looks at it from outside: in which system calls its threads
//! sleep, and which of its processes left no recording.
//!
//! The recorder sees pthread locks and nothing else. Without this nobody could tell a program that
//! takes no locks from one whose locks the recorder cannot see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was seen of a run from outside, by looking at all its threads at regular times.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outside {
    /// How many times all threads were looked at.
    pub rounds: u64,
    /// The most threads that were seen at a time, over all processes.
    pub threads_peak: u64,
    /// Looks at threads that ran or were ready to.
    pub running: u64,
    /// Looks at threads that slept, by the name of the system call that they slept in; the empty
    /// name where that could not be read.
    pub asleep: BTreeMap<String, u64>,
    /// Switches from a thread to another because the first had to wait for something.
    pub voluntary_switches: u64,
    /// Process images that were seen and left no recording.
    pub unrecorded: Vec<Unrecorded>,
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
    /// It was still running when its first process had ended.
    StillRunning,
    /// Its environment no longer asked for the recorder.
    NotAsked,
    /// Nobody knows.
    Unknown,
}
