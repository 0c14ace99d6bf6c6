//! How a measurement is conducted: what of the run counts, and who is told what.

use std::fmt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use kilocore_lock_profile::{Profile, Scaling};

use crate::{Shortage, WatchError};

/// The chance by which a watcher chooses its windows. It need not be the same twice, but may.
pub(crate) const SEED: u64 = 14;

/// Times a program that is still there, by its process id and the folder of its recordings, if it has one.
pub type BeforeEnd<'a> = dyn Fn(u32, Option<&Path>) -> Scaling + Sync + 'a;

/// How to conduct a measurement.
#[derive(Default)]
pub struct Conduct<'a> {
    /// How long after the program's start what is recorded begins to count.
    pub delay: Option<Duration>,
    /// For how long what is recorded counts, from the program's start or from the end of the delay.
    /// After that, `SIGTERM` asks the program to end. It may take as long as it likes to do so.
    pub duration: Option<Duration>,
    /// Whether signals to this process say what counts. From a `SIGUSR1` on, what is recorded
    /// counts, and what was recorded before does not. From a `SIGUSR2` on, it no longer counts. The
    /// program does not get these signals, and runs on.
    pub by_signals: bool,
    /// Whether descendants of the program that lose their parents become children of this process,
    /// so that this process does not lose sight of them. It then waits for every child that it has,
    /// so this is only for processes that have no other children.
    pub adopt_orphans: bool,
    /// Is called when [`Conduct::duration`] is over, before the program is asked to end, with its process id and the
    /// folder in which its processes record their locks, if they do: for what is timed of it while it runs on, which
    /// becomes the profile's [`scaling`](kilocore_lock_profile::Profile::scaling). Not in a second run.
    pub before_end: Option<Box<BeforeEnd<'a>>>,
    /// Is called before a second run, if there is to be one.
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
    /// The profile of the program.
    pub profile: Profile,
    /// How its first run ended.
    pub status: ExitStatus,
    /// Whether a signal that came to this process was passed on to it.
    pub interrupted: bool,
    /// Whether it was asked to end because [`Conduct::duration`] was over.
    pub time_was_up: bool,
    /// Whether the program ended before anything counted.
    pub never_began: bool,
    /// Processes of the first run that could not record although the recorder was loaded: the id of
    /// each, and what was missing.
    pub shortages: Vec<(u32, Shortage)>,
    /// Why it could not be watched from outside as well, if it was to be.
    pub not_watched: Option<WatchError>,
}
