//! A process that runs a command, for its answer or for some of its points.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZero;
use std::os::fd::AsFd;
use std::path::Path;

use kilocore_points::{Key, Missing, ORDERS, Orders, Report};
use kilocore_process::{CpuId, End, Input, Output, Start, run, shell_status};
use tempfile::NamedTempFile;

/// So much of what a command said last is shown if it fails, in bytes.
const MOST_SAID: u64 = 2000;

/// Where processes find and leave points, and where they run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The folder of points.
    pub(crate) points: &'a Path,
    /// A folder for files that nobody needs after a process's end.
    pub(crate) scratch: &'a Path,
    /// The core on which a process runs. Without one it has all that this process has, and computes on one at a time.
    pub(crate) core: Option<CpuId>,
    /// Whether hosts other than this one may compute what is missing.
    pub(crate) has_other_hosts: bool,
}

/// A process that has ended.
pub(crate) struct Finished {
    pub(crate) end: End,
    /// What it reported, if it did.
    pub(crate) report: Option<Report>,
    /// The last that it wrote to its standard error.
    said: String,
}

/// What came of a process that was to compute points.
pub(crate) enum Computed {
    /// What it reported, if it did, and how it ended.
    Ended(Option<Report>, String),
    /// It was told to end, by this signal.
    ToldToEnd(i32),
}

impl Place<'_> {
    /// Runs a program with these words to list what it misses: what it prints is its answer if that is nothing.
    pub(crate) fn list(
        &self,
        program: &Path,
        words: &[impl AsRef<OsStr>],
        stdout: &File,
    ) -> io::Result<Finished> {
        self.run(program, words, None, stdout)
    }

    /// Runs a program with these words for some of its points. Returns also how much memory it took at most, in bytes.
    pub(crate) fn compute(
        &self,
        program: &Path,
        words: &[impl AsRef<OsStr>],
        keys: BTreeSet<Key>,
    ) -> (Computed, u64) {
        match nowhere().and_then(|nowhere| self.run(program, words, Some(keys), &nowhere)) {
            Ok(finished) => {
                let computed = match finished.told_by() {
                    Some(signal) => Computed::ToldToEnd(signal),
                    None => {
                        let how = finished.described();
                        Computed::Ended(finished.report, how)
                    }
                };
                (computed, finished.end.most_memory)
            }
            Err(error) => (Computed::Ended(None, format!("did not begin: {error}")), 0),
        }
    }

    fn run(
        &self,
        program: &Path,
        words: &[impl AsRef<OsStr>],
        share: Option<BTreeSet<Key>>,
        stdout: &File,
    ) -> io::Result<Finished> {
        let [orders, report] = [(); 2].map(|()| NamedTempFile::new_in(self.scratch));
        let (orders, report) = (orders?, report?);
        let said = tempfile::tempfile_in(self.scratch)?;
        let asked = Orders {
            folder: self.points.to_owned(),
            report: report.path().to_owned(),
            share,
            threads: self.core.is_none().then_some(NonZero::<usize>::MIN),
            has_other_hosts: self.has_other_hosts,
        };
        fs::write(orders.path(), serde_json::to_vec(&asked)?)?;
        let rest = words.iter().map(|word| word.as_ref().to_owned());
        let command: Vec<OsString> = [program.into()].into_iter().chain(rest).collect();
        let cores = self.core.map(|core| [core]);
        let end = run(Start {
            command: &command,
            environment: vec![(ORDERS.into(), orders.path().into())],
            cores: cores.as_ref().map(<[CpuId; 1]>::as_slice),
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

impl Finished {
    /// The signal that told the process to end, if one did.
    pub(crate) fn told_by(&self) -> Option<i32> {
        told_by(&self.end)
    }

    /// The points that it has reported as missing, if any are.
    pub(crate) fn missing(&self) -> Option<&[Missing]> {
        let missing = &self.report.as_ref()?.missing;
        (!missing.is_empty()).then_some(missing)
    }

    /// What it said last, or how it ended if it said nothing.
    pub(crate) fn said_at_last(self) -> String {
        if self.said.is_empty() { self.described() } else { self.said }
    }

    /// How it ended, in words that a sentence goes on with.
    pub(crate) fn described(&self) -> String {
        let status = shell_status(self.end.status);
        match self.said.is_empty() {
            true => format!("ended with status {status} and said nothing"),
            false => format!("ended with status {status}: {}", self.said),
        }
    }
}

/// The signal that told a process to end, if one did.
pub(crate) fn told_by(end: &End) -> Option<i32> {
    end.interrupted.then(|| end.told_by.unwrap_or(libc::SIGTERM))
}

/// Where what nobody reads is printed.
pub(crate) fn nowhere() -> io::Result<File> {
    File::options().write(true).open("/dev/null")
}

/// The last of what was written to a file.
fn last_of(mut file: File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_SAID)))?;
    let mut bytes = Vec::new();
    file.take(MOST_SAID).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}
