//! What comes out of a run.

use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use kilocore_emulation_orders::Report;

use crate::names::Symbols;
use crate::{Causes, StackTimes};

/// A run of a program on a simulated machine.
#[derive(Debug, Clone)]
pub struct Point {
    /// What happened.
    pub report: Report,
    /// Where the time went.
    pub causes: Causes,
    /// The same by call stack, if that was asked for.
    pub stacks: StackTimes,
    /// How the program ended.
    pub status: ExitStatus,
    /// Whether somebody asked it to end.
    pub interrupted: bool,
    /// How long that took here, by the clock on the wall.
    pub took: Duration,
    /// Processor time that it took here.
    pub computed: Duration,
    /// When that was, if it was emulated before and not now.
    pub known_since: Option<SystemTime>,
    /// Why it will be emulated anew the next time, if it was to be kept.
    pub for_once: Option<String>,
}

impl Point {
    /// One that has been emulated now and that nobody has interrupted, with the names that its report needs.
    pub(crate) fn of(
        report: Report,
        status: ExitStatus,
        took: Duration,
        computed: Duration,
        symbols: &mut Symbols,
    ) -> Self {
        Self {
            causes: Causes::of(&report, symbols),
            stacks: StackTimes::of(&report, symbols),
            report,
            status,
            interrupted: false,
            took,
            computed,
            known_since: None,
            for_once: None,
        }
    }

    /// Whether the program ended in another way than it should.
    #[must_use]
    pub fn ended_badly(&self) -> bool {
        self.interrupted || !self.status.success()
    }
}
