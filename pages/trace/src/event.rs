//! What can happen to pages.

use serde::{Deserialize, Serialize};

use crate::{Cpu, Nanoseconds, Order, Page, Thread};

/// An event of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Event {
    /// When it happened, from the beginning of the recording.
    pub at: Nanoseconds,
    /// The cpu on which it happened.
    pub cpu: Cpu,
    /// The thread of the program that did it, or [`Thread::OUTSIDE`].
    pub thread: Thread,
    /// What happened, with the block that it happened to.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened to a block of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The program was given a block.
    Allocate {
        /// The first page of the block.
        page: Page,
        /// The size of the block: 2 to this power pages.
        order: Order,
        /// Whether it was to be filled with zeroes first.
        zeroed: bool,
        /// Whether the kernel may move it: it is memory of the program, or holds a part of a file.
        /// Other blocks are the kernel's own, such as tables of pages, or buffers of sockets.
        movable: bool,
    },
    /// A block went back, or a part of one.
    Release {
        /// The first page that went back.
        page: Page,
        /// The size of what went back: 2 to this power pages.
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
