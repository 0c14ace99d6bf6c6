//! What can be wrong with a trace.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::Misuse;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}{what}", file.as_ref().map(|file| format!("{}: ", file.display())).unwrap_or_default())]
pub struct ReadError {
    /// The file, if it is known.
    pub file: Option<PathBuf>,
    /// Where in it.
    pub place: Place,
    /// What is wrong there.
    pub what: What,
}

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nowhere in particular.
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
    /// In this line of the text, counted from 1.
    Line(u64),
}

impl fmt::Display for Place {
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

/// What is wrong with a trace.
#[derive(Debug, thiserror::Error)]
pub enum What {
    /// The system does not let it be read.
    #[error("{0}; give a trace that exists and may be read")]
    Unreadable(io::Error),
    /// It is something else.
    #[error("this is no trace of pages; `kilocore record pages` makes one")]
    NoTrace,
    /// It comes from a newer Kilocore.
    #[error(
        "the trace has version {0}, and this Kilocore reads version {known}; update Kilocore, or \
         record again",
        known = crate::packet::VERSION
    )]
    TooNew(u32),
    /// It ends too early.
    #[error("the trace ends in the middle; it was cut off, so copy it anew or record again")]
    Truncated,
    /// It is damaged.
    #[error("{0}; the trace is damaged, so copy it anew or record again")]
    Damaged(String),
    /// Something happens that cannot.
    #[error("the event {0}; the trace is damaged, so copy it anew or record again")]
    Impossible(#[from] Misuse),
}

impl What {
    /// What is damaged, in words.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// The same, at a place.
    pub(crate) fn at(self, place: Place) -> ReadError {
        ReadError { file: None, place, what: self }
    }
}

/// Why a trace cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refuses.
    #[error("{}: {source}; the trace was not written, choose a place that has room and may be written to", file.display())]
    Output {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An event breaks a promise of traces.
    #[error("event {number} {misuse}, which no trace may have")]
    Impossible {
        /// The number of the event, counted from 1.
        number: u64,
        /// What is wrong with it.
        misuse: Misuse,
    },
    /// An event is older than the one before it.
    #[error("event {number} is older than the one before it, which no trace may have")]
    Backwards {
        /// The number of the event, counted from 1.
        number: u64,
    },
    /// An event names a thread or cpu beyond the last that there can be.
    #[error("event {number} has a thread or cpu beyond the last that there can be")]
    Beyond {
        /// The number of the event, counted from 1.
        number: u64,
    },
    /// What the trace says of itself is too long.
    #[error("the command and the remarks are longer than a trace's header may be")]
    Header,
}
