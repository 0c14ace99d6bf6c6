//! What a stream says of itself: before its events, and behind them.

use serde::{Deserialize, Serialize};

use crate::Instructions;

/// Where a stream comes from. It stands before the events.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct About {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it was recorded, as in `2026-11-25T14:30:00Z`.
    pub recorded_at: String,
    /// The instructions after which a quantum ends, if nothing ends it before.
    pub quantum: u32,
    /// The bytes of the pages that bursts count for.
    pub page_bytes: u32,
    /// The hardware threads that the program could run on.
    pub cpus: u32,
    /// How it was recorded, in words.
    pub how: String,
    /// What the stream cannot show, in words.
    pub not_covered: Vec<String>,
}

/// What a stream amounted to. It stands behind the events, and a file without it was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Contents {
    /// How many events there were.
    pub events: u64,
    /// How many of them were bursts.
    pub bursts: u64,
    /// The loads of all bursts.
    pub reads: u64,
    /// The stores of all bursts.
    pub writes: u64,
    /// The instructions of all threads.
    pub instructions: Instructions,
    /// Each thread has a lower number than this.
    pub threads: u32,
    /// Threads that were not recorded, because too many lived at a time.
    pub threads_unrecorded: u64,
    /// How the program ended.
    pub ending: Ending,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It returned this status. Nothing of its stream is missing.
    Exited(i32),
    /// A signal of this number ended it. Of each thread, what it did since its last quantum is missing.
    Killed(i32),
    /// It was replaced by another program, which is not in the stream.
    Replaced,
    /// Whoever read the stream stopped before the program ended.
    #[default]
    Stopped,
}
