//! The kinds of tasks: processes and threads.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The kind of the tasks that run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Each core runs a process. They share only what the kernel keeps for all processes.
    Processes,
    /// Each core runs a thread of one process. They also share an address space and a table of open
    /// files.
    Threads,
}

impl Kind {
    /// Returns the kind as a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Processes => "processes",
            Kind::Threads => "threads",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a word that names no kind of task.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no kind of task; write processes or threads")]
pub struct UnknownKind(String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let of_name = [Kind::Processes, Kind::Threads].into_iter().find(|kind| kind.name() == word);
        of_name.ok_or_else(|| UnknownKind(word.to_owned()))
    }
}
