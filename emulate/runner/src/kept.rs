//! Results of runs that were emulated before, on disk.
//!
//! A run is the same each time if all is the same that it depends on. So its report is kept under a digest of what is
//! known before it begins ([`Question`](crate::question)), with what the plugin has seen it look for. It is used only if
//! all of these files are as they were; else the program is emulated anew. What a run does outside of itself, or learns
//! from there in another way, makes its result one for this time only.
//!
//! Names of functions and variables are not kept: they are looked up in the files each time.
//!
//! Whatever is wrong with a file, or with the disk, costs no more than a run.
//!
//! # In a sweep
//! Runs are kept in the sweep's folder as well, where all its processes find them. There, that a run cannot be used again is
//! remembered, too: under the same question, in a small file of the same kind, whose report says why, and has those files that
//! the run saw and that are as they were, as far as it has told: one that acts outside tells none. So nobody emulates it for
//! others a second time, unless one of these files changes. Once the run is kept after all, that is forgotten.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kilocore_emulation_orders::{Dependence, Report, SeenFile};
use kilocore_kept_files::KeptFiles;
use kilocore_points::{Assignment, OrdersError};

use crate::kept_run::Question;
use crate::names::Symbols;
use crate::{KeptRun, Point};

/// The bytes that the results of runs together may take that are kept.
pub const MOST_KEPT_BYTES: u64 = 128 << 20;

/// Results of runs that are kept, and found again.
#[derive(Debug, Clone)]
pub struct KeptRuns {
    /// All have what is kept; what one of them has is known.
    folders: Arc<[KeptFiles]>,
    /// Whether the first folder is that of a sweep.
    is_shared: bool,
}

/// The program and the subject in whose folder runs are kept.
const PLACE: [&str; 2] = ["kilocore", "emulations"];

impl KeptRuns {
    /// Those in the user's folder for what can be computed anew. `None` if nothing can be kept there.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        Self::files_of_user().map(Self::in_files)
    }

    fn files_of_user() -> Option<KeptFiles> {
        let [program, subject] = PLACE;
        KeptFiles::of_user(program, subject, MOST_KEPT_BYTES).ok()
    }

    /// Those of this user if it `keeps` any, beside those of the sweep that has given this process an assignment. `None` if
    /// nothing can be kept.
    ///
    /// # Errors
    /// If nothing can be kept in the sweep's folder, which has no limit.
    pub fn assigned(assignment: &Assignment, keeps: bool) -> Result<Option<Self>, OrdersError> {
        let of_user = keeps.then(Self::files_of_user).flatten();
        let Some(folder) = assignment.folder() else { return Ok(of_user.map(Self::in_files)) };
        let [program, subject] = PLACE;
        let of_sweep = KeptFiles::below(folder, program, subject, u64::MAX);
        let of_sweep =
            of_sweep.map_err(|source| OrdersError::Folder { folder: folder.to_owned(), source })?;
        Ok(Some(Self { folders: [of_sweep].into_iter().chain(of_user).collect(), is_shared: true }))
    }

    /// Those in another folder.
    #[must_use]
    pub fn in_files(files: KeptFiles) -> Self {
        Self { folders: [files].into(), is_shared: false }
    }

    /// Those in a folder that processes share which divide runs among themselves.
    #[must_use]
    pub fn shared_in(files: KeptFiles) -> Self {
        Self { is_shared: true, ..Self::in_files(files) }
    }

    /// The result of a run, if it is known and all that it depends on is as it was.
    pub(crate) fn answer(&self, question: &Question, symbols: &mut Symbols) -> Option<Point> {
        let is_result =
            |kept: &KeptRun| kept.report.failure.is_none() && kept.report.dependence.also.is_none();
        let kept = self
            .folders
            .iter()
            .find_map(|files| read(files, &name(question), question).filter(is_result))?;
        let KeptRun { ended, took, computed, report, .. } = kept;
        let well = ExitStatus::from_raw(0);
        Some(Point { known_since: Some(ended), ..Point::of(report, well, took, computed, symbols) })
    }

    /// Whether it is remembered that a run cannot be used again.
    pub(crate) fn is_for_once(&self, question: &Question) -> bool {
        let kept = self.shared().and_then(|files| read(files, &once(question), question));
        kept.is_some_and(|kept| kept.report.dependence.also.is_some())
    }

    /// Remembers that a run cannot be used again, and why, for as long as these files are as they are now.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn remember(
        &self,
        question: &Question,
        why: &str,
        files: &[SeenFile],
    ) -> io::Result<()> {
        let Some(shared) = self.shared() else { return Ok(()) };
        // One that changes all the time says nothing by that.
        let files = files.iter().filter(|seen| seen.is_so()).cloned().collect();
        let dependence = Dependence { files, also: Some(why.to_owned()) };
        let kept = KeptRun {
            question: *question,
            ended: now(),
            took: Duration::ZERO,
            computed: Duration::ZERO,
            report: Report { dependence, ..Report::default() },
        };
        shared.write(&once(question), &kept.to_bytes())
    }

    /// The folder of a sweep, if there is one.
    fn shared(&self) -> Option<&KeptFiles> {
        self.folders.first().filter(|_| self.is_shared)
    }

    /// Keeps the result of a run, if it can be used again. Else returns why not.
    pub(crate) fn keep(&self, question: &Question, point: &Point) -> Option<String> {
        let Point { report, took, computed, .. } = point;
        let Dependence { files, also } = &report.dependence;
        if also.is_some() {
            return also.clone();
        }
        if let Some(seen) = files.iter().find(|seen| !seen.is_so()) {
            return Some(format!("{} was changed while it ran", seen.path));
        }
        let kept = KeptRun {
            question: *question,
            ended: now(),
            took: *took,
            computed: *computed,
            report: report.clone(),
        };
        let (name, bytes) = (name(question), kept.to_bytes());
        let written = self.folders.iter().map(|files| files.write(&name, &bytes));
        // Of several, the first one is where others look for it.
        let first = written.reduce(|first, _| first)?;
        // One that stays costs no more than that a command emulates its runs itself.
        let _ = self.shared().map(|files| files.remove(&once(question)));
        first.err().map(|error| format!("its result cannot be written: {error}"))
    }
}

/// What is kept of a run in a folder, if all that it depends on is as it was.
fn read(files: &KeptFiles, name: &str, question: &Question) -> Option<KeptRun> {
    let bytes = files.read_within(name, MOST_KEPT_BYTES).ok().flatten()?;
    let kept = KeptRun::read(&bytes)?;
    let is_same =
        kept.question == *question && kept.report.dependence.files.iter().all(SeenFile::is_so);
    is_same.then_some(kept)
}

/// What is finer than a second is not kept.
fn now() -> SystemTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    UNIX_EPOCH + Duration::from_secs(since)
}

/// The name of the file of a run.
fn name(question: &Question) -> String {
    question.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The name of the file that says that a run cannot be used again.
fn once(question: &Question) -> String {
    name(question) + "-once"
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn runs(folder: &Path) -> KeptRuns {
        let root = folder.canonicalize().expect("its path");
        KeptRuns::shared_in(KeptFiles::below(&root, "kept", "runs", u64::MAX).expect("ours"))
    }

    #[test]
    fn that_a_run_cannot_be_used_again_is_remembered_until_its_files_change() {
        let folder = tempfile::tempdir().expect("there is room");
        let (runs, question) = (runs(folder.path()), [7; 32]);
        let path = folder.path().join("input");
        let path = path.to_str().expect("plain");
        let nothing = SeenFile::at(path, true).expect("there is nothing");
        assert!(!runs.is_for_once(&question));
        runs.remember(&question, "it draws", std::slice::from_ref(&nothing)).expect("room");
        assert!(runs.is_for_once(&question) && !runs.is_for_once(&[8; 32]));
        assert!(runs.answer(&question, &mut Symbols::default()).is_none(), "it is no result");
        fs::write(path, "x").expect("it is ours");
        assert!(!runs.is_for_once(&question));
        // A file that is another one already is none by which anything is known.
        runs.remember(&question, "it draws", &[nothing]).expect("room");
        assert!(runs.is_for_once(&question));
        let well = ExitStatus::from_raw(0);
        let took = Duration::from_secs(1);
        let point = Point::of(Report::default(), well, took, took, &mut Symbols::default());
        assert_eq!(runs.keep(&question, &point), None);
        assert!(!runs.is_for_once(&question), "it was kept after all");
        let known = runs.answer(&question, &mut Symbols::default()).expect("it is kept");
        assert_eq!((known.report, known.took), (point.report, took));
    }

    #[test]
    fn alone_nothing_is_remembered() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut runs = runs(folder.path());
        runs.is_shared = false;
        runs.remember(&[7; 32], "it draws", &[]).expect("room");
        assert!(!runs.is_for_once(&[7; 32]));
        assert_eq!(fs::read_dir(folder.path().join("kept/runs")).expect("there").count(), 0);
    }
}
