//! Measuring a program.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::slice;

use kilocore_profile::{FORMAT, FORMAT_VERSION, Profile, RecordingError, Run, read_directory};
use kilocore_spawn::{CpuId, Output, Start, allowed_cores, shell_status};

use crate::clock::Mark;
use crate::host::host;
use crate::preload;

/// How to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where `libkilocore_measure.so` is.
    pub library: PathBuf,
    /// Whether to run the program a second time, confined to one core, with empty input and its
    /// output discarded.
    ///
    /// That shows how much longer critical sections last when their data moves between cores,
    /// but repeats whatever else the program does: only for programs that may be run twice. Not
    /// done if only one core is allowed, if the first run ended with a failure or because a signal
    /// asked for it (as a server does, which would wait in vain for its clients the second time),
    /// or if it took no lock. A second run that a signal ends is left out. `doctor` does it unless
    /// told not to, `measure` only if asked.
    pub confined_run: bool,
    /// Whether what the program writes to its standard output goes to standard error instead, for
    /// callers whose own standard output is for something else.
    pub output_to_stderr: bool,
}

/// Why a program could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// No program was named.
    #[error("no program to measure; name one after `--`")]
    NoProgram,
    /// The library is not where it should be.
    #[error("{}: {source}; build the measuring library, or name the one to use", library.display())]
    Library {
        /// Where it should be.
        library: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("{}: {source}; name a program that exists and may be executed", program.to_string_lossy())]
    Start {
        /// The program.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// No room for recordings.
    #[error("{}: {source}; a directory for recordings is needed, TMPDIR can name another", directory.display())]
    Directory {
        /// Where they were to be.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was recorded cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// Runs `command` under the measuring library and gives its profile.
///
/// The program has this process's standard input, output and error; `SIGINT`, `SIGTERM`,
/// `SIGHUP` and `SIGQUIT` sent to this process meanwhile are passed on to it. How it ended is in
/// [`Run::exit_status`], as a shell reports it. A profile without processes means that it took no
/// lock, or that it is linked statically or runs with another user's rights and so cannot be
/// measured.
///
/// # Errors
/// If the program cannot be started, or its recordings cannot be read.
pub fn measure(command: &[OsString], options: &Options) -> Result<Profile, MeasureError> {
    measure_telling(command, options, || {})
}

/// As [`measure`], and calls `before_confined_run` before the second run if there is to be one, so
/// that nobody need wonder why the program runs again.
///
/// # Errors
/// As [`measure`].
pub fn measure_telling(
    command: &[OsString],
    options: &Options,
    before_confined_run: impl FnOnce(),
) -> Result<Profile, MeasureError> {
    let program = command.first().ok_or(MeasureError::NoProgram)?;
    let library = options
        .library
        .canonicalize()
        .map_err(|source| MeasureError::Library { library: options.library.clone(), source })?;
    let cores = allowed_cores();
    let begin = Mark::now();
    let once = |confined_to: Option<&CpuId>| -> Result<(Run, bool), MeasureError> {
        let directory = recordings_directory()?;
        let output = match (confined_to, options.output_to_stderr) {
            (Some(_), _) => Output::Discarded,
            (None, true) => Output::ToStderr,
            (None, false) => Output::Inherited,
        };
        let start = Start {
            command,
            environment: preload::environment(&library, directory.path()),
            cores: confined_to.map(slice::from_ref),
            empty_input: confined_to.is_some(),
            output,
            ..Start::default()
        };
        let began = Mark::now();
        let end = kilocore_spawn::run(start).map_err(|reason| MeasureError::Start {
            program: program.clone(),
            source: reason.into(),
        })?;
        let wall_ns = began.elapsed_ns() as f64;
        let run = Run {
            cores: if confined_to.is_some() { 1 } else { cores.len() as u32 },
            wall_ns,
            exit_status: shell_status(end.status),
            processes: read_directory(directory.path(), Some(begin.rate_since()))?,
            outside: None,
        };
        Ok((run, end.interrupted))
    };
    let (run, interrupted) = once(None)?;
    let again = options.confined_run
        && cores.len() > 1
        && run.exit_status == 0
        && !interrupted
        && !run.processes.is_empty();
    let mut runs = vec![run];
    if again {
        before_confined_run();
        let (confined, interrupted) = once(cores.last())?;
        if !interrupted {
            runs.push(confined);
        }
    }
    Ok(Profile {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        host: host(begin.rate_since()),
        runs,
    })
}

/// A new directory that goes away when dropped: in memory where possible, because a mapped file
/// on a disk is written back again and again while the program runs.
fn recordings_directory() -> Result<tempfile::TempDir, MeasureError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("kilocore-");
    let in_memory = match std::env::var_os("TMPDIR") {
        None => builder.tempdir_in("/dev/shm").ok(),
        Some(_) => None,
    };
    let failed = |source| MeasureError::Directory { directory: std::env::temp_dir(), source };
    let directory = in_memory.map_or_else(|| builder.tempdir(), Ok).map_err(failed)?;
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } == 0 {
        // A service that gives up its rights before its first lock must be able to record, too:
        // others may add files, but neither list nor touch those of others.
        fs::set_permissions(directory.path(), Permissions::from_mode(0o1733)).map_err(failed)?;
    }
    Ok(directory)
}
