//! Measuring a program from outside, without anything in it: one that is started for that, or one
//! that runs already.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::iter;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{FORMAT, FORMAT_VERSION, Profile, Run};
use kilocore_lock_watcher::{
    Options, Pid, ProcessScope, WatchError, check, check_file, possible, watch,
};
use kilocore_process::{Output, Start, Started, allowed_cores, shell_status};

use crate::clock::Mark;
use crate::conduct::{Conduct, Measured, SEED};
use crate::error::MeasureError;
use crate::events::{self, Event, Events};
use crate::host::host;
use crate::interference::{Before, Surroundings};
use crate::limits::Limits;

/// Whether this user may watch programs on this machine.
#[must_use]
pub fn can_watch() -> bool {
    possible().is_ok()
}

/// Runs `command`, watches it from outside, and returns its profile. Of `conduct`, a delay and a
/// duration count, and a `SIGUSR2` to this process ends the watching.
///
/// # Errors
/// If the program cannot be started, or nothing may be watched here. In the latter case, it is not
/// started.
pub fn measure_watching(
    command: &[OsString],
    output_to_stderr: bool,
    conduct: &Conduct<'_>,
) -> Result<Measured, MeasureError> {
    possible()?;
    let program = command.first().ok_or(MeasureError::NoProgram)?;
    if let Ok(path) = kilocore_process::find_program(program) {
        check_file(&path)?;
    }
    let failed = |source: io::Error| MeasureError::Start { program: program.clone(), source };
    let (teller, events) = events::events(conduct.by_signals).map_err(failed)?;
    let (delay, duration) = (conduct.delay, conduct.duration);
    let before_end = conduct.before_end.as_deref();
    let (tell_start, started) = mpsc::channel();
    let on_start = move |pid| drop(tell_start.send(Started::new(pid)));
    let before = Before::look(&allowed_cores());
    let begin = Mark::now();
    let (ended, watched) = thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let Ok(program) = started.recv() else { return Ok(None) };
            let scaling = Cell::new(None);
            let end = || {
                scaling.set(before_end.map(|before_end| before_end(program.pid, None)));
                program.terminate()
            };
            let mut over = EndConditions { events, delay, duration, end: &end, interrupted: None };
            let seen = over.watch(program.pid, ProcessScope::Tree, false);
            seen.map(|seen| Some((seen, scaling.take())))
        });
        let start = Start {
            command,
            output: if output_to_stderr { Output::ToStderr } else { Output::Inherited },
            adopt_orphans: conduct.adopt_orphans,
            ..Start::default()
        };
        let end = kilocore_process::run(Start { on_start: Some(Box::new(on_start)), ..start });
        // What the watcher does now is no part of the run.
        let ended = end.map(|end| (before.since(end.user + end.system), end));
        teller.over();
        match watcher.join() {
            Ok(watched) => (ended, watched),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    let (surroundings, end) = ended.map_err(|reason| failed(reason.into()))?;
    let Surroundings { interference, cores_lost } = surroundings;
    let (seen, scaling) = watched?.ok_or_else(|| failed(io::Error::other("it was not started")))?;
    let used = end.user + end.system;
    let whole = delay.is_none() && !seen.time_was_up && !end.interrupted;
    let run = seen.run.map(|run| Run {
        exit_status: shell_status(end.status),
        cpu_time: whole.then(|| Nanoseconds::from(used).calculated()),
        interference,
        cores_lost,
        ..run
    });
    let words = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let interrupted = end.interrupted;
    let mut measured = measured(words, run, end.status, seen.time_was_up, begin);
    measured.profile.scaling = scaling;
    Ok(Measured { interrupted, ..measured })
}

/// Watches a process that runs already, alone or with those that `scope` names, until the time is up, the process has
/// ended, or `over` says that it is. The process does not notice.
///
/// # Errors
/// If there is no such process, or it may not be watched.
pub fn measure_running(
    pid: u32,
    scope: ProcessScope,
    conduct: &Conduct<'_>,
    over: &dyn Fn() -> bool,
) -> Result<Measured, MeasureError> {
    check(Pid(pid))?;
    possible()?;
    let begin = Mark::now();
    let words = command_of(pid);
    let failed =
        |source: io::Error| MeasureError::Start { program: words[0].clone().into(), source };
    let (teller, events) = events::events(conduct.by_signals).map_err(failed)?;
    let (delay, duration, end) = (conduct.delay, conduct.duration, &|| false);
    let mut over = EndConditions { events, delay, duration, end, interrupted: Some(over) };
    let seen = over.watch(pid, scope, true)?;
    teller.over();
    // That its time was up is no reason to say that it was asked to end.
    Ok(measured(words, seen.run, ExitStatus::from_raw(0), false, begin))
}

fn measured(
    command: Vec<String>,
    run: Option<Run>,
    status: ExitStatus,
    time_was_up: bool,
    begin: Mark,
) -> Measured {
    let profile = Profile {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        command,
        host: host(begin.rate_since()),
        runs: run.iter().cloned().collect(),
        trace: None,
        scaling: None,
    };
    let never_began = run.is_none();
    Measured {
        profile,
        status,
        interrupted: false,
        time_was_up,
        never_began,
        shortages: Vec::new(),
        not_watched: None,
    }
}

/// The command line of a process; its name, if it has cleared that.
fn command_of(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let words: Vec<String> =
        text.split('\0').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if words.is_empty() {
        return vec![kilocore_linux::name(pid, pid).unwrap_or_else(|| pid.to_string())];
    }
    words
}

/// The run of a program that was watched.
struct WatchedRun {
    /// Nothing, if the program ended before anything counted.
    run: Option<Run>,
    time_was_up: bool,
}

/// When it is over.
struct EndConditions<'a> {
    events: Events,
    delay: Option<Duration>,
    duration: Option<Duration>,
    /// Asks the program to end.
    end: &'a dyn Fn() -> bool,
    interrupted: Option<&'a dyn Fn() -> bool>,
}

impl EndConditions<'_> {
    /// Waits until a moment. Returns whether it is over.
    fn wait_until(&mut self, until: Instant) -> bool {
        /// How long a signal may go unnoticed that comes while this does not wait.
        const SLICE: Duration = Duration::from_millis(50);
        loop {
            if self.interrupted.is_some_and(|interrupted| interrupted()) {
                return true;
            }
            let now = Instant::now();
            if now >= until {
                return false;
            }
            match self.events.next(until.min(now + SLICE)) {
                Some(Event::Over | Event::End) => return true,
                Some(Event::Begin) | None => {}
            }
        }
    }

    fn watch(
        &mut self,
        pid: u32,
        scope: ProcessScope,
        attached: bool,
    ) -> Result<WatchedRun, MeasureError> {
        if let Some(delay) = self.delay
            && self.wait_until(Instant::now() + delay)
        {
            return Ok(WatchedRun { run: None, time_was_up: false });
        }
        let end = self.duration.map(|duration| Instant::now() + duration);
        let options = Options { scope, attached, library: None, seed: SEED };
        let mut limits = if attached { Limits::default() } else { Limits::before_start() };
        limits.look(iter::once(pid));
        let mut wait = |time: Duration| {
            limits.look(iter::once(pid));
            let until = Instant::now() + time;
            let until = end.map_or(until, |end| end.min(until));
            self.wait_until(until) || end.is_some_and(|end| Instant::now() >= end)
        };
        let watched = watch(Pid(pid), &options, &mut wait);
        let time_was_up = end.is_some_and(|end| Instant::now() >= end) && (self.end)();
        match watched {
            Ok(run) => {
                let run = Run { limit: limits.limit(), ..run };
                Ok(WatchedRun { run: Some(run), time_was_up })
            }
            // It was so short that it had ended before anybody could look.
            Err(WatchError::NoProcess(_) | WatchError::Ended(_)) if !attached => {
                Ok(WatchedRun { run: None, time_was_up })
            }
            Err(error) => {
                // Nobody waits for a profile any more, but the program may go on.
                Err(error.into())
            }
        }
    }
}
