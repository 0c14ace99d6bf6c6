//! Measuring a program.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::slice;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    FORMAT, FORMAT_VERSION, Process, Profile, Run, Scaling, Snapshot, Unrecorded, WhyUnrecorded,
};
use kilocore_lock_watcher::{WatchError, possible};
use kilocore_process::{
    CpuId, Input, Obstacle, Output, Start, Started, allowed_cores, shell_status,
};

use crate::clock::Mark;
use crate::conduct::{Conduct, Measured};
use crate::error::MeasureError;
use crate::host::host;
use crate::interference::{Before, Surroundings};
use crate::outside::{self, RecorderPaths};
use crate::recordings::Recordings;
use crate::shortage::Shortage;
use crate::watch::{Schedule, Watched, watch};
use crate::{concurrent_watch, events, preload};

/// How a program is recorded.
#[derive(Debug, Clone)]
pub struct Options {
    /// The path of `libkilocore_measure.so`.
    pub library: PathBuf,
    /// Whether to run the program a second time, confined to one core, with empty input and its
    /// output discarded.
    ///
    /// The second run shows how much longer critical sections last when their data moves between
    /// cores. It repeats everything that the program does, so it is only for programs that may run
    /// twice. There is no second run in three cases: if only one core is allowed, if the first run
    /// took no lock, and if it failed or a signal ended it. (A signal ends a server, for example,
    /// which would wait in vain for its clients the second time.) If a signal ends the second run,
    /// that run is left out. `doctor` runs a program twice unless told not to, `record locks` only if
    /// asked.
    pub confined_run: bool,
    /// Whether what the program writes to its standard output goes to standard error instead, for
    /// callers whose own standard output is for something else.
    pub output_to_stderr: bool,
    /// Whether the first run is watched from outside as well, for locks that the library does not
    /// see and for where the threads' time goes.
    pub watch: bool,
}

/// Runs `command` under the measuring library and returns its profile.
///
/// The program has this process's standard input, output and error. If this process gets a
/// `SIGINT`, `SIGTERM`, `SIGHUP` or `SIGQUIT` meanwhile, it passes it on to the program.
/// [`Run::exit_status`] says how the program ended, as a shell reports it. [`Run::outside`] is what
/// was seen of it from outside. If the profile has no processes, that tells whether the program
/// took no lock or could not be recorded.
///
/// # Errors
/// If the program cannot be started, or its recordings cannot be read.
pub fn measure(command: &[OsString], options: &Options) -> Result<Profile, MeasureError> {
    measure_as(command, options, Conduct::default()).map(|measured| measured.profile)
}

/// As [`measure`], but returns more about the run.
///
/// # Errors
/// As [`measure`].
pub fn measure_as(
    command: &[OsString],
    options: &Options,
    mut conduct: Conduct<'_>,
) -> Result<Measured, MeasureError> {
    let library = options
        .library
        .canonicalize()
        .map_err(|source| MeasureError::Library { library: options.library.clone(), source })?;
    if options.watch {
        possible()?;
    }
    let cores = allowed_cores();
    let before_confined_run = conduct.before_confined_run.take();
    let measurement =
        Measurement { command, options, library, cores, begin: Mark::now(), conduct: &conduct };
    let first = measurement.run(None)?;
    let again = options.confined_run
        && measurement.cores.len() > 1
        && first.run.exit_status == 0
        && !first.interrupted
        && !first.run.processes.is_empty();
    let mut runs = vec![first.run];
    if again {
        if let Some(tell) = before_confined_run {
            tell();
        }
        let confined = measurement.run(measurement.cores.last())?;
        if !confined.interrupted && !confined.run.processes.is_empty() {
            runs.push(confined.run);
        }
    }
    let profile = Profile {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        host: host(measurement.begin.rate_since()),
        runs,
        trace: None,
        scaling: first.scaling,
    };
    let Once { status, interrupted, time_was_up, never_began, shortages, not_watched, .. } = first;
    Ok(Measured { profile, status, interrupted, time_was_up, never_began, shortages, not_watched })
}

/// What a thread returned.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(returned) => returned,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// What all runs of a program share.
#[derive(Debug, Clone)]
struct Measurement<'a> {
    command: &'a [OsString],
    options: &'a Options,
    library: PathBuf,
    cores: Vec<CpuId>,
    begin: Mark,
    conduct: &'a Conduct<'a>,
}

/// One run of it.
#[derive(Debug)]
struct Once {
    run: Run,
    status: ExitStatus,
    interrupted: bool,
    time_was_up: bool,
    never_began: bool,
    shortages: Vec<(u32, Shortage)>,
    not_watched: Option<WatchError>,
    scaling: Option<Scaling>,
}

impl Measurement<'_> {
    /// Runs the program, on one core only if one is given.
    fn run(&self, confined_to: Option<&CpuId>) -> Result<Once, MeasureError> {
        let program = self.command.first().ok_or(MeasureError::NoProgram)?;
        let conduct = self.conduct;
        let recordings = Recordings::new()?;
        let failed = |source: io::Error| MeasureError::Start { program: program.clone(), source };
        let (teller, events) =
            events::events(conduct.by_signals && confined_to.is_none()).map_err(failed)?;
        let schedule = Schedule { delay: conduct.delay, duration: conduct.duration };
        let before_end = conduct.before_end.as_deref().filter(|_| confined_to.is_none());
        let places = RecorderPaths { library: &self.library, recordings: recordings.path() };
        let (tell_start, started) = mpsc::channel();
        let on_start = move |pid| drop(tell_start.send(Started::new(pid)));
        let cores = confined_to.map_or(&self.cores[..], slice::from_ref);
        let before = Before::look(cores);
        let began = Mark::now();
        let (ended, watched, beside) = thread::scope(|scope| {
            let adopts = conduct.adopt_orphans;
            let (tell, told) = mpsc::channel();
            let wanted = self.options.watch && confined_to.is_none();
            let library = &self.library;
            let beside =
                wanted.then(move || scope.spawn(move || concurrent_watch::watch(&told, library)));
            let watcher = scope.spawn(move || {
                // The other one has ended if nobody listens.
                let tell = |what| {
                    let _ = tell.send(what);
                };
                watch(&started, events, schedule, places, adopts, &tell, before_end)
            });
            let start = self.start(confined_to, &recordings);
            let end = kilocore_process::run(Start { on_start: Some(Box::new(on_start)), ..start });
            // Whoever watches may look for names for a while yet. That is no part of the run.
            let ended = end.map(|end| (Mark::now(), before.since(end.user + end.system), end));
            teller.over();
            (ended, joined(watcher), beside.map(joined))
        });
        let (over, surroundings, end) = ended.map_err(|reason| failed(reason.into()))?;
        let Surroundings { interference, cores_lost } = surroundings;
        let used = end.user + end.system;
        let watched = watched?.ok_or_else(|| failed(io::Error::other("it was not started")))?;
        let from = watched.begin.as_ref().map_or(began, |moment| moment.mark);
        let to = watched.end.as_ref().map_or(over, |moment| moment.mark);
        let processes = self.processes(&watched, recordings.path())?;
        let scaling = watched.scaling;
        let (time_was_up, never_began, pid) =
            (watched.time_was_up, watched.never_began, watched.pid);
        let mut report = watched.looker.finish(&processes, |pid| recordings.has(pid));
        report.outside.voluntary_switches = end.voluntary_switches;
        let by_its_file = (!report.known).then(|| outside::by_its_file(program, pid)).flatten();
        report.outside.unrecorded.extend(by_its_file);
        outside::by_notes(&mut report, &recordings.executed());
        let shortages = recordings.shortages();
        report.outside.unrecorded.extend(shortages.iter().map(|(pid, _)| Unrecorded {
            pid: *pid,
            executable: report.executables.get(pid).cloned().unwrap_or_default(),
            why: WhyUnrecorded::NoRoom,
        }));
        let whole = watched.begin.is_none() && watched.end.is_none();
        let mut run = Run {
            cores: if confined_to.is_some() { 1 } else { self.cores.len() as u32 },
            wall_time: Nanoseconds::from(from.until(to)).calculated(),
            exit_status: shell_status(end.status),
            cpu_time: whole.then(|| Nanoseconds::from(used).calculated()),
            interference,
            cores_lost,
            processes,
            limit: report.limit,
            outside: Some(report.outside),
            ..Run::default()
        };
        let not_watched = match beside {
            Some(Ok(Some(watched))) => {
                run = concurrent_watch::together(run, watched);
                None
            }
            Some(Err(error)) => Some(error),
            Some(Ok(None)) | None => None,
        };
        let interrupted = end.interrupted || time_was_up;
        let status = end.status;
        Ok(Once {
            run,
            status,
            interrupted,
            time_was_up,
            never_began,
            shortages,
            not_watched,
            scaling,
        })
    }

    /// How the program is started.
    fn start<'s>(&'s self, confined_to: Option<&'s CpuId>, recordings: &Recordings) -> Start<'s> {
        let again = confined_to.is_some();
        let output = match (again, self.options.output_to_stderr) {
            (true, _) => Output::Discarded,
            (false, true) => Output::ToStderr,
            (false, false) => Output::Inherited,
        };
        Start {
            command: self.command,
            environment: self.environment(recordings),
            cores: confined_to.map(slice::from_ref),
            input: if again { Input::Repeated } else { Input::Inherited },
            output,
            adopt_orphans: self.conduct.adopt_orphans,
            ..Start::default()
        }
    }

    /// What puts the recorder under the program. The linker of another architecture would only say that
    /// it cannot load it.
    fn environment(&self, recordings: &Recordings) -> Vec<(OsString, OsString)> {
        match kilocore_process::obstacle_of_command(self.command) {
            Some(Obstacle::OtherArchitecture) => Vec::new(),
            _ => preload::measuring(&self.library, recordings.path()),
        }
    }

    /// Returns what was recorded while it counted.
    fn processes(
        &self,
        watched: &Watched<'_>,
        recordings: &Path,
    ) -> Result<Vec<Process>, MeasureError> {
        if watched.never_began {
            return Ok(Vec::new());
        }
        let clock = Some(self.begin.rate_since());
        let since = watched.begin.as_ref().map(|moment| &moment.snapshot);
        Ok(match &watched.end {
            Some(moment) => moment.snapshot.processes(since, clock),
            None => Snapshot::read(recordings)?.processes(since, clock),
        })
    }
}
