//! What can happen to pages.

use serde::{Deserialize, Serialize};

use crate::{Cpu, Nanoseconds, Order, Page, Thread};

/// An event of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Event {
    /// When it happened, from the beginning of the recording.
    pub at: Nanoseconds,
    /// Where.
    pub cpu: Cpu,
    /// Who did it.
    pub thread: Thread,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened to a block of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The program was given a block.
    Allocate {
        /// Its first page.
        page: Page,
        /// Its size.
        order: Order,
        /// Whether it was to be filled with zeroes first.
        zeroed: bool,
        /// Whether the kernel may move it: it is memory of the program, or holds a part of a file.
        /// Other blocks are the kernel's own, such as tables of pages, or buffers of sockets.
        movable: bool,
    },
    /// A block went back, or a part of one.
    Release {
        /// Its first page.
        page: Page,
        /// Its size.
        order: Order,
    },
}

impl EventKind {
    /// The block: its first page and its size.
    #[must_use]
    pub const fn block(self) -> (Page, Order) {
        match self {
            Self::Allocate { page, order, .. } | Self::Release { page, order } => (page, order),
        }
    }
}
