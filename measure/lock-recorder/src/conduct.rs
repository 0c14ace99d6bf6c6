//! How a measurement is conducted: what of the run counts, and who is told what.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use kilocore_lock_profile::Profile;

use crate::Shortage;

/// How to conduct a measurement.
#[derive(Default)]
pub struct Conduct<'a> {
    /// What is recorded begins to count this long after the program's start.
    pub delay: Option<Duration>,
    /// What is recorded counts for this long, from the program's start or the end of the delay;
    /// then the program is asked to end, by `SIGTERM`. How long it takes to obey is its own affair.
    pub duration: Option<Duration>,
    /// Whether `SIGUSR1` to this process lets what is recorded begin to count, or anew, and
    /// `SIGUSR2` lets it end. The program runs on either way, and is not told.
    pub by_signals: bool,
    /// Whether descendants of the program that lose their parents become children of this process,
    /// so that none of them is lost sight of. Every child of this process is waited for meanwhile:
    /// only for processes that have no others.
    pub adopt_orphans: bool,
    /// Called before a second run, if there is to be one.
    pub before_confined_run: Option<Box<dyn FnOnce() + 'a>>,
}

impl fmt::Debug for Conduct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conduct")
            .field("delay", &self.delay)
            .field("duration", &self.duration)
            .field("by_signals", &self.by_signals)
            .field("adopt_orphans", &self.adopt_orphans)
            .finish_non_exhaustive()
    }
}

/// A program that was measured.
#[derive(Debug)]
#[non_exhaustive]
pub struct Measured {
    /// Its profile.
    pub profile: Profile,
    /// How its first run ended.
    pub status: ExitStatus,
    /// Whether it was asked to end because [`Conduct::duration`] was over.
    pub time_was_up: bool,
    /// Whether what counts never began, because the program ended before.
    pub never_began: bool,
    /// Processes of the first run that could not record although the recorder was in them: each
    /// process's id, and what was missing.
    pub shortages: Vec<(u32, Shortage)>,
}
