//! Confining a program that runs to fewer cores in turn, to see what more of them bring.
//!
//! Steering programs is a subject of its own, and so is timing them. Here the one is told what the other does.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kilocore_command_line::{Failure, say};
use kilocore_lock_profile::{Scaling, WhyNotTimed};
use kilocore_lock_recorder::{Confinable, NotConfined, time_in_windows};
use kilocore_process::CpuId;
use kilocore_sched_daemon::{Confinement, DaemonError, Linux};

use crate::steer::{GUARDIAN, tell_left};

/// A program that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) pid: u32,
    /// Whether its descendants are confined, too.
    pub(crate) with_descendants: bool,
}

impl Target {
    /// Whether it can be confined, and put back whatever happens: found out before anything is measured.
    pub(crate) fn check(self) -> Result<(), Failure> {
        let begun = self.begin().map_err(|error| match error {
            DaemonError::WholeSystem => Failure::new(
                "process 1 has started all others, so that everything on this system, or in this container, would \
                 be confined: leave out --tree to confine that process alone, or name another one",
            ),
            error => error.into(),
        });
        tell_left(&begun?.0.finish());
        Ok(())
    }

    fn begin(self) -> Result<Confined, DaemonError> {
        let mut guardian = Command::new("/proc/self/exe");
        guardian.arg(GUARDIAN);
        let confinement =
            Confinement::begin(self.pid, self.with_descendants, Box::new(Linux), guardian)?;
        Ok(Confined(confinement, self.with_descendants))
    }

    /// Times it in windows, until `over` says that there are to be no more of them, and puts everything back. The
    /// critical sections that are recorded in a folder count if there is one, and what it sends if there is none.
    pub(crate) fn time(
        self,
        budget: Duration,
        recordings: Option<&Path>,
        over: &dyn Fn() -> bool,
    ) -> Scaling {
        let mut confined = match self.begin() {
            Ok(confined) => confined,
            Err(error) => {
                say(&error.to_string());
                let has_ended = kilocore_linux::has_ended(self.pid);
                let why = if has_ended { WhyNotTimed::Ended } else { WhyNotTimed::NotConfined };
                return Scaling::untimed(why);
            }
        };
        if let Some(unfollowed) = confined.0.unfollowed() {
            say(&format!("not seen while it is confined: {unfollowed}"));
        }
        let scaling = time_in_windows(&mut confined, self.pid, recordings, budget, over, &tell);
        tell_left(&confined.0.finish());
        scaling
    }
}

fn tell(windows: u32, whole: Duration) {
    let seconds = whole.as_secs_f64().max(1.0).round();
    say(&format!(
        "confining it to one core and to more in turn, {windows} windows, some {seconds} s; it gets all its \
         cores back"
    ));
}

/// Its threads, and whether those of its descendants are among them.
#[derive(Debug)]
struct Confined(Confinement, bool);

impl Confinable for Confined {
    fn allowed(&self) -> Option<Vec<CpuId>> {
        Some(self.0.allowed()?.iter().collect())
    }

    fn processes(&self) -> Vec<u32> {
        self.0.processes()
    }

    fn has_descendants(&self) -> bool {
        self.1
    }

    fn confine(&mut self, cores: Option<&[CpuId]>) -> Result<(), NotConfined> {
        let cores = cores.map(|cores| cores.iter().copied().collect());
        done(self.0.confine(cores.as_ref()))
    }

    fn renew(&mut self) -> Result<(), NotConfined> {
        done(self.0.renew())
    }
}

fn done(confined: Result<bool, DaemonError>) -> Result<(), NotConfined> {
    match confined {
        Ok(true) => Ok(()),
        Ok(false) => Err(NotConfined),
        Err(error) => {
            say(&error.to_string());
            Err(NotConfined)
        }
    }
}
