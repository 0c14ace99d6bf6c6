//! What can be wrong with a file.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}{position}{what}", file.as_ref().map(|file| format!("{}: ", file.display())).unwrap_or_default())]
pub struct ReadError {
    /// The file, if it is known.
    pub file: Option<PathBuf>,
    /// Where in the file it is wrong.
    pub position: TracePosition,
    /// What is wrong there.
    pub what: Wrong,
}

/// A position in the file of a trace, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracePosition {
    /// The file as a whole.
    Whole,
    /// At this byte of the file.
    Byte(u64),
    /// The event of this number, counted from 1, in the packet that begins at this byte.
    Event {
        /// The number of the event.
        number: u64,
        /// Where its packet begins.
        packet: u64,
    },
    /// In this line of a trace that is text, counted from 1.
    Line(u64),
}

impl fmt::Display for TracePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Byte(offset) => write!(f, "at byte {offset}: "),
            Self::Event { number, packet } => {
                write!(f, "event {number}, in the packet at byte {packet}: ")
            }
            Self::Line(number) => write!(f, "line {number}: "),
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// The system does not let it be read.
    #[error("{0}; give a trace that exists and may be read")]
    Unreadable(io::Error),
    /// It is something else.
    #[error("{0}")]
    NoTrace(&'static str),
    /// It comes from a newer Kilocore.
    #[error(
        "the trace has version {version}, and this Kilocore reads those up to {known}; update \
         Kilocore, or record again"
    )]
    TooNew {
        /// The version that the file names.
        version: u32,
        /// The last version that is read.
        known: u32,
    },
    /// It ends too early.
    #[error("the trace ends here, in the middle; it was cut off, so copy it anew or record again")]
    Truncated,
    /// The content makes no sense, for this reason.
    #[error("{0}; the trace is damaged, so copy it anew or record again")]
    Damaged(String),
}

impl Wrong {
    /// Returns what is damaged, in words.
    #[must_use]
    pub fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// Returns the error of this at a position of a file that is not named yet.
    #[must_use]
    pub fn at(self, position: TracePosition) -> ReadError {
        ReadError { file: None, position, what: self }
    }
}
