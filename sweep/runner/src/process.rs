//! The processes that do what is to be done.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use kilocore_points::{ORDERS, Orders, Report};
use kilocore_process::{CpuId, End, Input, Output, Start, run, shell_status};
use kilocore_sweep_plan::PlannedRun;
use tempfile::NamedTempFile;

use crate::RunIndex;
use crate::answer;
use crate::state::{Task, Tried};
use crate::work_list::Bundle;

/// So much of what a command said last is shown if it fails, in bytes.
const MOST_SAID: u64 = 2000;

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
    pub(crate) own: PathBuf,
}

/// A process that has ended.
struct Finished {
    end: End,
    report: Option<Report>,
    /// The last that it wrote to its standard error.
    said: String,
}

/// The folder, in the sweep's own, of files that nobody needs after a sweep's end.
const RUNNING: &str = "running";

impl Processes<'_> {
    /// Removes what a sweep has left that was killed, and makes room for what this one needs.
    pub(crate) fn make_room(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.running()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir(self.running()),
        }
    }

    fn running(&self) -> PathBuf {
        self.own.join(RUNNING)
    }

    /// Does a task on a core. Returns also how much memory the process took at most, in bytes.
    pub(crate) fn run(&self, task: Task, core: CpuId) -> (Ended, u64) {
        match task {
            Task::Try(index) => {
                let run = &self.runs[index.0];
                let tried = self.attempt(index, run, &self.programs[index.0], core);
                match tried {
                    Ok((ended, memory)) => (ended, memory),
                    Err(error) => (Ended::Tried(index, Tried::Failed(error.to_string())), 0),
                }
            }
            Task::Compute(bundle) => {
                let index = bundle.run;
                let keys = bundle.points.iter().map(|point| point.key).collect();
                let computed =
                    self.compute(&self.runs[index.0], &self.programs[index.0], keys, core);
                match computed {
                    Ok(Finished { end, .. }) if end.interrupted => {
                        (Ended::ToldToEnd(end.told_by.unwrap_or(libc::SIGTERM)), end.most_memory)
                    }
                    Ok(Finished { end, report, said }) => {
                        let how = described(&end, &said);
                        (Ended::Computed(bundle, report, how), end.most_memory)
                    }
                    Err(error) => {
                        (Ended::Computed(bundle, None, format!("did not begin: {error}")), 0)
                    }
                }
            }
        }
    }

    /// Runs a command for its answer.
    fn attempt(
        &self,
        index: RunIndex,
        run: &PlannedRun,
        program: &Path,
        core: CpuId,
    ) -> io::Result<(Ended, u64)> {
        answer::make_folders(self.folder, &run.answer)?;
        let printed = NamedTempFile::new_in(self.running())?;
        let words = run.words_with_reports(self.folder);
        let Finished { end, report, said } =
            self.process(program, words, None, printed.as_file(), core)?;
        let memory = end.most_memory;
        if end.interrupted {
            return Ok((Ended::ToldToEnd(end.told_by.unwrap_or(libc::SIGTERM)), memory));
        }
        let missing = report.map(|report| report.missing).unwrap_or_default();
        let tried = if !missing.is_empty() {
            Tried::Misses(missing)
        } else if end.status.success() {
            answer::put_in_place(self.folder, &run.answer, printed)?;
            Tried::Answered
        } else {
            Tried::Failed(described(&end, &said))
        };
        Ok((Ended::Tried(index, tried), memory))
    }

    /// Runs a command for some of its points.
    fn compute(
        &self,
        run: &PlannedRun,
        program: &Path,
        keys: BTreeSet<kilocore_points::Key>,
        core: CpuId,
    ) -> io::Result<Finished> {
        let words = run.words.iter().map(OsString::from).collect();
        let nowhere = File::options().write(true).open("/dev/null")?;
        self.process(program, words, Some(keys), &nowhere, core)
    }

    fn process(
        &self,
        program: &Path,
        mut words: Vec<OsString>,
        share: Option<BTreeSet<kilocore_points::Key>>,
        stdout: &File,
        core: CpuId,
    ) -> io::Result<Finished> {
        words[0] = program.into();
        let [orders, report] = [(); 2].map(|()| NamedTempFile::new_in(self.running()));
        let (orders, report) = (orders?, report?);
        let said = tempfile::tempfile_in(self.running())?;
        let asked = Orders { folder: self.own.clone(), report: report.path().to_owned(), share };
        fs::write(orders.path(), serde_json::to_vec(&asked)?)?;
        let end = run(Start {
            command: &words,
            environment: vec![(ORDERS.into(), orders.path().into())],
            cores: Some(&[core]),
            input: Input::Empty,
            output: Output::To { stdout: stdout.as_fd(), stderr: said.as_fd() },
            beside_others: true,
            ends_for_certain: true,
            ..Start::default()
        })?;
        // A process that takes no points reports nothing, and one that was lost may have.
        let report =
            fs::read(report.path()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Finished { end, report, said: last_of(said)? })
    }
}

/// The last of what was written to a file.
fn last_of(mut file: File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_SAID)))?;
    let mut bytes = Vec::new();
    file.take(MOST_SAID).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// How a process ended, in words that a sentence goes on with.
fn described(end: &End, said: &str) -> String {
    let status = shell_status(end.status);
    match said.is_empty() {
        true => format!("ended with status {status} and said nothing"),
        false => format!("ended with status {status}: {said}"),
    }
}
