//! What a trace says of itself.

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// What comes before the events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Where the trace comes from, and what it does not show: whoever recorded it says this.
    pub about: About,
    /// What the trace holds: whoever writes it counts this.
    pub contents: Contents,
}

/// Where a trace comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct About {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it was recorded, as in `2026-11-25T14:30:00Z`.
    pub recorded_at: String,
    /// The release of the kernel.
    pub kernel: String,
    /// The architecture, as the kernel names it.
    pub architecture: String,
    /// How many hardware threads were on.
    pub cpus: u32,
    /// The size of a page in bytes.
    pub page_bytes: u32,
    /// How it was recorded, in words.
    pub how: String,
    /// How much of the program's beginning was left out.
    pub delay: Nanoseconds,
    /// How long the recording took.
    pub duration: Nanoseconds,
    /// Why the recording ended.
    pub ending: Ending,
    /// How many processes of the program were seen.
    pub processes: u32,
    /// How many threads of it, with the first of each process.
    pub threads: u32,
    /// How many page faults the program had in the same time, counted independently of the trace.
    pub page_faults: Option<PageFaults>,
    /// What happened and is not among the events.
    pub unseen: Unseen,
    /// What else the trace cannot show, in words.
    pub not_covered: Vec<String>,
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The program ended, and with it the recording.
    #[default]
    ProgramEnded,
    /// As many events were recorded as were asked for.
    EnoughEvents,
    /// The time that was asked for was over.
    TimeWasUp,
    /// The program used more memory than a trace has numbers for.
    TooManyPages,
}

/// Page faults of the program, as the kernel counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageFaults {
    /// Those that needed nothing from a disk.
    pub minor: u64,
    /// Those that needed something from a disk.
    pub major: u64,
}

/// What happened and is not among the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unseen {
    /// Records that the kernel did not deliver, though it counted what they were about: because
    /// nobody emptied its buffers in time, or, of a few, for reasons of its own. They may be of other
    /// programs.
    pub lost: u64,
    /// Blocks that the program released and that nobody had seen it allocate: those of before the
    /// recording, those that others allocated, and those whose allocation was lost.
    pub released_unallocated: u64,
    /// Blocks that must have been released, because they were allocated again. The trace has a
    /// release for each, right before that allocation; that is later than it happened.
    pub releases_inferred: u64,
    /// Blocks that were allocated by interrupts while a thread of the program happened to run there.
    /// They are not the program's.
    pub in_interrupts: u64,
}

/// What a trace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Contents {
    /// How many events it has.
    pub events: u64,
    /// How many of them are allocations.
    pub allocations: u64,
    /// Each page has a lower number than this.
    pub pages: u32,
    /// Each cpu has a lower number than this.
    pub cpus: u32,
    /// Each thread has a lower number than this; it counts [`Thread::OUTSIDE`](crate::Thread).
    pub threads: u32,
    /// How many pages were held at the end.
    pub held_at_end: u64,
    /// How many pages were held at most.
    pub held_at_most: u64,
}
