//! What has become of tasks.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::array::ArrayFolder;
use super::system::{BatchSystem, BatchSystemError, Stage, TaskId};
use crate::places::OWN;

/// What has become of an array's tasks and points.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ArrayStatus {
    /// Its name in the batch system.
    pub name: String,
    /// Tasks that wait for a node.
    pub waiting: usize,
    /// Tasks that run.
    pub running: usize,
    /// Tasks that have ended.
    pub ended: usize,
    /// Tasks that the batch system does not know any more, and that have not said that they ended.
    pub gone: usize,
    /// Points of all its tasks.
    pub points: usize,
    /// Those that are computed.
    pub computed: usize,
    /// Those that cannot be.
    pub failed: usize,
}

/// The arrays of a sweep with its answers in a folder.
///
/// # Errors
/// If the folder cannot be read, or the batch system does not answer.
pub fn array_statuses(
    folder: &Path,
    system: &dyn BatchSystem,
) -> Result<Vec<ArrayStatus>, BatchSystemError> {
    // Who asks makes none.
    let Ok(own) = folder.join(OWN).canonicalize() else { return Ok(Vec::new()) };
    let arrays = ArrayFolder::all(&own).map_err(named(&own))?;
    if arrays.is_empty() {
        return Ok(Vec::new());
    }
    let under_way = system.under_way()?;
    let status = |array: &ArrayFolder| {
        let mut status = ArrayStatus { name: array.name(), ..ArrayStatus::default() };
        for (index, task) in (0..).zip(array.tasks()) {
            let report = array.report(index);
            let id = TaskId { array: status.name.clone(), index };
            match under_way.get(&id) {
                _ if report.ended => status.ended += 1,
                Some(Stage::Waiting) => status.waiting += 1,
                Some(Stage::Running) => status.running += 1,
                None => status.gone += 1,
            }
            status.points += task.parts.iter().map(|part| part.keys.len()).sum::<usize>();
            for report in report.parts.iter().filter_map(|part| part.report.as_ref()) {
                status.computed += report.kept.len();
                status.failed += report.failed.len();
            }
        }
        status
    };
    Ok(arrays.iter().map(status).collect())
}

fn named(folder: &Path) -> impl Fn(io::Error) -> io::Error {
    let folder = folder.display().to_string();
    move |error| io::Error::new(error.kind(), format!("{folder}: {error}"))
}
