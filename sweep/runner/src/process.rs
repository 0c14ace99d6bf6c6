//! The processes of this host that do what is to be done.

use std::io;
use std::path::{Path, PathBuf};

use kilocore_points::Report;
use kilocore_process::CpuId;
use kilocore_sweep_plan::PlannedRun;
use tempfile::NamedTempFile;

use crate::RunIndex;
use crate::answer;
use crate::command::{Computed, Place};
use crate::state::{Task, Tried};
use crate::work_list::Bundle;

/// What came of a task.
pub(crate) enum Ended {
    Tried(RunIndex, Tried),
    /// What was reported, if anything was, and how the process ended.
    Computed(Bundle, Option<Report>, String),
    /// The process was told to end, by this signal.
    ToldToEnd(i32),
}

/// Where processes of a sweep find what they need.
pub(crate) struct Processes<'a> {
    pub(crate) runs: &'a [PlannedRun],
    /// The program of each run.
    pub(crate) programs: Vec<PathBuf>,
    /// The folder of the answers.
    pub(crate) folder: &'a Path,
    /// The folder of the sweep's own files.
    pub(crate) own: &'a Path,
    /// A folder on the same disk for files that nobody needs after a process's end.
    pub(crate) scratch: &'a Path,
    /// Whether hosts other than this one compute points.
    pub(crate) has_other_hosts: bool,
}

impl Processes<'_> {
    /// Does a task on a core. Returns also how much memory the process took at most, in bytes.
    pub(crate) fn run(&self, task: Task, core: CpuId) -> (Ended, u64) {
        let place = Place {
            points: self.own,
            scratch: self.scratch,
            core: Some(core),
            has_other_hosts: self.has_other_hosts,
        };
        match task {
            Task::Try(index) => self
                .attempt(index, place)
                .unwrap_or_else(|error| (Ended::Tried(index, Tried::Failed(error.to_string())), 0)),
            Task::Compute(bundle) => {
                let index = bundle.run.0;
                let words = &self.runs[index].words[1..];
                let (computed, memory) = place.compute(&self.programs[index], words, bundle.keys());
                let ended = match computed {
                    Computed::ToldToEnd(signal) => Ended::ToldToEnd(signal),
                    Computed::Ended(report, how) => Ended::Computed(bundle, report, how),
                };
                (ended, memory)
            }
        }
    }

    /// Runs a command for its answer.
    fn attempt(&self, index: RunIndex, place: Place<'_>) -> io::Result<(Ended, u64)> {
        let run = &self.runs[index.0];
        answer::make_folders(self.folder, &run.answer)?;
        let printed = NamedTempFile::new_in(self.scratch)?;
        let words = run.words_with_reports(self.folder);
        let finished = place.list(&self.programs[index.0], &words[1..], printed.as_file())?;
        let memory = finished.end.most_memory;
        if let Some(signal) = finished.told_by() {
            return Ok((Ended::ToldToEnd(signal), memory));
        }
        let tried = match finished.missing() {
            Some(missing) => Tried::Misses(missing.to_owned()),
            None if finished.end.status.success() => {
                answer::put_in_place(self.folder, &run.answer, printed)?;
                Tried::Answered
            }
            None => Tried::Failed(finished.described()),
        };
        Ok((Ended::Tried(index, tried), memory))
    }
}
