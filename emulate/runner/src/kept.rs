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

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kilocore_emulation_orders::{Dependence, SeenFile};
use kilocore_kept_files::KeptFiles;

use crate::kept_run::Question;
use crate::names::Symbols;
use crate::{KeptRun, Point};

/// The bytes that the results of runs together may take that are kept.
pub const MOST_KEPT_BYTES: u64 = 128 << 20;

/// Results of runs that are kept, and found again.
#[derive(Debug, Clone)]
pub struct KeptRuns {
    files: Arc<KeptFiles>,
}

impl KeptRuns {
    /// Those in the user's folder for what can be computed anew. `None` if nothing can be kept there.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        KeptFiles::of_user("kilocore", "emulations", MOST_KEPT_BYTES).ok().map(Self::in_files)
    }

    /// Those in another folder.
    #[must_use]
    pub fn in_files(files: KeptFiles) -> Self {
        Self { files: Arc::new(files) }
    }

    /// The result of a run, if it is known and all that it depends on is as it was.
    pub(crate) fn answer(&self, question: &Question, symbols: &mut Symbols) -> Option<Point> {
        let bytes = self.files.read(&name(question)).ok().flatten()?;
        let KeptRun { question: kept, ended, took, computed, report } = KeptRun::read(&bytes)?;
        let is_same = kept == *question
            && report.failure.is_none()
            && report.dependence.also.is_none()
            && report.dependence.files.iter().all(SeenFile::is_so);
        let well = ExitStatus::from_raw(0);
        is_same.then(|| Point {
            known_since: Some(ended),
            ..Point::of(report, well, took, computed, symbols)
        })
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
        // What is finer than a second is not kept.
        let ended = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let ended = UNIX_EPOCH + Duration::from_secs(ended);
        let kept = KeptRun {
            question: *question,
            ended,
            took: *took,
            computed: *computed,
            report: report.clone(),
        };
        let written = self.files.write(&name(question), &kept.to_bytes());
        written.err().map(|error| format!("its result cannot be written: {error}"))
    }
}

/// The name of the file of a run.
fn name(question: &Question) -> String {
    question.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
