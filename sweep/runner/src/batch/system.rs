//! What is asked of a batch system.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::path::Path;

use thiserror::Error;

/// A task of an array.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The name of its array.
    pub array: String,
    /// Which task of it, from 0.
    pub index: u32,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It waits for a node, also if it was running before.
    Waiting,
    /// A node has it.
    Running,
}

/// Tasks that are submitted together.
#[derive(Debug, Clone)]
pub struct Array<'a> {
    /// Its name. No other array has it, also in other folders.
    pub name: &'a str,
    /// Its folder, which all nodes see: the file of task 7 is `7.json`, and what it prints goes to `7.log`.
    pub folder: &'a Path,
    /// How many tasks it has: at least one.
    pub tasks: u32,
    /// The words that a task begins with. The last one is the task's file.
    pub words: &'a [OsString],
}

/// A batch system.
pub trait BatchSystem: Sync + Debug {
    /// How many tasks an array may have: at least one.
    ///
    /// # Errors
    /// If the batch system does not answer.
    fn most_tasks_of_an_array(&self) -> Result<u32, BatchSystemError>;

    /// Hands an array over.
    ///
    /// # Errors
    /// If the batch system does not take it, or does not answer. It may have it all the same then.
    fn submit(&self, array: &Array<'_>) -> Result<(), BatchSystemError>;

    /// All tasks of this user's that have not ended.
    ///
    /// # Errors
    /// If the batch system does not answer.
    fn under_way(&self) -> Result<HashMap<TaskId, Stage>, BatchSystemError>;

    /// Takes tasks back that are of no use any more. One that has ended meanwhile is no error.
    ///
    /// # Errors
    /// If the batch system does not answer. It may have some of them still then.
    fn cancel(&self, tasks: &[TaskId]) -> Result<(), BatchSystemError>;
}

/// Why a batch system has not done what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchSystemError {
    /// A program of it cannot be run.
    #[error(
        "cannot run '{program}': {source}; install the batch system's programs, or sweep without it"
    )]
    NoProgram {
        /// Its name.
        program: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A program of it says that it cannot.
    #[error("'{program}' says: {said}")]
    Refused {
        /// Its name.
        program: &'static str,
        /// What it says.
        said: String,
    },
    /// A program of it printed something else than expected.
    #[error("'{program}' printed something that cannot be read: {printed}")]
    Unreadable {
        /// Its name.
        program: &'static str,
        /// The line.
        printed: String,
    },
    /// A file for it could not be written.
    #[error("cannot write what the batch system is given: {0}")]
    Files(#[from] io::Error),
}
