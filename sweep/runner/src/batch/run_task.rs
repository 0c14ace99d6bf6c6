//! What a task does on its node.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use thiserror::Error;

use super::task::{self, EndedPart, SCHEMA, TaskDocument, TaskReport};
use crate::command::{Computed, Place};

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEnd {
    /// By itself: all is computed, or its time is over.
    ByItself,
    /// It was told to end by this signal.
    ToldBy(i32),
}

/// Why a task cannot do what it is given.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TaskError {
    /// Its file cannot be read.
    #[error("{}: cannot read the task: {source}; kilocore sweep writes such files for itself", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system or the parser says.
        source: io::Error,
    },
    /// Its file was written by another version.
    #[error("{}: the task has the format '{schema}', and this program knows '{SCHEMA}'", file.display())]
    Schema {
        /// The file.
        file: PathBuf,
        /// What it says.
        schema: String,
    },
    /// What it reports cannot be written, or a process cannot be started.
    #[error("{}: {source}; free some room, or mend the folder's permissions", file.display())]
    Failed {
        /// The file or folder.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Computes what a task's file says, and reports it beside the file, each part when it has ended. A task that was started
/// before goes on behind what it has reported.
///
/// # Errors
/// If the file is none, or what came of it cannot be reported.
pub fn run_task(file: &Path) -> Result<TaskEnd, TaskError> {
    let unreadable = |source| TaskError::Unreadable { file: file.to_owned(), source };
    let document: TaskDocument = task::read(file).map_err(unreadable)?;
    if document.schema != SCHEMA {
        return Err(TaskError::Schema { file: file.to_owned(), schema: document.schema });
    }
    let report_file = file.with_extension("report");
    let failed = |file: &Path, source| TaskError::Failed { file: file.to_owned(), source };
    let write = |report: &TaskReport| {
        task::write(&report_file, report).map_err(|error| failed(&report_file, error))
    };
    let mut report: TaskReport = task::read(&report_file).unwrap_or_default();
    if report.ended {
        return Ok(TaskEnd::ByItself);
    }
    // On the node's own disk: nobody else needs it.
    let scratch = TempDir::new().map_err(|error| failed(&std::env::temp_dir(), error))?;
    let place = Place {
        points: &document.points,
        scratch: scratch.path(),
        core: None,
        has_other_hosts: true,
    };
    let begun = Instant::now();
    for part in document.parts.iter().skip(report.parts.len()) {
        if begun.elapsed() >= Duration::from_secs(document.seconds) {
            break;
        }
        match place.compute(&part.program, &part.words, part.keys.clone()).0 {
            Computed::ToldToEnd(signal) => return Ok(TaskEnd::ToldBy(signal)),
            Computed::Ended(report_of_part, how) => {
                report.parts.push(EndedPart { report: report_of_part, how });
            }
        }
        write(&report)?;
    }
    report.ended = true;
    write(&report)?;
    Ok(TaskEnd::ByItself)
}
